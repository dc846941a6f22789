"""The turns of one conversation of a file: of the latest, if it has several and none is named."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec import Struct, structs

from reviewer.compression.values import SegmentTurn
from reviewer.errors import SourceError
from reviewer.sources.claude_words import command_called
from reviewer.sources.event_maker import EventMaker
from reviewer.sources.events import Call, Compaction, Event, Result, Rewind
from reviewer.sources.open import format_of
from reviewer.sources.parts import Part
from reviewer.sources.records import RecordUse, Role
from reviewer.sources.stream import read
from reviewer.sources.turns import Turn, is_left, use_of
from reviewer.text.runs import without_long_runs
from reviewer.text.secrets import mask
from reviewer.text.tokens import counter

Lines = tuple[int, int | None]
_READ = frozenset({RecordUse.MESSAGE, RecordUse.TOOL, RecordUse.SUMMARY, RecordUse.WRAPPER})


class Conversation(Struct):
    """A conversation of a file. `name`: its id in the format; empty if there is none."""

    key: str
    name: str
    number: int = 0
    """Its place in the file, from 1."""
    latest: str = ""
    """The time of its last turn, if known."""
    said: bool = False
    """Whether anyone speaks in it."""
    aside: bool = True
    """Whether all of it was a sub-agent's."""


class FileTurns:
    """The turns, read again at each iteration and never all in memory.

    Words, thoughts, tools, and notices such as the end of a task, with secrets masked. Sub-agents'
    calls count for the state of the work; their words only if there is nothing else. Other text of
    the client and rewound turns are left out. `session`: the id of a conversation.
    Raises SourceError, also while iterating.
    """

    def __init__(
        self,
        path: Path,
        session: str | None = None,
        *,
        line_start: int = 0,
        line_end: int | None = None,
    ) -> None:
        self._path, self._lines = path, (line_start, line_end)
        self._format = format_of(path)
        self._has_sessions = self._format.outlines is not None
        self._only = session if self._has_sessions else None
        self._several = self._only is None and (self._has_sessions or self._format.several)
        self._rewinds: list[Rewind] = []
        self.conversations = self._survey()
        """Those in which a person or an agent speaks, in the order of the file."""
        found = self.conversations
        last = max(found, key=lambda each: (each.latest, each.number), default=None)
        self._chosen = self._named(session) if session and found[1:] else last
        self._of_several = self._chosen if found[1:] else None

    @property
    def name(self) -> str:
        """The session's name in a title."""
        chosen = self._of_several
        whose = "a sub-agent's" if self._chosen and self._chosen.aside else "the"
        if chosen is None:
            return f"{whose} session {self._only or self._path.stem}"
        if chosen.name:
            return f"{whose} session {chosen.name}"
        return f"{whose} session {self._path.stem}, conversation {chosen.number}"

    @property
    def conversation(self) -> str:
        """The conversation of several, in words; empty if there is only one."""
        chosen = self._of_several
        if chosen is None:
            return ""
        called = f" ({chosen.name})" if chosen.name else ""
        return f"conversation {chosen.number:,} of {len(self.conversations):,}{called}"

    def __iter__(self) -> Iterator[SegmentTurn]:
        return self._made(self._lines, counter().count)

    def before(self) -> tuple[SegmentTurn, ...]:
        """The turns before the lines, for the state of the work; their tokens are not counted."""
        start, _ = self._lines
        if not start:
            return ()
        self._rewinds += (each for each in self._live((0, start)) if isinstance(each, Rewind))
        return tuple(self._made((0, start), lambda _: 0))

    def _made(self, lines: Lines, count: Callable[[str], int]) -> Iterator[SegmentTurn]:
        chosen = self._chosen
        if chosen is None:
            return
        maker = EventMaker(self._format.name)
        only = chosen.name if self._several and self._has_sessions else None
        is_task = chosen.aside and lines[0] == 0
        """Whether the next words are the task of the sub-agent."""
        for turn in self._live(lines, only):
            if isinstance(turn, Rewind) or self._key(turn) != chosen.key:
                continue
            line = turn.origin.line_start
            if any(each.first <= line < each.end for each in self._rewinds):
                continue
            # beside the conversation, only calls of sub-agents and notices
            aside = turn.origin.sidechain and not chosen.aside
            for part in turn.parts:
                events = maker.of_part(turn, part)
                if _is_read(turn, part) and (not aside or part.kind in ("tool_use", "tool_result")):
                    made = _made(
                        turn, part, events[0], count, aside=aside or _is_notice(turn, part)
                    )
                    if is_task and part.kind == "text" and not made.aside:
                        made, is_task = structs.replace(made, role=str(Role.USER)), False
                    yield made

    def _survey(self) -> list[Conversation]:
        """The conversations; also records the rewinds. Those of sub-agents and those without
        messages are left out, unless there are no others.
        """
        found: dict[str, Conversation] = {}
        for turn in self._live(self._lines):
            if isinstance(turn, Rewind):
                self._rewinds.append(turn)
            elif parts := [part for part in turn.parts if _is_read(turn, part)]:
                key, at = self._key(turn), turn.origin
                each = found.setdefault(key, Conversation(key, at.session or ""))
                each.latest = max(each.latest, at.at or "")
                each.said = each.said or any(
                    part.kind == "text" and not _is_notice(turn, part) for part in parts
                )
                each.aside = each.aside and at.sidechain
        main = [each for each in found.values() if not each.aside] or list(found.values())
        main = [each for each in main if each.said] or main
        for number, each in enumerate(main, 1):
            each.number = number
        return main

    def _live(self, lines: Lines, only: str | None = None) -> Iterator[Turn | Rewind]:
        only = only or self._only
        start, end = lines
        sessions = frozenset((only,)) if only else None
        return read(self._path, line_start=start, line_end=end, sessions=sessions).turns()

    def _key(self, turn: Turn) -> str:
        at = turn.origin
        return f"{at.session or ''}\n{at.conversation}" if self._several else ""

    def _named(self, name: str) -> Conversation:
        """A conversation by its id. Raises SourceError."""
        for each in self.conversations:
            if name == each.name:
                return each
        raise SourceError(f"{self._path} has no conversation {name!r}.")


def _is_read(turn: Turn, part: Part) -> bool:
    """Whether a part belongs to the conversation or shows the state of the work."""
    if use_of(turn, part) not in _READ or is_left(turn, part):
        return False
    return bool(part.text.strip()) or part.kind == "tool_result"


def _is_notice(turn: Turn, part: Part) -> bool:
    """Whether a part is text of the client, other than a command called by the person."""
    return use_of(turn, part) is RecordUse.WRAPPER and not command_called(part.text.strip())


def _made(
    turn: Turn, part: Part, event: Event, count: Callable[[str], int], *, aside: bool
) -> SegmentTurn:
    """A part as a turn, secrets masked. `aside`: not part of the conversation itself."""
    at = turn.origin
    text = without_long_runs(mask(part.text.replace("\r\n", "\n")).text)
    ended = event if isinstance(event, Result) else None
    role, name, call = turn.role, part.name, part.call
    if isinstance(event, Call):
        call = event.id
    elif isinstance(event, Result):
        role, name, call = Role.TOOL, event.tool or name, event.call
    elif isinstance(event, Compaction):
        role = Role.ASSISTANT  # agents write summaries with the person's role
    return SegmentTurn(
        str(role),
        text,
        0 if aside else count(text),
        part.kind,
        " ".join(name.split()),
        at.at,
        call=call,
        folder=event.origin.cwd,
        branch=at.branch,
        outcome=str(ended.outcome) if ended else "",
        exit_code=ended.exit_code if ended else None,
        words=mask(ended.words).text if ended and ended.words else "",
        aside=aside,
        summary=isinstance(event, Compaction),
    )
