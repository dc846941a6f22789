"""The source text for a model's summary: the session, from its events.

Words in full, calls with their changes, results as far as they fit, the work state at the end.
Recent parts have the most detail, since old output is already put into words or outdated.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from enum import Enum

from msgspec import Struct

from reviewer.compression.engine import SegmentAnalysis
from reviewer.compression.state_lines import plan_lines, state_lines
from reviewer.compression.told import hunks, without_cd
from reviewer.compression.turn_events import turn_events
from reviewer.sources.claude_words import command_called, summary_words
from reviewer.sources.events import (
    Act,
    Call,
    Change,
    Compaction,
    Event,
    Message,
    Notice,
    Outcome,
    Plan,
    Result,
    Speaker,
    Thought,
)
from reviewer.text.spans import without_spans

LONGEST_VIEW = 40_000
"""Tokens of a view, even if the model's context has more room: beyond that, only tool output would
grow."""
MAX_CHARS_PER_TOKEN = 8
"""A text with more characters than this per available token is cut before it is counted."""
OLDEST = 0.15
"""Room of a part at the beginning of the range, as a share of that of one at its end."""
MOST, SMALLER, STEPS = 60_000.0, 1.1, 200
"""Characters of a part with weight 1 at the end of the range, at most; and the factor by which they
shrink, in at most so many steps, until all parts fit."""
NAME_CHARS = 80
SHORTEST = 60
"""Characters below which a part of a text is not worth its line."""


class Weight(Enum):
    """The kinds of parts with their relative room."""

    PERSON = 160.0
    WORDS = 80.0
    CALL = 10.0
    THOUGHT = 5.0
    FAILURE = 4.0
    OUTPUT = 2.0
    READ = 1.0


_SAID = frozenset({Weight.PERSON, Weight.WORDS})
_ENDS_COUNT = frozenset({Weight.OUTPUT, Weight.FAILURE})
"""Parts of which mainly the end is kept."""


class ViewPart(Struct, frozen=True):
    """A part of a view. `position`: its place in the range, from 0 to 1."""

    speaker: str
    text: str
    weight: Weight
    position: float

    def limit(self, base: float) -> int:
        """The characters shown of it, if a part with weight 1 at the end has `base`."""
        late = OLDEST + (1 - OLDEST) * self.position**2
        return min(len(self.text), round(base * self.weight.value * late))

    def line(self, base: float) -> str:
        """The part cut to its limit, with a mark for the missing text; empty if too little would be
        left."""
        limit = self.limit(base)
        missing = len(self.text) - limit
        if missing <= (SHORTEST // 2 if limit >= SHORTEST else 0):
            shown = self.text
        elif limit >= SHORTEST:
            head = limit // 3 if self.weight in _ENDS_COUNT else limit * 2 // 3
            first, last = self.text[:head].rstrip(), self.text[head + missing :].lstrip()
            shown = f"{first} [... {missing:,} characters left out ...] {last}"
        elif limit >= SHORTEST // 4 and self.weight in (*_ENDS_COUNT, Weight.READ):
            shown = f"({len(self.text):,} characters)"
        else:
            return ""
        # Continuation lines are indented, so that no text can begin a line as another speaker.
        return f"{self.speaker}: {shown}".replace("\n", "\n  ")


def session_view(
    analysis: SegmentAnalysis, tokens: int, count: Callable[[str], int]
) -> tuple[str, int]:
    """The range in at most `tokens` (by `count`) and at most LONGEST_VIEW, and the characters of
    messages that did not fit. Where room is short, results go first, then calls, then the oldest
    words, the person's last.
    """
    room = min(tokens, LONGEST_VIEW)
    parts = list(_parts(analysis))

    def written(base: float) -> str:
        return "\n".join(filter(None, (part.line(base) for part in parts)))

    def fits(step: int) -> bool:
        text = written(MOST / SMALLER**step)
        return len(text) <= room * MAX_CHARS_PER_TOKEN and count(text) <= room

    base = MOST / SMALLER ** bisect_left(range(STEPS), True, key=fits)
    said = (part for part in parts if part.weight in _SAID)
    return written(base), sum(len(part.text) - part.limit(base) for part in said)


_REMINDER = re.compile("<system-reminder>")
_REMINDED = re.compile("</system-reminder>")
_NUMBERED = re.compile(r"^ +(\d+(?:→|\t))", re.MULTILINE)


def _parts(analysis: SegmentAnalysis) -> Iterator[ViewPart]:
    last = max(len(analysis.segment.turns) - 1, 1)
    calls: dict[str, Call] = {}
    folder = branch = ""
    for event in turn_events(analysis.segment.turns):
        origin = event.origin
        if origin.sidechain:
            continue
        position = origin.line_start / last
        if origin.cwd and origin.cwd != folder:
            folder = origin.cwd
            yield ViewPart("working folder", folder, Weight.WORDS, position)
        if origin.branch and origin.branch != branch:
            branch = origin.branch
            yield ViewPart("branch", branch, Weight.WORDS, position)
        if isinstance(event, Call):
            calls[event.id] = event
            yield from _call_parts(event, position)
        elif isinstance(event, Result):
            yield from _result_parts(calls.get(event.call), event, position)
        else:
            yield from _spoken(event, position)
    session = analysis.session
    lines = [*state_lines(session), *plan_lines(session)]
    if end := "\n".join(lines):
        yield ViewPart("state at the end, computed from the calls", end, Weight.WORDS, 1.0)


def _spoken(event: Event, position: float) -> Iterator[ViewPart]:
    if isinstance(event, Message):
        name = " ".join(event.name.split())[:NAME_CHARS].replace(":", " ")
        speaker = {Speaker.PERSON: "person", Speaker.AGENT: "agent"}.get(event.speaker, "note")
        weight = Weight.PERSON if event.speaker is Speaker.PERSON else Weight.WORDS
        yield ViewPart(name or speaker, event.text.strip(), weight, position)
    elif isinstance(event, Thought):
        yield ViewPart("agent thinks", event.text.strip(), Weight.THOUGHT, position)
    elif isinstance(event, Compaction):
        yield ViewPart("earlier summary", summary_words(event.summary), Weight.WORDS, position)
    elif isinstance(event, Notice) and (typed := command_called(event.text.strip())):
        yield ViewPart("person", typed, Weight.PERSON, position)
    elif isinstance(event, Plan):
        listed = "\n".join(f"- {each.number} {each.status}: {each.text}" for each in event.items)
        yield ViewPart("agent's plan", listed, Weight.CALL, position)


def _call_parts(call: Call, position: float) -> Iterator[ViewPart]:
    """A call with the change that it makes or the command that it runs."""
    name = f"agent calls {' '.join(call.tool.split())[:NAME_CHARS]}" if call.tool else "agent calls"
    folder = call.origin.cwd
    if call.act is Act.PLAN:
        return  # the plan itself follows
    if call.changes:
        for change in call.changes:
            yield ViewPart(name, _without(_changed(change), folder), Weight.CALL, position)
    elif call.command:
        yield ViewPart(name, _without(without_cd(call), folder), Weight.CALL, position)
    else:
        said = "\n".join(filter(None, (call.path, call.query))) or call.text
        yield ViewPart(name, _without(said, folder), Weight.CALL, position)


def _changed(change: Change) -> str:
    """A change of a file: removed and added lines, without unchanged context."""
    verb = "deletes" if change.deleted else "writes" if change.created else "edits"
    lines = [f"{verb} {change.path}"]
    for old, new in change.pairs:
        mark = "" if change.created and not old else "+ "
        for hunk in hunks(old, new):
            lines += [f"- {line}" for line in hunk.gone]
            lines += [f"{mark}{line}" for line in hunk.added]
    return "\n".join(lines)


def _result_parts(call: Call | None, result: Result, position: float) -> Iterator[ViewPart]:
    """The result of a call; nothing for a change that succeeded."""
    if result.outcome is Outcome.REFUSED:
        said = f'The call was refused: "{result.words}"' if result.words else "The call was refused"
        yield ViewPart("person", said, Weight.PERSON, position)
        return
    if result.words:
        yield ViewPart("person, answers", result.words, Weight.PERSON, position)
        return
    text = _NUMBERED.sub(r"\1", without_spans(result.text, _REMINDER, _REMINDED)).strip()
    changes = call is not None and bool(call.changes or call.act is Act.PLAN)
    if not text or (changes and result.outcome is not Outcome.FAILED):
        return
    text = _without(text, result.origin.cwd)
    if result.outcome is Outcome.FAILED:
        code = f"exit code {result.exit_code}\n" if result.exit_code else ""
        yield ViewPart("failed", f"{code}{text}", Weight.FAILURE, position)
    else:
        runs = call is not None and call.act is Act.RUN
        yield ViewPart("result", text, Weight.OUTPUT if runs else Weight.READ, position)


def _without(text: str, folder: str) -> str:
    """A text with paths relative to the working folder."""
    if len(folder) < 2:
        return text
    return text.replace(f"{folder}/", "").replace(f"{folder}\\", "")
