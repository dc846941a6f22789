"""A session as needed for hand-overs and levels: speeches, steps, and the state of the work.

Built from events in one pass; calls and results are reduced to short descriptions.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from enum import Enum

from msgspec import Struct

from reviewer.compression.told import ToldCall, told
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
from reviewer.sources.results import report_in

LAST_CHANGES = 20
"""The latest calls that changed files, whose code is kept."""
READ_OF_CALL = 1_500
"""Characters of a call in which words are counted."""


class Voice(Enum):
    PERSON = "person"
    AGENT = "agent"
    EARLIER = "earlier summary"
    SOMEBODY = "somebody"
    """A named speaker, or a note."""


class Speech(Struct, frozen=True):
    """Words of the session. `turn`: the number of the event's record, for places in a segment."""

    place: int
    voice: Voice
    text: str
    turn: int
    name: str = ""
    kind: str = ""
    """`refusal`, `question`, `answer`, `plan` or `report` for words that came with a call."""
    wordless: bool = False
    """A refusal without words of the person."""

    @property
    def asks(self) -> bool:
        """Whether they may be a request of the person."""
        return self.voice is Voice.PERSON and not self.wordless


class Changed(Struct, frozen=True):
    """A call that changes files. `outcome`: None without a result; `place`: as in a speech."""

    place: int
    call: Call
    outcome: Outcome | None

    @property
    def made(self) -> bool:
        return self.outcome not in (Outcome.REFUSED, Outcome.FAILED)


class SessionFacts(Struct, frozen=True):
    """Everything about a session that a text may need."""

    speeches: tuple[Speech, ...]
    steps: tuple[ToldCall, ...]
    """The calls, each command only where it ran last."""
    state: WorkState
    changes: tuple[Changed, ...]
    """The latest calls that change files, after the last commit."""
    counts: Counter[str]
    """How often each term occurs."""
    before: int = 0
    """Records before the first one described; they count for the state of the work."""
    last_call: int = -1
    """The place of the agent's last call."""

    @property
    def requests(self) -> list[Speech]:
        """The person's messages, without refusals and answers."""
        return [s for s in self.speeches if s.voice is Voice.PERSON and not s.kind]


def read_session(events: Iterable[Event], before: int = 0) -> SessionFacts:
    """The session of some events; of the first `before` records only the state of the work."""
    reader = _Reader(before)
    for event in events:
        reader.add(event)
    return reader.session()


class _Reader:
    def __init__(self, before: int) -> None:
        self._before = before
        self._tracker = WorkTracker()
        self._speeches: list[Speech] = []
        self._steps: dict[object, ToldCall] = {}
        self._open: dict[str, tuple[Call, int]] = {}
        """The calls without a result, each with its place."""
        self._changes: deque[Changed] = deque(maxlen=LAST_CHANGES)
        self._counts: Counter[str] = Counter()
        self._place = 0
        self._last_call = -1

    def add(self, event: Event) -> None:
        self._tracker.add(event)
        self._place += 1
        if event.origin.line_start < self._before:
            return
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

    def session(self) -> SessionFacts:
        for call, place in self._open.values():
            self._tell(call, None, place)
        state = self._tracker.state()
        committed = max((each.line for each in state.commits if not each.merge), default=-1)
        return SessionFacts(
            tuple(self._speeches),
            tuple(sorted(self._steps.values(), key=lambda step: step.place)),
            state,
            tuple(
                each
                for each in sorted(self._changes, key=lambda change: change.place)
                if each.call.origin.line_start > committed
            ),
            self._counts,
            self._before,
            self._last_call,
        )

    def _message(self, event: Message) -> None:
        if event.origin.sidechain:
            return
        voices = {Speaker.PERSON: Voice.PERSON, Speaker.AGENT: Voice.AGENT}
        if event.name or event.speaker is Speaker.HARNESS:
            self._say(Voice.SOMEBODY, event.text, event, event.name or "note")
        elif voice := voices.get(event.speaker):
            self._say(voice, event.text, event)

    def _say(
        self,
        voice: Voice,
        text: str,
        event: Event,
        name: str = "",
        kind: str = "",
        *,
        wordless: bool = False,
    ) -> None:
        text, turn = text.strip(), event.origin.line_start - self._before
        if text:
            self._speeches.append(Speech(self._place, voice, text, turn, name, kind, wordless))
            self._counts.update(terms(text))

    def _call(self, call: Call) -> None:
        self._counts.update(terms(call.text[:READ_OF_CALL]))
        if call.origin.sidechain:
            return
        self._open[call.id] = (call, self._place)
        self._last_call = self._place
        if call.act is Act.ASK and "plan" in call.tool.lower() and call.query:
            self._say(Voice.AGENT, call.query, call, kind="plan")

    def _result(self, result: Result) -> None:
        found = self._open.pop(result.call, None)
        if found is None:
            return
        call, place = found
        step = self._tell(call, result, place)
        if result.outcome is Outcome.REFUSED:
            line = step.line if step else f"refused: {call.tool}"
            said = f" {result.words}" if result.words else ""
            text = f"({line}){said}"
            self._say(Voice.PERSON, text, result, kind="refusal", wordless=not result.words)
        elif result.words:
            if call.query.partition(" (")[0] not in result.words:
                self._say(Voice.AGENT, call.query, call, kind="question")
            self._say(Voice.PERSON, result.words, result, kind="answer")
        elif call.act is Act.DELEGATE and result.outcome is Outcome.OK and not result.task:
            report = report_in(result.text)
            self._say(Voice.SOMEBODY, report, result, "Report of a sub-agent", "report")

    def _tell(self, call: Call, result: Result | None, place: int) -> ToldCall | None:
        outcome = result.outcome if result else None
        if call.changes:
            self._changes.append(Changed(place, call, outcome))
        step = told(call, result, place)
        if step is not None and outcome is not Outcome.REFUSED:
            self._steps.pop(step.key, None)
            self._steps[step.key] = step
        return step
