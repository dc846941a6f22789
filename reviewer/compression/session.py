"""A session as hand-overs and levels need it: who said what, what was done between, and the state.

Made of events in one pass; of calls and results only what is told about them is kept.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from enum import Enum

from msgspec import Struct

from reviewer.compression.told import Step, check_ends, told
from reviewer.compression.words import terms
from reviewer.sessions.work_state import WorkState, WorkTracker
from reviewer.sources.claude_words import command_called
from reviewer.sources.events import (
    Act,
    Call,
    Compaction,
    Event,
    Message,
    Notice,
    Outcome,
    Result,
    Speaker,
)

LAST_CHANGES = 6
"""Calls that changed files whose code is kept, the latest."""
READ_OF_CALL = 1_500
"""Characters of a call in which words are counted."""


class Voice(Enum):
    """Whose words a text is."""

    PERSON = "person"
    AGENT = "agent"
    EARLIER = "earlier summary"
    SOMEBODY = "somebody"
    """A speaker with a name, or a note."""


class Speech(Struct, frozen=True):
    """Words of the session. `turn`: the number of the event's record, for places in a segment."""

    place: int
    voice: Voice
    text: str
    turn: int
    name: str = ""
    kind: str = ""
    """`refusal`, `answer` or `plan` for words that came with a call."""


class Session(Struct, frozen=True):
    """Everything of a session that a text about it may need."""

    speeches: tuple[Speech, ...]
    steps: tuple[Step, ...]
    state: WorkState
    changes: tuple[tuple[Call, Outcome | None], ...]
    """The last calls that change files, with their outcomes; None without a result."""
    counts: Counter[str]
    """How often each term occurs."""
    red: tuple[tuple[int, int], ...]
    """Places from a failed check to the same check passing: that phase is over."""

    @property
    def request(self) -> str:
        """What the person asked last; empty where nobody did."""
        asked = (s.text for s in reversed(self.speeches) if s.voice is Voice.PERSON and not s.kind)
        return next(asked, "")

    def is_past(self, place: int) -> bool:
        return any(start < place < end for start, end in self.red)

    def closes_turn(self, number: int) -> bool:
        """Whether a speech of the agent is the last before the person speaks, or the end."""
        after = self.speeches[number + 1 : number + 2]
        return not after or after[0].voice is not Voice.AGENT


def read_session(events: Iterable[Event]) -> Session:
    """The session of some events."""
    reader = _Reader()
    for event in events:
        reader.add(event)
    return reader.session()


class _Reader:
    def __init__(self) -> None:
        self._tracker = WorkTracker()
        self._speeches: list[Speech] = []
        self._steps: list[Step] = []
        self._open: dict[str, tuple[int, Call]] = {}
        self._changes: deque[tuple[int, Call, Outcome | None]] = deque(maxlen=LAST_CHANGES)
        self._counts: Counter[str] = Counter()
        self._failed: dict[str, int] = {}
        self._red: list[tuple[int, int]] = []
        self._place = 0

    def add(self, event: Event) -> None:
        self._tracker.add(event)
        self._place += 1
        if isinstance(event, Message):
            self._message(event)
        elif isinstance(event, Compaction):
            self._say(Voice.EARLIER, event.summary, event)
        elif isinstance(event, Notice):
            if typed := command_called(event.text.strip()):
                self._say(Voice.PERSON, typed, event)
        elif isinstance(event, Call):
            self._call(event)
        elif isinstance(event, Result):
            self._result(event)

    def session(self) -> Session:
        for place, call in self._open.values():
            self._tell(call, None, place)
        self._steps.sort(key=lambda step: step.place)
        return Session(
            tuple(self._speeches),
            tuple(self._steps),
            self._tracker.state(),
            tuple((call, outcome) for _, call, outcome in sorted(self._changes, key=_by_place)),
            self._counts,
            tuple(self._red),
        )

    def _message(self, event: Message) -> None:
        if event.origin.sidechain:
            return
        if event.name:
            self._say(Voice.SOMEBODY, event.text, event, event.name)
        elif event.speaker is Speaker.PERSON:
            self._say(Voice.PERSON, event.text, event)
        elif event.speaker is Speaker.AGENT:
            self._say(Voice.AGENT, event.text, event)
        elif event.speaker is Speaker.HARNESS:
            self._say(Voice.SOMEBODY, event.text, event, "note")

    def _say(self, voice: Voice, text: str, event: Event, name: str = "", kind: str = "") -> None:
        if text.strip():
            turn = event.origin.line_start
            self._speeches.append(Speech(self._place, voice, text.strip(), turn, name, kind))
            self._counts.update(terms(text))

    def _call(self, call: Call) -> None:
        self._counts.update(terms(call.text[:READ_OF_CALL]))
        if call.origin.sidechain:
            return
        key = call.id or f"#{self._place}"
        self._open[key] = (self._place, call)
        if call.act is Act.ASK and "plan" in call.tool.lower() and call.query:
            self._say(Voice.AGENT, call.query, call, kind="plan")

    def _result(self, result: Result) -> None:
        key = result.call if result.call in self._open else self._oldest(result)
        if key is None:
            return
        place, call = self._open.pop(key)
        self._tell(call, result, place)
        if result.outcome is Outcome.REFUSED:
            step = told(call, result, place)
            line = step.line if step else f"refused: {call.tool}"
            said = f" {result.words}" if result.words else ""
            self._say(Voice.PERSON, f"({line}){said}", result, kind="refusal")
        elif result.words:
            self._say(Voice.PERSON, result.words, result, kind="answer")

    def _oldest(self, result: Result) -> str | None:
        if result.call:
            return None
        nameless = (key for key in self._open if key.startswith("#"))
        same = (key for key in self._open if key.startswith("#") and self._is(key, result.tool))
        return next(same, next(nameless, None))

    def _is(self, key: str, tool: str) -> bool:
        return self._open[key][1].tool == tool

    def _tell(self, call: Call, result: Result | None, place: int) -> None:
        if call.changes:
            self._changes.append((place, call, result.outcome if result else None))
        step = told(call, result, place)
        if step is None or (result is not None and result.outcome is Outcome.REFUSED):
            return
        self._steps.append(step)
        for command, outcome, _ in check_ends(call, result):
            if outcome is Outcome.FAILED:
                self._failed.setdefault(command, place)
            elif outcome is Outcome.OK and command in self._failed:
                self._red.append((self._failed.pop(command), place))


def _by_place(each: tuple[int, Call, Outcome | None]) -> int:
    return each[0]
