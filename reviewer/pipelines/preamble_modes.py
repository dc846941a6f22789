"""The texts of the modes, as the document lays them out (context-fidelity.md, "Mode Details")."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from reviewer.pipelines.preamble_budget import Count, Entry, Fitted, fit, needed, shorten
from reviewer.pipelines.preamble_facts import (
    MOST,
    Facts,
    named_stages,
    outcomes,
    told_stages,
    told_values,
)
from reviewer.pipelines.values import CEILINGS


class Draft(Struct, frozen=True):
    """A text that ought to fit; its tokens as a whole are counted by the caller."""

    text: str
    left_out: int = 0
    shortened: int = 0
    values_left_out: int = 0


_HISTORY = 0.6
"""Share of stages where stages and values cannot both be told whole."""
_LONG_NAME = 24
GOAL_OF_ROOM = 5
"""Where not all can be told, the goal has a fifth of the room."""
_NOTE_OF_REST = 24
"""Tokens of the lines that say what is missing."""


def truncate(facts: Facts, room: int, count: Count, most: int) -> Draft:
    """Pipeline, goal, run and stage, and nothing else. The goal has what the names leave."""
    head, shortened = _header(facts, room // 5, count)
    frame = f"Pipeline: {head.name}\nGoal: \nRun ID: {head.run_id}\nCurrent stage: {head.stage}"
    goal = shorten(facts.goal, max(room - count(frame) - 1, 0), count)
    text = frame.replace("\nGoal: \n", f"\nGoal: {goal}\n", 1)
    return Draft(text, left_out=len(facts.stages), shortened=shortened + (goal != facts.goal),
                 values_left_out=len(facts.values))  # fmt: skip


def compact(facts: Facts, room: int, count: Count, most: int) -> Draft:
    """Bullet points: which stages ran with which outcome, and values of the context."""
    head, shortened = _header(facts, room // 6, count)
    goal = shorten(facts.goal, most, count)
    latest = facts.stages[0] if facts.stages else None
    before = f"## Pipeline State\n\n- Pipeline: {head.name}\n- Goal: {goal}\n- Completed stages: "
    after = f"\n- Current stage: {head.stage}"
    left = room - count(before + after) - 1
    stages = _fit_names(facts, left // 2, count, with_outcome=True)
    left -= count(_names(stages))
    note = Fitted()
    if latest is not None and latest.notes:
        entry = told_stages(facts, whole=False)[0]
        bare = Entry("\n- Latest notes: ", entry.body, length=entry.length)
        note = fit([bare], left // 4, left // 4, count)
    left -= sum(count(text) for text in note.texts) + _NOTE_OF_REST
    values = fit(
        told_values(facts, head="  - {}: ", quoted=True), left, left // 8, count,
        beyond=_beyond_values(facts),
    )  # fmt: skip
    text = before + _names(stages) + after + "".join(note.texts)
    text += _block("\n- Key context values:", values, "  - … {} older values left out")
    return Draft(text, stages.left_out,
                 shortened + (goal != facts.goal) + note.shortened + values.shortened,
                 values.left_out)  # fmt: skip


def low(facts: Facts, room: int, count: Count, most: int) -> Draft:
    """Names of stages, counts, the last outcome."""
    head, shortened = _header(facts, room // 6, count)
    goal = shorten(facts.goal, most, count)
    before = (
        f'Pipeline "{head.name}" stage {facts.number} of {facts.total}. '
        f"Goal: {goal.rstrip('.')}.\nCompleted: "
    )
    last = facts.stages[0].outcome if facts.stages else "none"
    after = f". Last outcome: {last}."
    if facts.stages:
        after += f"\nEvents: {_amount(len(facts.stages), 'stage')} run, {outcomes(facts.stages)}"
        after += f"; {_amount(len(facts.retries), 'node')} retried." if facts.retries else "."
    left = room - count(before + after)
    names = _fit_names(facts, left, count, with_outcome=False)
    return Draft(before + _names(names) + after, names.left_out,
                 shortened + (goal != facts.goal), len(facts.values))  # fmt: skip


def medium(facts: Facts, room: int, count: Count, most: int) -> Draft:
    """Recent outcomes with what was noted, and the active context."""
    parts = _Parts(facts, room, count, most, "## Pipeline Progress")
    stages = told_stages(facts, whole=False)
    values = told_values(facts, head="- {}: ", quoted=False)
    told, kept = parts.share(stages, values, least_stage=8, least_value=10)
    parts.add(_block("\n\n### Recent Activity", told, _missing(facts, told), first=True))
    parts.add(_block("\n\n### Active Context", kept, "- … {} older values left out"))
    return parts.draft(told, kept)


def high(facts: Facts, room: int, count: Count, most: int) -> Draft:
    """Every stage with its notes, tools and duration, the context as JSON, the retries."""
    parts = _Parts(facts, room, count, most, "## Pipeline State (Comprehensive)")
    retried = [Entry(f"- {name}: {done}/{most}") for name, done, most in facts.retries]
    retries = fit(retried, room // 10, 1, count)
    tail = _block("\n\n### Retry Information", retries, "- … {} more")
    parts.spend(count(tail) + 8)
    stages = told_stages(facts, whole=True)
    values = told_values(facts, head="  {}: ", tail=",", quoted=True)
    told, kept = parts.share(stages, values, least_stage=4, least_value=10)
    parts.add(_block("\n\n### Execution History", told, _missing(facts, told), first=True))
    if kept.texts:
        lines = "\n".join(kept.texts[::-1]).removesuffix(",")
        rest = f"\n({kept.left_out:,} older values left out)" if kept.left_out else ""
        parts.add(f"\n\n### Full Context\n{{\n{lines}\n}}{rest}")
    parts.add(tail)
    return parts.draft(told, kept)


BUILDERS: dict[str, Callable[[Facts, int, Count, int], Draft]] = {
    "truncate": truncate,
    "compact": compact,
    "summary:low": low,
    "summary:medium": medium,
    "summary:high": high,
}
assert BUILDERS.keys() == CEILINGS.keys()

TELL_VALUES = ("compact", "summary:medium", "summary:high")
"""Modes that tell values of the context."""


class _Parts:
    """The two larger modes: a header, stages and values that share what is left."""

    def __init__(self, facts: Facts, room: int, count: Count, most: int, title: str) -> None:
        head, self._shortened = _header(facts, room // 10, count)
        goal = shorten(facts.goal, most, count)
        self._shortened += goal != facts.goal
        self._text = (
            f"{title}\n\nPipeline: {head.name}\nGoal: {goal}\n"
            f"Stage: {head.stage} ({facts.number}/{facts.total})"
        )
        self._beyond_stages = max(len(facts.stages) - MOST, 0)
        self._beyond_values = _beyond_values(facts)
        self._count = count
        self._left = room - count(self._text) - 2 * _NOTE_OF_REST

    def spend(self, tokens: int) -> None:
        """Take tokens away from what stages and values share."""
        self._left -= tokens

    def share(
        self, stages: list[Entry], values: list[Entry], *, least_stage: int, least_value: int
    ) -> tuple[Fitted, Fitted]:
        """Stages and values in the room that is left; each may use what the other leaves."""
        left, count = max(self._left, 0), self._count
        for_stages = needed(stages, left, count)
        for_values = needed(values, left, count)
        if for_stages + for_values > left:
            for_stages = min(for_stages, max(int(left * _HISTORY), left - for_values))
        told = fit(stages, for_stages, for_stages // least_stage, count, beyond=self._beyond_stages)
        room = left - told.tokens
        return told, fit(values, room, room // least_value, count, beyond=self._beyond_values)

    def add(self, text: str) -> None:
        """Put a section behind what is there."""
        self._text += text

    def draft(self, told: Fitted, kept: Fitted) -> Draft:
        """The whole text."""
        shortened = self._shortened + told.shortened + kept.shortened
        return Draft(self._text, told.left_out, shortened, kept.left_out)


class _Header(Struct, frozen=True):
    name: str
    stage: str
    run_id: str


def _header(facts: Facts, most: int, count: Count) -> tuple[_Header, int]:
    """Names that are as short as they have to be, and how many were shortened."""
    whole = (facts.name, facts.stage, facts.run_id)
    cut = [shorten(text, max(most, _LONG_NAME), count) for text in whole]
    return _Header(*cut), sum(a != b for a, b in zip(whole, cut, strict=True))


def _beyond_values(facts: Facts) -> int:
    return max(len(facts.values) - MOST, 0)


def _fit_names(facts: Facts, room: int, count: Count, *, with_outcome: bool) -> Fitted:
    """Names of stages in a list, the newest that fit."""
    entries = named_stages(facts, with_outcome=with_outcome)
    beyond = len(facts.stages) - sum(entry.stands_for for entry in entries)
    return fit(entries, room, 1, _listed(count), beyond=beyond)


def _listed(count: Count) -> Count:
    """Counts an entry of a list together with the comma before it."""
    return lambda text: count(", " + text)


def _names(fitted: Fitted) -> str:
    names = list(fitted.texts[::-1]) or ["none"]
    if fitted.left_out:
        names.insert(0, f"… {fitted.left_out:,} earlier")
    return ", ".join(names)


def _block(title: str, fitted: Fitted, missing: str, *, first: bool = False) -> str:
    """A titled list, oldest entry first. `missing` says what was left out, above or below it."""
    if not fitted.texts:
        return ""
    lines = list(fitted.texts[::-1])
    if fitted.left_out:
        lines.insert(0 if first else len(lines), missing.format(f"{fitted.left_out:,}"))
    return "\n".join([title, *lines])


def _missing(facts: Facts, told: Fitted) -> str:
    earlier = facts.stages[len(facts.stages) - told.left_out :] if told.left_out else ()
    return f"- … {{}} earlier stages left out: {outcomes(earlier)}"


def _amount(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


__all__ = ["BUILDERS", "Draft"]
