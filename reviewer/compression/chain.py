"""A context's chain as the turns of segments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct, structs

from reviewer.commits import retention
from reviewer.commits.reading import ORIGIN, PRIORITY, joined
from reviewer.commits.values import Priority
from reviewer.compression.spans import find_verbatim
from reviewer.compression.values import AnchorPoint, AnchorType, Said, Segment, Turn
from reviewer.store.ledger import chunks

Query = Callable[[str, Sequence[Any]], Sequence[Any]]
"""Runs SQL and returns rows: of a reader, or inside an act."""

SAID: Mapping[str, Said] = {
    "reasoning": "thinking",
    "tool_call": "tool_use",
    "tool_result": "tool_result",
}
"""How the commits of a type were said; text for every other."""

PINNED_SPAN = 2
"""`anchor.confirmed` of a span that a person pinned; 1 is one that they confirmed."""

_CHAIN = (
    f"SELECT c.id, {ORIGIN} AS origin, c.hash, c.operation, c.role, c.type, c.name, c.at,"
    f" {PRIORITY} AS priority, n.retention_json, t.text, t.tokens, c.content_id,"
    " (SELECT sha256 FROM content WHERE id = c.content_id), c.source_line, c.meta, c.position"
    f" FROM {joined()} WHERE"
)


class ChainCommit(Struct, frozen=True, gc=False):
    """A commit as a compression needs it: what holds of it, and what repeating it takes."""

    id: int
    origin: int
    hash: str
    operation: str
    type: str
    turn: Turn
    content_id: int
    content_hash: str
    """Of the text as it was committed, before edits."""
    source_line: int | None
    meta: str
    position: int


def read_chain(query: Query, context: int) -> tuple[ChainCommit, ...]:
    """The commits of a context as its chain stands, in order, SKIP included."""
    rows = query(f"{_CHAIN} c.context_id = ? AND c.live = 1 ORDER BY c.position", (context,))
    return tuple(_commit(row) for row in rows)


def read_commits(query: Query, ids: Sequence[int]) -> tuple[ChainCommit, ...]:
    """Commits by id, in that order, as they read now; those that are gone are left out."""
    found: dict[int, ChainCommit] = {}
    for chunk in chunks(list(ids)):
        marks = ",".join("?" * len(chunk))
        for row in query(f"{_CHAIN} c.id IN ({marks})", chunk):
            found[row[0]] = _commit(row)
    return tuple(found[each] for each in ids if each in found)


def _commit(row: Sequence[Any]) -> ChainCommit:
    turn = Turn(
        role=row[4],
        text=row[10],
        tokens=row[11],
        said=SAID.get(row[5], "text"),
        name=row[6],
        at=row[7],
        commit=row[0],
        priority=Priority(row[8]),
        retention=retention.from_json(row[9]),
    )
    return ChainCommit(
        row[0], row[1], row[2], row[3], row[5], turn, row[12], row[13], row[14], row[15], row[16]
    )


class Mark(Struct, frozen=True, gc=False):
    """A span that a person or an earlier compression wants kept, of a commit by its origin."""

    origin: int
    type: AnchorType
    content: str
    start: int
    source: Literal["detected", "confirmed", "pinned", "retained"]
    importance: float = 1.0


def read_marks(query: Query, chain: Sequence[ChainCommit]) -> dict[int, list[Mark]]:
    """What people marked in these commits, and the anchors of those that are summaries.

    By the commit that keeps what was said about it.
    """
    found: dict[int, list[Mark]] = {}
    for chunk in chunks(sorted({commit.origin for commit in chain})):
        marks = ",".join("?" * len(chunk))
        for origin, kind, content, start, confirmed in query(
            "SELECT commit_id, type, content, span_start, confirmed FROM anchor"
            f" WHERE commit_id IN ({marks}) AND confirmed > 0 ORDER BY id",
            chunk,
        ):
            source: Literal["pinned", "confirmed"] = (
                "pinned" if confirmed == PINNED_SPAN else "confirmed"
            )
            mark = Mark(origin, AnchorType(kind), content, start, source)
            found.setdefault(origin, []).append(mark)
    summaries = [commit.origin for commit in chain if commit.operation == "summary"]
    for chunk in chunks(summaries):
        marks = ",".join("?" * len(chunk))
        for origin, stored in query(
            f"SELECT commit_id, anchors FROM segment WHERE commit_id IN ({marks})", chunk
        ):
            found.setdefault(origin, []).extend(
                Mark(origin, each.type, each.content, each.start, each.source, each.importance)
                for each in msgspec.json.decode(stored, type=tuple[AnchorPoint, ...])
                if each.source == "detected"
            )
    return found


def place_marks(
    segment: Segment, origins: Mapping[int, int], marks: Mapping[int, Sequence[Mark]]
) -> list[AnchorPoint]:
    """The marks of a segment's turns as anchors; what an edit took out of a text is left out.

    `origins`: commit id -> the commit that keeps what was said about it, and has the marks.
    """
    placed = []
    for number, turn in enumerate(segment.turns):
        origin = None if turn.commit is None else origins.get(turn.commit)
        for mark in () if origin is None else marks.get(origin, ()):
            end = mark.start + len(mark.content)
            span = (
                (mark.start, end)
                if turn.text[mark.start : end] == mark.content
                else find_verbatim(turn.text, mark.content)
            )
            if span is not None:
                placed.append(
                    AnchorPoint(
                        mark.type,
                        turn.text[slice(*span)],
                        mark.importance,
                        number,
                        *span,
                        mark.source,
                    )
                )
    return placed


def moved(anchor: AnchorPoint, content: str) -> AnchorPoint | None:
    """An anchor at its place in a summary, where it stands there verbatim."""
    span = find_verbatim(content, anchor.content)
    if span is None:
        return None
    return structs.replace(
        anchor, content=content[slice(*span)], turn=0, start=span[0], end=span[1]
    )
