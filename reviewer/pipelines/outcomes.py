"""The outcome of a stage, read from a model's answer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from reviewer.pipelines.values import Stage, StageOutcome
from reviewer.text.numerals import some_of

_ALIASES = {
    "succeeded": "success", "successful": "success", "passed": "success", "ok": "success",
    "failed": "fail", "failure": "fail", "error": "fail",
    "partial": "partial_success", "partial-success": "partial_success",
    "partially_succeeded": "partial_success",
    "skip": "skipped",
}  # fmt: skip
_ACCELERATOR = re.compile(r"^\s*(?:\[\w{1,3}\]\s*|\w\)\s+|\w\s+-\s+)")
_LAST_LINES = 12
"""Number of lines at the end of an answer searched for an outcome."""
_LONGEST_LINE = 500
_LINE = re.compile(
    r"[\s*_#>`-]*(?P<name>outcome|preferred[ _](?:next[ _])?label|suggested[ _]next(?:[ _]ids?)?"
    r"|context|notes)[\s*_`]*[:=][\s*_`]*(?P<value>.+?)[\s*_`]*",
    re.IGNORECASE,
)


class Attempt(Struct, frozen=True):
    """The result of an attempt of a stage: the stage, its updates for the run, and its texts."""

    stage: Stage
    context_updates: dict[str, Any] = {}
    suggested_next: tuple[str, ...] = ()
    prompt: str = ""
    response: str = ""


def canonical_outcome(word: str) -> str:
    lowered = word.strip().lower()
    return _ALIASES.get(lowered, lowered)


def outcome_of(word: str) -> StageOutcome:
    """The outcome for a word; success for an unknown one."""
    plain = canonical_outcome(word)
    return StageOutcome(plain) if plain in list(StageOutcome) else StageOutcome.SUCCESS


def plain_label(label: str) -> str:
    """A label for comparison: without accelerator (`[Y] Yes`, `Y) Yes`, `&Yes`) and case."""
    without = _ACCELERATOR.sub("", label, count=1) or label
    return " ".join(without.replace("&", "").split()).casefold()


def read_answer(node: str, answer: str) -> Attempt:
    """The outcome stated in a model's answer; success if there is none.

    It is stated in the last lines; the last one of each kind counts: `Outcome: fail`, `Preferred
    label: Retry`, `Suggested next: fix, review`, `Notes: ...`, `Context: key=value`. Reserved keys
    are ignored and named in the remark.
    """
    stated: dict[str, str] = {}
    updates: dict[str, str] = {}
    lines = [line for line in answer.splitlines() if line.strip()]
    for line in lines[-_LAST_LINES:]:
        found = _LINE.fullmatch(line) if len(line) <= _LONGEST_LINE else None
        if found is None:
            continue
        kind = found["name"].lower().split("_")[0].split()[0]
        key, sign, value = found["value"].partition("=")
        if kind != "context":
            stated[kind] = found["value"].strip(" .\"'")
        elif sign:
            updates[key.strip()] = value.strip()
    taken, remark = without_reserved(updates)
    word = stated.get("outcome") or "success"
    stage = Stage(
        node,
        outcome_of(word),
        stated.get("notes") or answer.strip(),
        word=canonical_outcome(word),
        preferred_label=stated.get("preferred", ""),
        remark=remark,
    )
    suggested = (name.strip() for name in stated.get("suggested", "").split(","))
    return Attempt(stage, taken, tuple(filter(None, suggested)))


# Reserved for the run: answers of a person, output of commands, outcomes of stages. A model that
# could set them could overrule the person.
_RESERVED = ("tool_stdout", "outcome", "goal", "last_stage", "preferred_label")
_RESERVED_BEGINNINGS = ("human", "tool", "context")
_OF_CONTEXT = re.compile(r"^(?:context\.+)+")
_PLAIN_KEY = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)
_LONGEST = 60


def without_reserved(updates: Mapping[str, str]) -> tuple[dict[str, str], str]:
    """The updates a model may make, and a sentence about the rejected ones (or "")."""
    taken = {key: value for key, value in updates.items() if not _is_reserved(key)}
    dropped = [" ".join(key.split())[:_LONGEST] for key in updates if key not in taken]
    if not dropped:
        return taken, ""
    return taken, (
        f"The answer may not set {some_of(dropped)} in the context: reserved for the run."
    )


def _is_reserved(key: str) -> bool:
    """Whether a key is reserved, or not a plain name, which could be made to look like one."""
    bare = _OF_CONTEXT.sub("", key.lower())
    return (
        _PLAIN_KEY.fullmatch(key) is None
        or bare in _RESERVED
        or bare.partition(".")[0] in _RESERVED_BEGINNINGS
    )
