"""How a stage says how it ended, and the words that mean the same."""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec import Struct

from reviewer.pipelines.reserved_keys import without_reserved
from reviewer.pipelines.values import Outcome

_ALIASES = {
    "succeeded": "success", "successful": "success", "passed": "success", "ok": "success",
    "failed": "fail", "failure": "fail", "error": "fail",
    "partial": "partial_success", "partial-success": "partial_success",
    "partially_succeeded": "partial_success",
    "skip": "skipped",
}  # fmt: skip
_ACCELERATOR = re.compile(r"^\s*(?:\[\w{1,3}\]\s*|\w\)\s+|\w\s+-\s+)")
_LAST_LINES = 12
"""Lines at the end of an answer in which a line such as `Outcome: fail` counts."""
_LONGEST_LINE = 500
_LINE = re.compile(
    r"[\s*_#>`-]*(?P<name>outcome|preferred[ _](?:next[ _])?label|suggested[ _]next(?:[ _]ids?)?"
    r"|context|notes)[\s*_`]*[:=][\s*_`]*(?P<value>.+?)[\s*_`]*",
    re.IGNORECASE,
)
_JSON_START = re.compile(r"\{")
_JSON_TRIES = 40
"""Opening braces that are tried, from the last one backwards."""


class StageResult(Struct, frozen=True):
    """How a stage ended. `word` is the outcome as the stage called it (`needs_review`), which
    conditions compare; every word of its own counts as a success. `remark` is what a person should
    know about the answer.
    """

    outcome: Outcome = Outcome.SUCCESS
    word: str = "success"
    preferred_label: str = ""
    suggested_next: tuple[str, ...] = ()
    context_updates: dict[str, Any] = {}
    notes: str = ""
    remark: str = ""


def canonical_outcome(word: str) -> str:
    """An outcome's word in the spelling that all compare by."""
    lowered = word.strip().lower()
    return _ALIASES.get(lowered, lowered)


def outcome_of(word: str) -> Outcome:
    """The outcome that a word stands for; a word of its own is a success."""
    plain = canonical_outcome(word)
    return Outcome(plain) if plain in list(Outcome) else Outcome.SUCCESS


def plain_label(label: str) -> str:
    """A label as it compares: without its accelerator (`[Y] Yes`, `Y) Yes`, `&Yes`) and case."""
    without = _ACCELERATOR.sub("", label, count=1) or label
    return " ".join(without.replace("&", "").split()).casefold()


def read_answer(answer: str) -> StageResult:
    """What a model's answer says of the outcome; a plain answer is a success.

    Two ways to say more, both at the end of the answer: a JSON object with `outcome` (or
    `status`), `preferred_label`, `suggested_next`, `context_updates` and `notes`; or lines such as
    `Outcome: fail`, `Preferred label: Retry`, `Suggested next: fix, review`, `Context: key=value`.
    Keys that only the run itself sets are not taken from an answer; the remark names them.
    """
    said = _from_json(answer)
    if said is None:
        said = _from_lines(answer)
    word = _text(said.get("outcome")) or _text(said.get("status")) or "success"
    label = said.get("preferred_label") or said.get("preferred_next_label")
    given = said.get("context_updates")
    updates, remark = without_reserved(
        {str(key): value for key, value in given.items()} if isinstance(given, dict) else {}
    )
    return StageResult(
        outcome=outcome_of(word),
        word=canonical_outcome(word),
        preferred_label=_text(label),
        suggested_next=_names(said.get("suggested_next") or said.get("suggested_next_ids")),
        context_updates=updates,
        notes=_text(said.get("notes")) or answer.strip(),
        remark=remark,
    )


def _from_json(answer: str) -> dict[str, Any] | None:
    """The JSON object that the answer ends with, if it speaks of an outcome."""
    end = answer.rfind("}") + 1
    if answer[end:].strip(" `\n\r\t"):
        return None
    starts = [found.start() for found in _JSON_START.finditer(answer, 0, end)]
    for start in reversed(starts[-_JSON_TRIES:]):
        try:
            value = msgspec.json.decode(answer[start:end])
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            continue
        if isinstance(value, dict) and ("outcome" in value or "status" in value):
            return value
    return None


def _from_lines(answer: str) -> dict[str, Any]:
    said: dict[str, Any] = {}
    updates: dict[str, str] = {}
    lines = [line for line in answer.splitlines() if line.strip()]
    for line in lines[-_LAST_LINES:]:
        found = _LINE.fullmatch(line) if len(line) <= _LONGEST_LINE else None
        if found is None:
            continue
        name = found["name"].lower().replace(" ", "_")
        if name == "context":
            key, sign, value = found["value"].partition("=")
            if sign:
                updates[key.strip()] = value.strip()
        else:
            said[name.removesuffix("_ids").removesuffix("_id")] = found["value"].strip(" .\"'")
    return {**said, "context_updates": updates}


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


def _names(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, list):
        return ()
    return tuple(name.strip() for name in value if isinstance(name, str) and name.strip())
