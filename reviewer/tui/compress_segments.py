"""The segments of a context, or of a range of it, with a cursor among them."""

from __future__ import annotations

from collections.abc import Sequence

from reviewer.compressing import Segment


class Segments:
    """Segments by place and by id; `cursor` is the place of one, 0 when there is none."""

    def __init__(self) -> None:
        self.segments: tuple[Segment, ...] = ()
        self.cursor = 0
        self._places: dict[str, int] = {}

    def show(self, segments: Sequence[Segment]) -> None:
        """Take other segments; the cursor stays at its place."""
        self.segments = tuple(segments)
        self._places = {each.id: at for at, each in enumerate(self.segments)}

    def segment(self, segment: str) -> Segment | None:
        """A segment by its id."""
        at = self._places.get(segment)
        return None if at is None else self.segments[at]

    def at(self, segment: str) -> int | None:
        """The place of a segment."""
        return self._places.get(segment)

    @property
    def current(self) -> Segment | None:
        """The segment under the cursor."""
        return self.segments[self.cursor] if self.cursor < len(self.segments) else None

    def go_to_commit(self, commit: int | None) -> None:
        """Put the cursor on the segment of a commit, or leave it where it is."""
        at = next(
            (
                at
                for at, segment in enumerate(self.segments)
                if commit is not None and any(turn.commit == commit for turn in segment.turns)
            ),
            self.cursor,
        )
        self.cursor = max(0, min(at, len(self.segments) - 1))
