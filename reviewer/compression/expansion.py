"""Expands the markers of applied summaries, one level at a time, down to the originals."""

from __future__ import annotations

import msgspec

from reviewer.commits.reading import Reader
from reviewer.compression.anchors import find_anchors
from reviewer.compression.context_snapshot import read_commits
from reviewer.compression.markers import expand, parse_markers
from reviewer.compression.segments import full_text, readable, speaker
from reviewer.compression.summarizer import Summarizer
from reviewer.compression.values import ExpansionMarker, Level, Segment
from reviewer.errors import UnknownIdError


class Expansions:
    """Expands summaries that were applied."""

    def __init__(self, reader: Reader, summarizer: Summarizer) -> None:
        self._reader = reader
        self._summarizer = summarizer

    def segment(self, commit: int) -> tuple[Segment, Level]:
        """The segment that a summary commit replaced, and the level of the summary.

        Raises UnknownIdError for a commit that is not a summary.
        """
        row = self._reader.one(
            "SELECT s.key, s.level, s.topic, s.sources, x.name FROM commit_ c JOIN segment s"
            " ON s.commit_id = coalesce(c.origin_id, c.id) JOIN context x ON x.id = c.context_id"
            " WHERE c.id = ?",
            (commit,),
        )
        if row is None:
            raise UnknownIdError(f"Commit #{commit} is not a summary.")
        sources = read_commits(self._reader.all, msgspec.json.decode(row[3], type=list[int]))
        turns = tuple(each.turn for each in sources)
        tokens = sum(turn.tokens for turn in turns)
        return readable(Segment(row[0], turns, tokens, row[2], row[4])), Level(row[1])

    def markers(self, commit: int, text: str) -> tuple[ExpansionMarker, ...]:
        """The markers in a summary's text that can be expanded."""
        segment, level = self.segment(commit)
        found = self._summarizer.from_text(segment, find_anchors(segment.turns), level, text)
        return found.expansion_markers

    def expand_once(self, commit: int, level: Level | None = None) -> str:
        """The segment of a summary, one level nearer to Full than `level` (default: its own)."""
        segment, own = self.segment(commit)
        return self._summarizer.expanded_text(
            segment, own if level is None else level, find_anchors(segment.turns)
        )

    def expand_all(self, commit: int, text: str) -> str:
        """A summary's text with every marker expanded, recursively, down to the originals."""
        segment, level = self.segment(commit)
        return self._expanded(segment, level, text)

    def _expanded(self, segment: Segment, level: Level, text: str) -> str:
        source = full_text(segment.turns)
        markers = parse_markers(text, level, segment.id, source=source)
        if not markers:
            return text

        def closer(marker: ExpansionMarker) -> str:
            if marker.target is Level.FULL:
                return self._originals(segment)
            nearer = self._summarizer.expanded_text(segment, level, find_anchors(segment.turns))
            return self._expanded(segment, marker.target, nearer)

        return expand(text, markers, closer)

    def _originals(self, segment: Segment) -> str:
        """The full text, with summaries of earlier compressions in it expanded too."""
        numbers = [turn.commit for turn in segment.turns if turn.commit is not None]
        commits = {each.id: each for each in read_commits(self._reader.all, numbers)}
        parts = []
        for turn in segment.turns:
            if not turn.text.strip():
                continue
            earlier = commits.get(turn.commit or 0)
            text = turn.text
            if earlier is not None and earlier.operation == "summary":
                text = self.expand_all(earlier.id, text)
            parts.append(f"{speaker(turn)}: {text}")
        return "\n\n".join(parts)
