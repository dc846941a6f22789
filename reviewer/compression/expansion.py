"""Expands the markers of an applied summary, level by level, down to the originals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
from msgspec import Struct

from reviewer.commits.values import Priority
from reviewer.compression.anchors import find_anchors
from reviewer.compression.context_snapshot import ChainCommit, read_chain, read_commits
from reviewer.compression.markers import expand, parse_markers
from reviewer.compression.segments import full_text, readable, speaker, title_of
from reviewer.compression.summarizer import Summarizer
from reviewer.compression.values import (
    PASSES,
    YOU,
    ExpansionMarker,
    Level,
    Segment,
    SegmentTurn,
)
from reviewer.errors import UnknownIdError
from reviewer.store.database import Database


def original_turns(database: Database, context: int) -> tuple[SegmentTurn, ...]:
    """A context before its summaries were written, without skipped commits."""
    return tuple(
        each.turn
        for each in _originals(database, read_chain(database.query, context))
        if each.turn.priority is not Priority.SKIP
    )


class AppliedSummary(Struct, frozen=True):
    """A summary in the chain beside its original: tokens and title of that, and the losses."""

    tokens_before: int
    title: str
    level: Level
    passes: bool
    loses: tuple[str, ...] = ()

    @property
    def shortens_the_person(self) -> bool:
        """Whether the summary lacks words of the person."""
        return any(line.startswith(f"{YOU}, turn") for line in self.loses)


def applied_summaries(database: Database, context: int) -> dict[int, AppliedSummary]:
    """The summaries in a chain, by commit."""
    rows = database.query(
        "SELECT c.id, s.key, s.topic, s.level, s.fidelity FROM commit_ c JOIN segment s"
        " ON s.commit_id = coalesce(c.origin_id, c.id)"
        " WHERE c.context_id = ? AND c.live = 1 AND c.operation = 'summary'",
        (context,),
    )
    found = {}
    for number, key, topic, level, stored in rows:
        commits = read_commits(database.query, [number])
        turns = tuple(each.turn for each in _originals(database, commits))
        tokens = sum(turn.tokens for turn in turns if turn.priority is not Priority.SKIP)
        title = title_of(Segment(key, turns, tokens, topic))
        fidelity = msgspec.json.decode(stored)
        well = fidelity["overall"] >= PASSES and not fidelity.get("orders")
        passes = fidelity.get("passes", well)  # older stores have none
        loses = tuple(fidelity.get("loses", ()))
        found[number] = AppliedSummary(tokens, title, Level(level), passes, loses)
    return found


def _originals(database: Database, commits: Sequence[ChainCommit]) -> Iterator[ChainCommit]:
    for each in commits:
        row = None
        if each.operation == "summary":
            row = database.first("SELECT sources FROM segment WHERE commit_id = ?", (each.origin,))
        if row is None:
            yield each
        else:
            behind = msgspec.json.decode(row[0], type=list[int])
            yield from _originals(database, read_commits(database.query, behind))


def expand_summary(database: Database, summarizer: Summarizer, commit: int, text: str) -> str:
    """The text of a summary commit with its markers expanded; `summarizer` writes intermediate
    levels.

    Raises UnknownIdError for a commit that is not a summary.
    """
    row = database.first(
        "SELECT s.key, s.level, s.topic, s.sources FROM commit_ c JOIN segment s"
        " ON s.commit_id = coalesce(c.origin_id, c.id) WHERE c.id = ?",
        (commit,),
    )
    if row is None:
        raise UnknownIdError(f"Commit #{commit} is not a summary.")
    key, number, topic, stored = row
    sources = read_commits(database.query, msgspec.json.decode(stored, type=list[int]))
    turns = tuple(each.turn for each in sources)
    tokens = sum(turn.tokens for turn in turns)
    segment = readable(Segment(key, turns, tokens, topic))
    source = full_text(segment.turns)

    def expanded(level: Level, content: str) -> str:
        def nearer(marker: ExpansionMarker) -> str:
            if marker.target is Level.FULL:
                return originals()
            written = summarizer.expanded_text(segment, level, find_anchors(segment.turns))
            return expanded(marker.target, written)

        return expand(content, parse_markers(content, level, segment.id, source=source), nearer)

    def originals() -> str:
        summaries = {each.id for each in sources if each.operation == "summary"}
        return "\n\n".join(
            f"{speaker(turn)}: "
            + (
                expand_summary(database, summarizer, turn.commit, turn.text)
                if turn.commit in summaries
                else turn.text
            )
            for turn in segment.turns
            if turn.text.strip()
        )

    found = expanded(Level(number), text)
    return originals() if found == text else found  # tags have no markers
