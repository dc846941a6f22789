"""Expands the markers of an applied summary, level by level, down to the originals."""

from __future__ import annotations

from reviewer.commits.summaries import stored_summaries
from reviewer.commits.values import Priority
from reviewer.compression.anchors import find_anchors
from reviewer.compression.context_snapshot import originals, read_chain, read_commits
from reviewer.compression.markers import expand, parse_markers
from reviewer.compression.segments import full_text, readable, speaker
from reviewer.compression.summarizer import Summarizer
from reviewer.compression.values import (
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
        for each in originals(database.query, read_chain(database.query, context))
        if each.turn.priority is not Priority.SKIP
    )


def expand_summary(database: Database, summarizer: Summarizer, commit: int, text: str) -> str:
    """The text of a summary commit with its markers expanded; `summarizer` writes intermediate
    levels.

    Raises UnknownIdError for a commit that is not a summary.
    """
    origins = [each.origin for each in read_commits(database.query, [commit])]
    stored = next(iter(stored_summaries(database.query, origins).values()), None)
    if stored is None:
        raise UnknownIdError(f"Commit #{commit} is not a summary.")
    sources = read_commits(database.query, stored.sources)
    turns = tuple(each.turn for each in sources)
    tokens = sum(turn.tokens for turn in turns)
    segment = readable(Segment(stored.key, turns, tokens, stored.topic))
    source = full_text(segment.turns)

    def expanded(level: Level, content: str) -> str:
        def nearer(marker: ExpansionMarker) -> str:
            if marker.target is Level.FULL:
                return whole()
            written = summarizer.expanded_text(segment, level, find_anchors(segment.turns))
            return expanded(marker.target, written)

        return expand(content, parse_markers(content, level, segment.id, source=source), nearer)

    def whole() -> str:
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

    found = expanded(Level(stored.level), text)
    return whole() if found == text else found  # tags have no markers
