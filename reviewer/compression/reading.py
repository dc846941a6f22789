"""A context read once for everything a person asks about it: chain, segments, anchors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import overload

from reviewer.commits.values import Priority, RetentionCriteria
from reviewer.compression.anchors import find_anchors
from reviewer.compression.chain import ChainCommit, Query, place_marks, read_chain, read_marks
from reviewer.compression.full_text import readable
from reviewer.compression.pattern_places import first_place
from reviewer.compression.plan import Choice, sources
from reviewer.compression.segments import cut_segments
from reviewer.compression.values import AnchorPoint, Segment
from reviewer.errors import ReviewerError, UnknownIdError

KnownAnchors = dict[int, tuple[AnchorPoint, ...]]
"""Anchors by the hash of all that they are found in, so that the texts need not be kept for it."""


class LazyAnchors(Sequence[tuple[AnchorPoint, ...]]):
    """The anchors of each segment: one segment of a long context is looked at without the rest."""

    def __init__(self, find: Callable[[int], tuple[AnchorPoint, ...]], length: int) -> None:
        self._find = find
        self._found: list[tuple[AnchorPoint, ...] | None] = [None] * length

    def __len__(self) -> int:
        return len(self._found)

    @overload
    def __getitem__(self, number: int) -> tuple[AnchorPoint, ...]: ...

    @overload
    def __getitem__(self, number: slice) -> Sequence[tuple[AnchorPoint, ...]]: ...

    def __getitem__(
        self, number: int | slice
    ) -> tuple[AnchorPoint, ...] | Sequence[tuple[AnchorPoint, ...]]:
        if isinstance(number, slice):
            return [self[each] for each in range(*number.indices(len(self)))]
        found = self._found[number]
        if found is None:
            found = self._found[number] = self._find(range(len(self))[number])
        return found


class ContextReading:
    """A chain and the segments of a range of it. `range_`: ids of its first and last commit."""

    def __init__(
        self,
        context: int,
        head: str | None,
        chain: Sequence[ChainCommit],
        query: Query,
        *,
        name: str = "",
        range_: tuple[int | None, int | None] = (None, None),
        retention: RetentionCriteria | None = None,
        known: KnownAnchors | None = None,
    ) -> None:
        """`known`: anchors that earlier readings found, to be looked up and added to."""
        self.context = context
        self.head = head
        self.chain = tuple(chain)
        self._marks = read_marks(query, self.chain)
        self._retention = retention
        self._known = {} if known is None else known
        first, last = bounds(self.chain, *range_)
        turns = [commit.turn for commit in self.chain[first:last]]
        cut = cut_segments(turns, conversation=name, first=next_key(query, context))
        self.segments: tuple[Segment, ...] = tuple(readable(segment) for segment in cut)
        self._places = {segment.id: place for place, segment in enumerate(self.segments)}
        self._origins = {commit.id: commit.origin for commit in self.chain}

    @cached_property
    def anchors(self) -> Sequence[tuple[AnchorPoint, ...]]:
        """The anchors of every segment, found when they are first asked for."""
        return LazyAnchors(self._anchors_of, len(self.segments))

    def _anchors_of(self, number: int) -> tuple[AnchorPoint, ...]:
        segment = self.segments[number]
        marked = tuple(place_marks(segment, self._origins, self._marks))
        key = hash((segment.turns, marked, self._retention))
        found = self._known.get(key)
        if found is None:
            found = find_anchors(segment.turns, marked=marked, retention=self._retention)
            self._known[key] = found
        return found

    @cached_property
    def tokens(self) -> int:
        """Tokens of the chain as it is compiled."""
        return sum(c.turn.tokens for c in self.chain if c.turn.priority is not Priority.SKIP)

    @property
    def fixed(self) -> int:
        """Tokens that stand outside all segments: pins, and what is outside the range."""
        return self.tokens - sum(segment.tokens for segment in self.segments)

    def holds(self, choice: Choice) -> bool:
        """Whether the segment of a choice still is of the commits that were chosen for."""
        place = self._places.get(choice.segment)
        return place is not None and sources(self.segments[place]) == choice.sources

    def number_of(self, segment: str) -> int:
        """The place of a segment by its id. Raises UnknownIdError."""
        place = self._places.get(segment)
        if place is None:
            raise UnknownIdError(
                f'There is no segment "{segment}" in this context; it may have changed meanwhile.'
            )
        return place


def bounds(chain: Sequence[ChainCommit], start: int | None, end: int | None) -> tuple[int, int]:
    """The half-open range of places from one commit to another, both included.

    Raises UnknownIdError for a commit that is not in the chain, or a range the wrong way round.
    """
    places = {commit.id: place for place, commit in enumerate(chain)}
    for wanted in (start, end):
        if wanted is not None and wanted not in places:
            raise UnknownIdError(
                f"Commit #{wanted} is not in the chain as it stands. "
                "See: reviewer commit list CONTEXT"
            )
    first = 0 if start is None else places[start]
    last = len(chain) if end is None else places[end] + 1
    if first >= last and chain:
        raise UnknownIdError("The range ends before it begins; give --from and --to in order.")
    return first, last


def next_key(query: Query, context: int) -> int:
    """The number of the first segment id that no summary of the context has."""
    rows = query(
        "SELECT coalesce(max(CAST(substr(s.key, 2) AS INTEGER)), 0) FROM segment s"
        " JOIN compression x ON x.id = s.compression_id WHERE x.context_id = ?",
        (context,),
    )
    return int(rows[0][0]) + 1


def read_context(
    query: Query,
    context: int,
    *,
    name: str = "",
    range_: tuple[int | None, int | None] = (None, None),
    retention: RetentionCriteria | None = None,
    known: KnownAnchors | None = None,
    chain: Sequence[ChainCommit] | None = None,
) -> ContextReading:
    """The context as it stands now; `chain` is its chain where it was read already."""
    heads = query(
        "SELECT h.hash FROM context x LEFT JOIN commit_ h ON h.id = x.head_id WHERE x.id = ?",
        (context,),
    )
    if not heads:
        raise UnknownIdError(f"There is no context #{context}. See: reviewer context list")
    return ContextReading(
        context,
        heads[0][0],
        read_chain(query, context) if chain is None else chain,
        query,
        name=name,
        range_=range_,
        retention=retention,
        known=known,
    )


def require_segments(read: ContextReading) -> None:
    """Raise ReviewerError where there is nothing to compress."""
    if not read.segments:
        raise ReviewerError(
            "There is nothing to compress: the range is empty or holds only pinned commits."
            if read.chain
            else "There is nothing to compress: the context is empty."
        )


def require_matches(read: ContextReading, retention: RetentionCriteria) -> None:
    """Raise ReviewerError for a pattern of a call that nothing in the range matches."""
    for pattern in retention.patterns:
        turns = (turn for segment in read.segments for turn in segment.turns)
        if not any(first_place(pattern, turn.text) for turn in turns):
            raise ReviewerError(
                f'The {pattern.mode} "{pattern.text}" matches nothing in the range, so no summary '
                "can retain it. Correct it, or choose another range."
            )
