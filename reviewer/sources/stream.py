"""The one reading of a file: its events, and between them the records that the store keeps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from reviewer.sources.calls import Plans, read_call
from reviewer.sources.events import (
    Call,
    Compaction,
    Event,
    Message,
    Notice,
    NoticeKind,
    Origin,
    Plan,
    Result,
    Rewind,
    Speaker,
    Thought,
)
from reviewer.sources.open import recognised
from reviewer.sources.records import Block, Record, Role, Use
from reviewer.sources.results import read_result
from reviewer.sources.session_scan import CallNames, RecordMaker, role_of, settled, wanted
from reviewer.sources.turns import Part, Reading, Turn

REWOUND = str(Use.REWOUND)
INTERRUPTION = "[Request interrupted by user"
_SPEAKERS = {
    Role.USER: Speaker.PERSON,
    Role.NOTE: Speaker.PERSON,
    Role.ASSISTANT: Speaker.AGENT,
}


class EventStream:
    """The content of one file; go through it once, in one of three ways. This fills `tally` and
    `errors`.
    """

    def __init__(
        self, path: Path, line_start: int, line_end: int | None, sessions: frozenset[str] | None
    ) -> None:
        found, source = recognised(path, line_start, line_end, sessions)
        self.path, self.format = path, found.name
        self.is_log = found.is_log
        """The lines of the file are in the order of time."""
        self.several = found.several or found.outlines is not None
        """The file may have several conversations."""
        self._turns = found.turns
        self._note = found.read(source) if found.read is not None else None
        self._reading = Reading(source)
        told = self._note or self._reading
        self.tally: Counter[str] = told.tally
        self.errors: list[str] = told.errors

    def __iter__(self) -> Iterator[Event]:
        for each in self.with_records(records=False):
            if not isinstance(each, Record):
                yield each

    def kept(self) -> list[Event]:
        """The events that the person did not take back, in the order of their lines."""
        events: list[Event] = []
        for event in self:
            if isinstance(event, Rewind):
                before = len(events)
                lines = range(event.first, event.end)
                events = [each for each in events if each.origin.line_start not in lines]
                self.tally[REWOUND] += before - len(events)
            else:
                events.append(event)
        return sorted(events, key=lambda each: each.origin.line_start) if self.is_log else events

    def records(self) -> Iterator[Record]:
        """The records with their final use, in the order of their lines."""
        found = self.with_records(events=False)
        return settled((each for each in found if isinstance(each, (Record, Rewind))), self.is_log)

    def with_records(
        self, *, events: bool = True, records: bool = True
    ) -> Iterator[Record | Event]:
        """The records as soon as they are complete, between the events. A Rewind, which comes
        without `events`, too, takes back the records on its lines.
        """
        if self._turns is None:
            for record in self._note or ():
                if records:
                    yield record
                if events:
                    yield _of_note(record)
            return
        maker, kept = EventMaker(self.format), RecordMaker(self._reading, self.format)
        for turn in wanted(self._turns, self._reading):
            if isinstance(turn, Rewind):
                yield from kept.close()
                yield turn
                continue
            if records:
                yield from kept.add(turn)
            elif turn.rewound:
                self.tally[REWOUND] += len(turn.parts)
            if events:
                yield from maker.of_turn(turn)
        yield from kept.close()


def read(
    path: Path,
    *,
    line_start: int = 0,
    line_end: int | None = None,
    sessions: frozenset[str] | None = None,
) -> EventStream:
    """The events of a file, in one pass; lines are 0-based and half-open.

    `sessions`: only these, of a file that has several. Raises OtherKindError when reviewer does
    not read this kind of file, and SourceError, here or while iterating, when it cannot be read.
    """
    return EventStream(path, line_start, line_end, sessions)


def events_of(blocks: Iterable[Block | Rewind], format_name: str = "") -> Iterator[Event]:
    """Blocks as events; of a format that is not known, less is certain."""
    maker = EventMaker(format_name)
    for block in blocks:
        if isinstance(block, Rewind):
            yield block
        else:
            yield from maker.of_block(block)


class EventMaker:
    """Makes events of the parts of one file, in their order."""

    def __init__(self, format_name: str = "") -> None:
        self._format = format_name
        self._names = CallNames()
        self._open: dict[str, Call] = {}
        self._nameless: list[Call] = []
        """Open calls without an id."""
        self._plans: dict[str | None, Plans] = {}

    def of_block(self, block: Block) -> Sequence[Event]:
        """The events of a block."""
        part = Part(
            block.kind, block.text, error=block.error, code=block.code, feedback=block.feedback
        )
        return self.add(
            origin_of(block), part, block.use, block.role, name=block.name, call=block.call
        )

    def of_turn(self, turn: Turn) -> list[Event]:
        """The events of a turn, which share its origin."""
        origin = turn.origin()
        found: list[Event] = []
        for part, use, name, call in self._names.parts(turn):
            found += self.add(origin, part, use, role_of(turn, part, use), name=name, call=call)
        return found

    def add(
        self, origin: Origin, part: Part, use: Use, role: Role, *, name: str, call: str
    ) -> Sequence[Event]:
        """The events of a part: text, a thought, a call or a result."""
        if use is Use.REWOUND:
            return ()
        text = part.text.replace("\r\n", "\n") if "\r" in part.text else part.text
        if part.kind == "thinking":
            return (Thought(origin, text),)
        if part.kind == "tool_use":
            return self._call(read_call(origin, call, name, text))
        if part.kind == "tool_result":
            return self._result(origin, call, name, text, part)
        if use is Use.SUMMARY:
            return (Compaction(origin, text),)
        if use is Use.MESSAGE:
            return (Message(origin, _speaker(origin, role, name), text, name),)
        speaker = _SPEAKERS.get(role, Speaker.HARNESS)
        return (Notice(origin, _kind(part, use, text), text, speaker),)

    def _call(self, call: Call) -> Sequence[Event]:
        if call.id:
            self._open[call.id] = call
        else:
            self._nameless.append(call)
        items = self._plan(call.origin).after(call)
        return (call,) if items is None else (call, Plan(call.origin, items))

    def _result(
        self, origin: Origin, call_id: str, tool: str, text: str, part: Part
    ) -> Sequence[Event]:
        call = self._open.pop(call_id, None) if call_id else self._oldest(tool)
        found = read_result(
            call,
            text,
            error=part.error or bool(part.feedback),
            code=part.code,
            feedback=part.feedback,
            format_name=self._format,
        )
        result = Result(
            origin,
            call_id,
            call.tool if call else tool,
            found.outcome,
            text,
            found.exit_code,
            found.words,
            found.task,
        )
        items = self._plan(origin).answered(call.id, text) if call else None
        return (result,) if items is None else (result, Plan(origin, items))

    def _oldest(self, tool: str) -> Call | None:
        """The first open call without an id, of this tool if there is one."""
        named = (at for at, each in enumerate(self._nameless) if each.tool == tool)
        at = next(named, 0)
        return self._nameless.pop(at) if at < len(self._nameless) else None

    def _plan(self, origin: Origin) -> Plans:
        return self._plans.setdefault("sidechain" if origin.sidechain else origin.session, Plans())


def _speaker(origin: Origin, role: Role, name: str) -> Speaker:
    if role is Role.ASSISTANT:
        task = name == "agent"  # what a sub-agent is told
        return Speaker.SUBAGENT if origin.sidechain and not task else Speaker.AGENT
    return _SPEAKERS.get(role, Speaker.HARNESS)


def _kind(part: Part, use: Use, text: str) -> NoticeKind:
    if part.is_data:
        return NoticeKind.DATA
    if text.lstrip().startswith(INTERRUPTION):
        return NoticeKind.INTERRUPTED
    return NoticeKind.WRAPPER if use is Use.TOOL else NoticeKind(use.value)


def _of_note(record: Record) -> Event:
    """A section of a note."""
    origin = Origin(
        key=record.key,
        line_start=record.line_start,
        line_end=record.line_end,
        byte_start=record.byte_start,
        byte_end=record.byte_end,
        sha256=record.sha256,
        at=record.at,
    )
    if record.use is Use.MESSAGE:
        return Message(origin, Speaker.PERSON, record.text)
    return Notice(origin, NoticeKind(record.use.value), record.text, Speaker.PERSON)


def origin_of(block: Block) -> Origin:
    start, end = block.span or (0, 0)
    return Origin(
        key="",
        line_start=block.line_start,
        line_end=block.line_end,
        byte_start=start,
        byte_end=end,
        at=block.at,
        session=block.session,
        sidechain=block.sidechain,
        cwd=block.cwd,
        branch=block.branch,
        conversation=block.conversation,
    )
