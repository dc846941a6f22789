"""The turns of one conversation of a file: of the latest, if it has several and none is named."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from reviewer.commits.transcript_import import draft_of
from reviewer.compression.values import TURN_KINDS, SegmentTurn
from reviewer.errors import SourceError
from reviewer.sources.claude_words import command_called
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
)
from reviewer.sources.open import NOTE_FORMATS, format_of
from reviewer.sources.records import Role
from reviewer.sources.stream import read
from reviewer.text.runs import without_long_runs
from reviewer.text.tokens import counter

Lines = tuple[int, int | None]
_LEFT_OUT = frozenset({NoticeKind.BOOT, NoticeKind.INJECTED, NoticeKind.TEMPLATE})


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
        return tuple(self._made((0, start), lambda _: 0)) if start else ()

    def _made(self, lines: Lines, count: Callable[[str], int]) -> Iterator[SegmentTurn]:
        chosen = self._chosen
        if chosen is None:
            return
        only = chosen.name if self._several and self._has_sessions else None
        is_task = chosen.aside and lines[0] == 0
        """Whether the next words are the task of the sub-agent."""
        for event in self._events(lines, only):
            line = event.origin.line_start
            if isinstance(event, Rewind) or self._key(event.origin) != chosen.key:
                continue
            if any(each.first <= line < each.end for each in self._rewinds):
                continue
            # beside the conversation, only calls of sub-agents and notices
            aside = event.origin.sidechain and not chosen.aside
            if aside and not isinstance(event, (Call, Result)):
                continue
            made = self._turn(event, count, aside=aside or _is_notice(event))
            if is_task and made.kind == "text" and not made.aside:
                made, is_task = structs.replace(made, role=str(Role.USER)), False
            yield made

    def _turn(self, event: Event, count: Callable[[str], int], *, aside: bool) -> SegmentTurn:
        """An event as a turn. `aside`: not part of the conversation itself."""
        draft = draft_of(event, is_note=self._format.name in NOTE_FORMATS)
        text = without_long_runs(draft.text.text)
        facts: dict[str, Any] = {**draft.meta, "aside": aside}
        return SegmentTurn(
            draft.role,
            text,
            0 if aside else count(text),
            TURN_KINDS.get(draft.type, "text"),
            " ".join(draft.name.split()),
            draft.at,
            summary=isinstance(event, Compaction),
            **facts,
        )

    def _survey(self) -> list[Conversation]:
        """The conversations; also records the rewinds. Those of sub-agents and those without
        messages are left out, unless there are no others.
        """
        found: dict[str, Conversation] = {}
        for event in self._events(self._lines):
            if isinstance(event, Rewind):
                self._rewinds.append(event)
            else:
                key, at = self._key(event.origin), event.origin
                each = found.setdefault(key, Conversation(key, at.session or ""))
                each.latest = max(each.latest, at.at or "")
                each.said = each.said or _is_said(event)
                each.aside = each.aside and at.sidechain
        main = [each for each in found.values() if not each.aside] or list(found.values())
        main = [each for each in main if each.said] or main
        for number, each in enumerate(main, 1):
            each.number = number
        return main

    def _events(self, lines: Lines, only: str | None = None) -> Iterator[Event]:
        """The events that belong to a conversation or show the state of the work, and rewinds."""
        only = only or self._only
        start, end = lines
        sessions = frozenset((only,)) if only else None
        for event in read(self._path, line_start=start, line_end=end, sessions=sessions):
            is_left_out = isinstance(event, Notice) and event.kind in _LEFT_OUT
            if not (is_left_out or isinstance(event, Plan)):
                yield event

    def _key(self, at: Origin) -> str:
        return f"{at.session or ''}\n{at.conversation}" if self._several else ""

    def _named(self, name: str) -> Conversation:
        """A conversation by its id. Raises SourceError."""
        for each in self.conversations:
            if name == each.name:
                return each
        raise SourceError(f"{self._path} has no conversation {name!r}.")


def _is_said(event: Event) -> bool:
    return isinstance(event, (Message, Compaction, Notice)) and not _is_notice(event)


def _is_notice(event: Event) -> bool:
    """Whether an event is text of the client, other than a command called by the person."""
    return isinstance(event, Notice) and not command_called(event.text.strip())
