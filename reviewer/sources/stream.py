"""A session as a stream of events, whatever its format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
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
from reviewer.sources.open import open_blocks
from reviewer.sources.records import Block, Role, Use
from reviewer.sources.results import read_result
from reviewer.sources.session_scan import SessionBlocks

INTERRUPTION = "[Request interrupted by user"


class EventStream:
    """The events of one file; iterate it once. This fills `tally` and `errors`."""

    def __init__(
        self, path: Path, line_start: int, line_end: int | None, sessions: frozenset[str] | None
    ) -> None:
        self._scan = open_blocks(path, line_start=line_start, line_end=line_end, sessions=sessions)
        self.path, self.format = path, self._scan.format
        self.is_log = self._scan.is_log
        """The lines of the file are in the order of time."""
        self.tally: Counter[str] = self._scan.tally
        self.errors: list[str] = self._scan.errors

    def __iter__(self) -> Iterator[Event]:
        if not isinstance(self._scan, SessionBlocks):
            yield from events_of(self._scan.live(), self.format)
            return
        maker = EventMaker(self.format)
        last, origin = None, None
        for each in self._scan.with_turns():
            if isinstance(each, Rewind):
                yield each
                continue
            turn, block = each
            if turn is not last or origin is None:
                last, origin = turn, turn.origin()
            yield from maker.add(origin, block)


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
            yield from maker.add(origin_of(block), block)


class EventMaker:
    """Makes events of the blocks of one file, in their order."""

    def __init__(self, format_name: str = "") -> None:
        self._format = format_name
        self._open: dict[str, Call] = {}
        self._nameless: list[Call] = []
        """Open calls without an id."""
        self._plans: dict[str | None, Plans] = {}

    def add(self, origin: Origin, block: Block) -> Iterator[Event]:
        if block.use is Use.REWOUND:
            return
        if block.kind == "thinking":
            yield Thought(origin, block.text)
        elif block.kind == "tool_use":
            yield from self._call(origin, block)
        elif block.kind == "tool_result":
            yield from self._result(origin, block)
        elif block.use is Use.SUMMARY:
            yield Compaction(origin, block.text)
        elif block.use is Use.MESSAGE:
            yield Message(origin, _speaker(block), block.text, block.name)
        elif block.text.lstrip().startswith(INTERRUPTION):
            yield Notice(origin, NoticeKind.INTERRUPTED, block.text)
        else:
            kind = NoticeKind.WRAPPER if block.use is Use.TOOL else NoticeKind(block.use.value)
            yield Notice(origin, kind, block.text)

    def _call(self, origin: Origin, block: Block) -> Iterator[Event]:
        call = read_call(origin, block.call, block.name, block.text)
        if call.id:
            self._open[call.id] = call
        else:
            self._nameless.append(call)
        yield call
        if (items := self._plan(block).after(call)) is not None:
            yield Plan(origin, items)

    def _result(self, origin: Origin, block: Block) -> Iterator[Event]:
        call = self._open.pop(block.call, None) if block.call else self._oldest(block.name)
        found = read_result(
            call,
            block.text,
            error=block.error,
            code=block.code,
            feedback=block.feedback,
            format_name=self._format,
        )
        yield Result(
            origin,
            block.call,
            call.tool if call else block.name,
            found.outcome,
            block.text,
            found.exit_code,
            found.words,
            found.task,
        )
        if call and (items := self._plan(block).answered(call.id, block.text)) is not None:
            yield Plan(origin, items)

    def _oldest(self, tool: str) -> Call | None:
        """The first open call without an id, of this tool if there is one."""
        named = (at for at, each in enumerate(self._nameless) if each.tool == tool)
        at = next(named, 0)
        return self._nameless.pop(at) if at < len(self._nameless) else None

    def _plan(self, block: Block) -> Plans:
        return self._plans.setdefault("sidechain" if block.sidechain else block.session, Plans())


def _speaker(block: Block) -> Speaker:
    if block.role is Role.ASSISTANT:
        task = block.name == "agent"  # what a sub-agent is told
        return Speaker.SUBAGENT if block.sidechain and not task else Speaker.AGENT
    return Speaker.PERSON if block.role is Role.USER else Speaker.HARNESS


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
    )
