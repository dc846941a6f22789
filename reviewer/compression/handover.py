"""Texts for the next session: the hand-over, and the instructions for a compaction."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from reviewer.commits.values import Priority
from reviewer.compression.anchors import find_anchors
from reviewer.compression.file_summary import anchors_within, orders_in
from reviewer.compression.file_turns import FileTurns
from reviewer.compression.session import read_session
from reviewer.compression.summary_writer import SummaryWriter
from reviewer.compression.turn_events import turn_events
from reviewer.compression.values import (
    OFFLINE,
    TITLES,
    Level,
    Segment,
    SegmentTurn,
    SummarizationOptions,
)
from reviewer.compression.writing import write_session
from reviewer.text import for_agents
from reviewer.text.for_agents import NOTHING, AgentText, joined
from reviewer.text.tokens import counter

BRIEF_TOKENS, KEEP_TOKENS = 2_000, 700
FRAME = 60
"""Tokens for the title and the marks of headings."""
TITLE = "# Hand-over of "
HEADINGS = frozenset({*TITLES, *(f"## {title[:-1]}" for title in TITLES)})
"""The headings of both texts, a line each."""
_COMPACT = re.compile(r"\s*(?:/compact\b|<command-name>\s*/compact\b)")
"""The person's command for a compaction, which is not a request for work."""


class Handover(Struct, frozen=True):
    """A text about a session for an agent. Tokens are those of `encoding`."""

    path: str
    text: AgentText
    tokens: int
    original_tokens: int
    encoding: str
    conversation: str = ""
    """The conversation of a file with several, in words; else empty."""
    engine: str = OFFLINE
    """Its author: the offline engine, or a model by its name."""
    note: str = ""
    """Why the offline engine replaced a model, or which parts the model did not see."""
    invented: tuple[str, ...] = ()
    """Names and numbers in a model's text that are not in the session."""

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

    `session`: the id of a conversation, in a file with several; by default the latest.
    `writer`: see `brief_of`. Raises SourceError, CancelledError, TemplateError.
    """
    turns = FileTurns(path, session)
    found = brief_of(turns, turns.name, max_tokens=max_tokens, writer=writer)
    return structs.replace(found, path=str(path), conversation=turns.conversation)


def write_keep(
    path: Path, *, max_tokens: int = KEEP_TOKENS, session: str | None = None
) -> Handover:
    """Instructions for the compaction of a session. `session`: see `write_brief`.

    Raises SourceError.
    """
    turns = FileTurns(path, session)
    found = _offline(turns, ORDER, max_tokens, only="person")
    return structs.replace(found, path=str(path), conversation=turns.conversation)


def brief_of(
    turns: Iterable[SegmentTurn],
    name: str,
    *,
    max_tokens: int = BRIEF_TOKENS,
    writer: SummaryWriter | None = None,
) -> Handover:
    """The hand-over of some turns as plain Markdown; `name` ends its title.

    `turns` may be iterated more than once. `writer`: a model's; if it fails, the offline engine
    writes, with a note. Raises CancelledError, TemplateError.
    """
    title = for_agents.as_markdown(TITLE + " ".join(name.split()))
    if writer is None:
        return _offline(turns, title, max_tokens)
    everything = tuple(turns)
    read = tuple(turn for turn in everything if not _is_call_of_compaction(turn))
    if not any(turn.text.strip() for turn in read):
        return _offline(everything, title, max_tokens)
    count = counter()
    segment = Segment("s1", read, sum(turn.tokens for turn in read))
    room = max(max_tokens - count.count(title) - FRAME, 1)
    options = SummarizationOptions(
        max_output_tokens=room, ceiling=room, generate_expansion_markers=False
    )
    orders = anchors_within(orders_in(find_anchors(read), read), room, count)
    found = writer.write(segment, orders, Level.BRIEF, options)
    if found.engine == OFFLINE:
        return structs.replace(_offline(turns, title, max_tokens), note=found.note)
    text = joined([title, as_markdown(found.content)], "\n\n")
    invented = writer.summarizer.validate_fidelity(segment, found).invented
    tokens = sum(turn.tokens for turn in everything)
    return _handover(text, tokens, engine=found.engine, note=found.note, invented=invented)


def _offline(
    turns: Iterable[SegmentTurn], first: AgentText, max_tokens: int, *, only: str = ""
) -> Handover:
    """Some turns under a first line, those that a person marked first; `only`: one kind of line."""
    tokens = number = 0
    pinned, marked = list[str](), set[int]()

    def work() -> Iterator[SegmentTurn]:
        nonlocal tokens, number
        for turn in turns:
            tokens += turn.tokens
            if not _is_call_of_compaction(turn):
                if turn.priority is Priority.PINNED:
                    pinned.append(turn.text)
                if turn.priority in (Priority.PINNED, Priority.IMPORTANT):
                    marked.add(number)
                number += 1
                yield turn

    session = read_session(turn_events(work()))
    count = counter().count
    room = max_tokens - count(first) - 4
    while room > 0:
        body = as_markdown(write_session(session, room, count, pinned, marked, only=only))
        if not body:
            break
        text = joined([first, body], "\n\n")
        over = count(f"{text}\n") - max_tokens
        if over <= 0:
            return _handover(text, tokens)
        room -= over + 4
    return _handover(NOTHING, tokens)


ORDER = AgentText(
    "Keep all of this in the summary, in these words; say of each file and check whether it was "
    "written, tested and committed, and mark what was only proposed."
)


def _is_call_of_compaction(turn: SegmentTurn) -> bool:
    return turn.role == "user" and turn.kind == "text" and bool(_COMPACT.match(turn.text))


def _handover(text: AgentText, original: int, **more: Any) -> Handover:
    count = counter()
    return Handover("", text, count.count(text), original, count.name, **more)


def as_markdown(text: str) -> AgentText:
    """A summary with its titles as Markdown headings, and safe text."""
    lines: list[str] = []
    for line in text.split("\n"):
        if line in TITLES:
            lines += [""] * bool(lines) + [f"## {line[:-1]}", ""]
        else:
            lines.append(line)
    return for_agents.as_markdown("\n".join(lines))
