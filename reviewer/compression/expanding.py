"""What the markers of summaries open: one level closer to Full, down to the originals."""

from __future__ import annotations

import msgspec

from reviewer.commits.reading import Reader
from reviewer.compression.anchors import find_anchors
from reviewer.compression.chain import read_commits
from reviewer.compression.full_text import full_text, readable, speaker
from reviewer.compression.levels import Summarizer
from reviewer.compression.markers import expand, parse_markers
from reviewer.compression.values import AnchorPoint, ExpansionMarker, Level, Segment
from reviewer.errors import UnknownIdError


class Expansions:
    """Reads summaries that were applied, and opens them."""

    def __init__(self, reader: Reader, summarizer: Summarizer) -> None:
        self._reader = reader
        self._summarizer = summarizer

    def segment(self, commit: int) -> tuple[Segment, Level]:
        """The segment that a summary commit stands for, and at which level.

        Raises UnknownIdError for a commit that is no summary.
        """
        row = self._reader.one(
            "SELECT s.key, s.level, s.topic, s.sources, x.name FROM commit_ c JOIN segment s"
            " ON s.commit_id = coalesce(c.origin_id, c.id) JOIN context x ON x.id = c.context_id"
            " WHERE c.id = ?",
            (commit,),
        )
        if row is None:
            raise UnknownIdError(f"Commit #{commit} is no summary.")
        sources = read_commits(self._reader.all, msgspec.json.decode(row[3], type=list[int]))
        turns = tuple(each.turn for each in sources)
        tokens = sum(turn.tokens for turn in turns)
        return readable(Segment(row[0], turns, tokens, row[2], row[4])), Level(row[1])

    def markers(self, commit: int, text: str) -> tuple[ExpansionMarker, ...]:
        """The markers in a summary's text that open something, with what each adds."""
        segment, level = self.segment(commit)
        found = self._summarizer.judge(segment, self._anchors(segment), level, text)
        return found.expansion_markers

    def open(self, commit: int, level: Level | None = None) -> str:
        """The segment of a summary, one level closer to Full than `level` (default: its own)."""
        segment, own = self.segment(commit)
        return self._summarizer.closer_text(
            segment, own if level is None else level, self._anchors(segment)
        )

    def whole(self, commit: int, text: str) -> str:
        """A summary's text with every marker opened, again and again, down to the originals."""
        segment, level = self.segment(commit)
        return self._opened(segment, level, text)

    def _opened(self, segment: Segment, level: Level, text: str) -> str:
        source = full_text(segment.turns)
        markers = parse_markers(text, level, segment.id, source=source)
        if not markers:
            return text

        def closer(marker: ExpansionMarker) -> str:
            if marker.target is Level.FULL:
                return self._originals(segment)
            nearer = self._summarizer.closer_text(segment, level, self._anchors(segment))
            return self._opened(segment, marker.target, nearer)

        return expand(text, markers, closer)

    def _originals(self, segment: Segment) -> str:
        """The full text, summaries of earlier compressions in it opened as well."""
        numbers = [turn.commit for turn in segment.turns if turn.commit is not None]
        commits = {each.id: each for each in read_commits(self._reader.all, numbers)}
        parts = []
        for turn in segment.turns:
            if not turn.text.strip():
                continue
            earlier = commits.get(turn.commit or 0)
            text = turn.text
            if earlier is not None and earlier.operation == "summary":
                text = self.whole(earlier.id, text)
            parts.append(f"{speaker(turn)}: {text}")
        return "\n\n".join(parts)

    def _anchors(self, segment: Segment) -> tuple[AnchorPoint, ...]:
        return find_anchors(segment.turns)
