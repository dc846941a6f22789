"""What the next session needs of a session: the hand-over, and what a compaction must keep."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from reviewer.compression.anchor_types import Section
from reviewer.compression.anchors import find_anchors
from reviewer.compression.conversations import (
    Conversation,
    blocks_of,
    conversations_in,
    holds_several,
    is_read,
    last_of,
    named,
)
from reviewer.compression.file_summary import (
    anchors_within,
    orders_in,
    turn_of,
)
from reviewer.compression.offline.ahead import left_lines
from reviewer.compression.offline.course import Course
from reviewer.compression.offline.seen import EDITS_TITLE, LOOKED_TITLE, room_for_asked, seen
from reviewer.compression.offline.shape import ALSO, Account
from reviewer.compression.offline.steps import folder_of, waiting_of
from reviewer.compression.offline.tail import Tail
from reviewer.compression.summary_writer import SummaryWriter
from reviewer.compression.values import (
    HANDOVER_FROM,
    OFFLINE,
    Level,
    Segment,
    SummarizationOptions,
    Turn,
)
from reviewer.errors import ReviewerError
from reviewer.files import open_file, write_atomic
from reviewer.sources.events import Rewind
from reviewer.sources.open import open_blocks, recognise
from reviewer.sources.records import Block
from reviewer.text import for_agents
from reviewer.text.for_agents import NOTHING, AgentText, joined
from reviewer.text.tokens import counter

BRIEF_TOKENS, KEEP_TOKENS = 2_000, 700
LEAST_TOKENS = 100
KEPT = (
    Section.REQUEST,
    Section.INSTRUCTIONS,
    Section.DECISIONS,
    Section.NOW,
    Section.NEXT,
    Section.LISTS,
    Section.COMMANDS,
)
"""Sections of which a compaction must keep the words."""
FRAME, SMALL_FRAME = 60, 4
"""Tokens for the title and the marks of headings."""
SEEN_SHARE = 0.03
"""Share of a hand-over that is left from which on it also shows what was found and edited last."""
ASKED_SHARE = 0.14
"""Share of a hand-over that is kept for the files to which the request points."""
TITLE = "# Hand-over of "
_TITLES = {f"{section.value}:": section.value for section in Section}
HEADINGS = frozenset(
    {*_TITLES, *(f"## {title}" for title in _TITLES.values()), EDITS_TITLE, LOOKED_TITLE}
)
"""The headings of both texts, a line each."""
_COMPACT = re.compile(r"\s*(?:/compact\b|<command-name>\s*/compact\b)")
"""The person's call of a compaction, which is not a request for the work."""
_HEAD_BYTES = 200
_SAYS_NOTHING = re.compile(
    r"(?:session|transcript|conversation|chat|messages?|history|log|export|data|full|output)s?",
    re.IGNORECASE,
)
"""Names of files that do not tell one session from another."""


class Handover(Struct, frozen=True):
    """A text for an agent about a session. Tokens are those of `encoding`."""

    path: str
    text: AgentText
    tokens: int
    original_tokens: int
    encoding: str
    conversation: str = ""
    """Which one of a file of several it is about, in words; empty for a file of one."""
    engine: str = OFFLINE
    """What wrote it: the offline engine, or a model by its name."""
    note: str = ""
    """Why the offline engine wrote it although a model was asked, or what the model did not see."""
    invented: tuple[str, ...] = ()
    """Names and numbers of a model's text that the session does not have."""

    def to_json(self) -> dict[str, Any]:
        """The fields that scripts read."""
        return {
            "path": self.path,
            "content": self.text,
            "tokens": self.tokens,
            "original_tokens": self.original_tokens,
            "encoding": self.encoding,
            "engine": self.engine,
            "note": self.note,
            "invented": list(self.invented),
            **({"conversation": self.conversation} if self.conversation else {}),
        }


def write_brief(
    path: Path,
    *,
    max_tokens: int = BRIEF_TOKENS,
    session: str | None = None,
    writer: SummaryWriter | None = None,
) -> Handover:
    """The hand-over of a session as plain Markdown.

    `session`: the id or the number of a conversation, in a file that has several; otherwise it is
    the last one. `writer`: as for `brief_of`. Raises SourceError, CancelledError, TemplateError.
    """
    turns = FileTurns(path, session)
    found = brief_of(turns, turns.name, max_tokens=max_tokens, path=str(path), writer=writer)
    return structs.replace(found, conversation=turns.conversation)


def write_keep(
    path: Path, *, max_tokens: int = KEEP_TOKENS, session: str | None = None
) -> Handover:
    """What a compaction of a session must keep, as instructions. `session` as for `write_brief`.

    Raises SourceError.
    """
    turns = FileTurns(path, session)
    found = keep_of(turns, max_tokens=max_tokens, path=str(path))
    return structs.replace(found, conversation=turns.conversation)


class FileTurns:
    """The turns that are handed over, read again at each iteration and never all in memory.

    `session` as for `write_brief`. Raises SourceError, also while iterating.
    """

    def __init__(self, path: Path, session: str | None = None) -> None:
        self._path, self._only = path, None
        self._all: list[Conversation] = []
        self._chosen: Conversation | None = None
        if session and not session.isdigit() and recognise(path).outlines is not None:
            self._only = session
        elif holds_several(path):
            self._all = conversations_in(path)
        if len(self._all) > 1:
            self._chosen = named(path, self._all, session) if session else last_of(self._all)

    @property
    def name(self) -> str:
        """What the session is called in a title."""
        if self._chosen is not None and self._chosen.name:
            return f"the session {self._chosen.name}"
        called = self._only or self._path.stem
        if _SAYS_NOTHING.fullmatch(called):
            folder = next((each.cwd for each in self._blocks() if each.cwd), "")
            project = re.split(r"[/\\]", folder.rstrip("/\\"))[-1]
            found = f"the session in {project}" if project else "the session"
        else:
            found = f"the session {called}"
        return found if self._chosen is None else f"{found}, conversation {self._chosen.number}"

    @property
    def conversation(self) -> str:
        """Which conversation of several it is, in words; empty where there is only one."""
        if self._chosen is None:
            return ""
        called = f" ({self._chosen.name})" if self._chosen.name else ""
        return f"conversation {self._chosen.number:,} of {len(self._all):,}{called}"

    def __iter__(self) -> Iterator[Turn]:
        count = counter()
        for block in self._blocks():
            if not (block.sidechain and self._has_main):
                yield turn_of(block, count)

    def _blocks(self) -> Iterator[Block]:
        if self._chosen is not None:
            yield from filter(is_read, blocks_of(self._path, self._chosen))
            return
        for block in self._live():
            if not isinstance(block, Rewind) and is_read(block):
                line = block.line_start
                if not any(each.first <= line < each.end for each in self._rewinds):
                    yield block

    def _live(self) -> Iterator[Block | Rewind]:
        only = frozenset((self._only,)) if self._only else None
        return open_blocks(self._path, sessions=only).live()

    @cached_property
    def _rewinds(self) -> list[Rewind]:
        return [each for each in self._live() if isinstance(each, Rewind)]

    @cached_property
    def _has_main(self) -> bool:
        """Whether there are turns that are not of sub-agents."""
        return any(not block.sidechain for block in self._blocks())


class _Work:
    """Turns without the person's calls of a compaction; `tokens` counts all of them.

    `tail`: gets those at the end while they are iterated.
    """

    def __init__(self, turns: Iterable[Turn], tail: Tail | None = None) -> None:
        self._turns, self._tail = turns, tail
        self.tokens = 0

    def __iter__(self) -> Iterator[Turn]:
        self.tokens, number = 0, 0
        if self._tail is not None:
            self._tail.clear()
        for turn in self._turns:
            self.tokens += turn.tokens
            if not is_call_of_compaction(turn):
                if self._tail is not None:
                    self._tail.add(number, turn)
                number += 1
                yield turn


def session_named(path: Path, session: str | None) -> tuple[str, tuple[Turn, ...]]:
    """What a session is called, and its turns; `session` counts in a file that has several.

    Raises SourceError.
    """
    turns = FileTurns(path, session)
    return turns.name, tuple(turns)


def brief_of(
    turns: Iterable[Turn],
    name: str,
    *,
    max_tokens: int = BRIEF_TOKENS,
    path: str = "",
    writer: SummaryWriter | None = None,
) -> Handover:
    """The hand-over of some turns as plain Markdown; `name` ends its title.

    `turns` may be iterated more than once. `writer`: that of a model; where it fails, the offline
    engine writes, with a note. Raises CancelledError, TemplateError.
    """
    title = for_agents.as_markdown(TITLE + " ".join(name.split()))
    if writer is None:
        return _brief_offline(turns, title, max_tokens, path)
    work = _Work(turns)
    read = tuple(work)
    count = counter()
    segment = Segment("s1", read, sum(turn.tokens for turn in read), "", path)
    room = max(max_tokens - count.count(title) - FRAME, 1)
    options = SummarizationOptions(
        max_output_tokens=room, ceiling=room, generate_expansion_markers=False
    )
    orders = anchors_within(orders_in(find_anchors(read), read), Level.BRIEF, room, count)
    found = writer.write(segment, orders, Level.BRIEF, options)
    if found.engine == OFFLINE:
        return structs.replace(_brief_offline(turns, title, max_tokens, path), note=found.note)
    text = joined([title, as_markdown(found.content)], "\n\n")
    fidelity = writer.summarizer.validate_fidelity(segment, found)
    return structs.replace(
        _handover(path, text, work.tokens),
        engine=found.engine,
        note=found.note,
        invented=fidelity.invented,
    )


def _brief_offline(turns: Iterable[Turn], title: AgentText, max_tokens: int, path: str) -> Handover:
    count = counter()
    tail = Tail()
    work = _Work(turns, tail)
    account = Account(work, count.count)
    account.leave_out_history()
    account.add(
        left_lines(
            account.moments, account.state, account.places, tail, account.lines, account.folder
        )
    )
    if not waiting_of(account.moments, tail):
        account.say_whose_turn_it_is()
    if folder := folder_of(tail, account.folder):
        account.leave_out_folder(folder)
    body = NOTHING
    # A small text has hardly any headings.
    room = max_tokens - count.count(title) - (FRAME if max_tokens >= HANDOVER_FROM else SMALL_FRAME)
    moments, state = account.moments, account.state
    if max_tokens >= HANDOVER_FROM:
        room -= room_for_asked(moments, tail, int(max_tokens * ASKED_SHARE), count.count)
    course = Course(account, tail, count.count).lines(room)
    while room > 0:
        body = as_markdown(account.write(room, given=course))
        over = count.count(f"{title}\n\n{body}\n") - max_tokens
        if over <= 0:
            break
        room -= max(over, SMALL_FRAME)
    else:
        body = NOTHING
    text = joined([title, body], "\n\n") if body else NOTHING
    left = max_tokens - count.count(text)
    if body and max_tokens >= HANDOVER_FROM and left > max_tokens * SEEN_SHARE:
        found = seen(moments, state, tail, text, left, count.count)
        text = joined([text, found], "\n\n") if found else text
    return _handover(path, text, work.tokens)


def keep_of(turns: Iterable[Turn], *, max_tokens: int = KEEP_TOKENS, path: str = "") -> Handover:
    """What a compaction of some turns must keep, as instructions; `turns` as for `brief_of`."""
    count = counter()
    work = _Work(turns)
    account = Account(work, count.count)
    account.lines = [line for line in account.lines if line.section in KEPT]
    text, room = NOTHING, max_tokens - FRAME
    while room > 0:
        body = for_agents.as_markdown(_without_names(account.write(room)))
        text = joined([ORDER, body], "\n\n") if body else NOTHING
        if count.count(text) <= max_tokens:
            break
        room -= FRAME // 2
    return _handover(path, text, work.tokens)


ORDER = AgentText(
    "Keep all of this in the summary, in these words; say of each file and check whether it was "
    "written, tested and committed, and mark what was only proposed."
)


def work_of(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """The turns without the person's calls of a compaction."""
    return tuple(turn for turn in turns if not is_call_of_compaction(turn))


def is_call_of_compaction(turn: Turn) -> bool:
    return turn.role == "user" and turn.kind == "text" and bool(_COMPACT.match(turn.text))


def _handover(path: str, text: AgentText, original: int) -> Handover:
    count = counter()
    return Handover(path, text, count.count(text), original, count.name)


def as_markdown(text: str) -> AgentText:
    """A summary with its titles as headings of Markdown, and nothing live in it."""
    lines: list[str] = []
    for line in text.split("\n"):
        if line in _TITLES:
            lines += [""] * bool(lines) + [f"## {_TITLES[line]}", ""]
        else:
            lines.append(line)
    return for_agents.as_markdown("\n".join(lines))


def _without_names(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if not line.startswith(ALSO))


# a file with it


class WrittenFile(Struct, frozen=True):
    """A hand-over that was written to a file. `before`: what it replaced; None for nothing."""

    path: Path
    data: bytes
    before: bytes | None


def write_file(text: AgentText, path: Path) -> WrittenFile:
    """Write a hand-over, or what a compaction must keep, to a file.

    Only a file with an earlier one is replaced. Raises ReviewerError when the file cannot be
    written; it is then unchanged.
    """
    try:
        target = Path(os.path.realpath(path))
    except ValueError as problem:  # a NUL in the name
        raise ReviewerError(f"{str(path)!r} is not a file name: {problem}.") from problem
    data = f"{text}\n".encode("utf-8", "backslashreplace")
    try:
        before = _earlier(target, path) if target.exists() else None
        mode = target.stat().st_mode & 0o7777 if before is not None else None
        write_atomic(target, data)
        if mode is not None:
            os.chmod(target, mode)
    except OSError as problem:
        raise ReviewerError(f"{path} cannot be written: {problem.strerror}.") from problem
    return WrittenFile(target, data, before)


def take_back(written: WrittenFile) -> None:
    """Remove a file that was written, or put back what it replaced.

    Raises ReviewerError when the file was changed since; it is then left as it is.
    """
    path = written.path
    try:
        with open_file(path) as stream:
            now = stream.read(len(written.data) + 1)
        if now != written.data:
            raise ReviewerError(f"{path} was changed since, and is left as it is.")
        if written.before is None:
            path.unlink()
        else:
            write_atomic(path, written.before)
    except OSError as problem:
        raise ReviewerError(f"{path} cannot be taken back: {problem.strerror}.") from problem


def _earlier(target: Path, path: Path) -> bytes:
    """The content of a file that may be replaced. Raises ReviewerError, OSError."""
    if not target.is_file():
        raise ReviewerError(f"{path} is not a regular file: name a file.")
    with open_file(target) as stream:
        head = stream.read(_HEAD_BYTES)
        if head.strip() and not head.startswith((TITLE.encode(), ORDER.encode()[:_HEAD_BYTES])):
            raise ReviewerError(f"{path} already exists and is no hand-over: name another file.")
        return head + stream.read()
