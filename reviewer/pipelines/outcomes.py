"""How a stage ended, read from a model's answer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from reviewer.pipelines.values import Stage, StageOutcome, listed

_ALIASES = {
    "succeeded": "success", "successful": "success", "passed": "success", "ok": "success",
    "failed": "fail", "failure": "fail", "error": "fail",
    "partial": "partial_success", "partial-success": "partial_success",
    "partially_succeeded": "partial_success",
    "skip": "skipped",
}  # fmt: skip
_ACCELERATOR = re.compile(r"^\s*(?:\[\w{1,3}\]\s*|\w\)\s+|\w\s+-\s+)")
_LAST_LINES = 12
"""Lines at the end of an answer that may state an outcome."""
_LONGEST_LINE = 500
_LINE = re.compile(
    r"[\s*_#>`-]*(?P<name>outcome|preferred[ _](?:next[ _])?label|suggested[ _]next(?:[ _]ids?)?"
    r"|context|notes)[\s*_`]*[:=][\s*_`]*(?P<value>.+?)[\s*_`]*",
    re.IGNORECASE,
)
_JSON_START = re.compile(r"\{")
_JSON_TRIES = 40
"""Opening braces that are tried, from the last one backwards."""


class Attempt(Struct, frozen=True):
    """What an attempt of a stage came to: the stage, what the run goes on with, and its texts."""

    stage: Stage
    context_updates: dict[str, Any] = {}
    suggested_next: tuple[str, ...] = ()
    prompt: str = ""
    response: str = ""


def canonical_outcome(word: str) -> str:
    """The canonical spelling of an outcome."""
    lowered = word.strip().lower()
    return _ALIASES.get(lowered, lowered)


def outcome_of(word: str) -> StageOutcome:
    """The outcome that a word means; an unknown word means success."""
    plain = canonical_outcome(word)
    return StageOutcome(plain) if plain in list(StageOutcome) else StageOutcome.SUCCESS


def plain_label(label: str) -> str:
    """A label for comparison: without accelerator (`[Y] Yes`, `Y) Yes`, `&Yes`) and case."""
    without = _ACCELERATOR.sub("", label, count=1) or label
    return " ".join(without.replace("&", "").split()).casefold()


def read_answer(node: str, answer: str) -> Attempt:
    """The outcome that a model's answer states; a success if it states none.

    It can state it in two ways, both at the end of the answer: a JSON object with `outcome` (or
    `status`), `preferred_label`, `suggested_next`, `context_updates` and `notes`; or lines such as
    `Outcome: fail`, `Preferred label: Retry`, `Suggested next: fix, review`, `Context: key=value`.
    Keys that only the run itself sets are not taken from an answer; the remark names them.
    """
    stated = _from_json(answer)
    if stated is None:
        stated = _from_lines(answer)
    word = _text(stated.get("outcome")) or _text(stated.get("status")) or "success"
    given = stated.get("context_updates")
    updates, remark = without_reserved(given if isinstance(given, dict) else {})
    stage = Stage(
        node,
        outcome_of(word),
        _text(stated.get("notes")) or answer.strip(),
        word=canonical_outcome(word),
        preferred_label=_text(stated.get("preferred_label") or stated.get("preferred_next_label")),
        remark=remark,
    )
    suggested = stated.get("suggested_next") or stated.get("suggested_next_ids")
    return Attempt(stage, updates, _names(suggested))


def _from_json(answer: str) -> dict[str, Any] | None:
    """The JSON object at the end of the answer, if it has an outcome."""
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
    stated: dict[str, Any] = {}
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
            stated[name.removesuffix("_ids").removesuffix("_id")] = found["value"].strip(" .\"'")
    return {**stated, "context_updates": updates}


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


def _names(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, list):
        return ()
    return tuple(name.strip() for name in value if isinstance(name, str) and name.strip())


# Keys that only the run itself sets: what a person answered, what a command printed, how a stage
# ended. A model that could set them could overrule the person.
_RESERVED = ("tool_stdout", "outcome", "goal", "last_stage", "preferred_label")
_RESERVED_BEGINNINGS = ("human", "tool", "context")
_OF_CONTEXT = re.compile(r"^(?:context\.+)+")
_PLAIN_KEY = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)
_LONGEST = 60


def without_reserved(updates: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """The updates that a model may make, and a sentence about those that it may not (or "")."""
    taken = {key: value for key, value in updates.items() if not _is_reserved(key)}
    dropped = [" ".join(key.split())[:_LONGEST] for key in updates if key not in taken]
    if not dropped:
        return taken, ""
    return taken, (
        f"The answer may not set {listed(dropped)} in the context: only the run itself does."
    )


def _is_reserved(key: str) -> bool:
    """Whether a key is that of the run itself, or no plain name and so perhaps made to look it."""
    bare = _OF_CONTEXT.sub("", key.lower())
    return (
        _PLAIN_KEY.fullmatch(key) is None
        or bare in _RESERVED
        or bare.partition(".")[0] in _RESERVED_BEGINNINGS
    )
