"""Candidate order: confidence x length x novelty."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable

from msgspec import Struct

from reviewer.extraction.candidates import Candidate
from reviewer.extraction.rules import LONGEST_STATEMENT
from reviewer.extraction.similarity import NEAR, similarity
from reviewer.text.normalise import duplicate_key

CAP = 50
"""Maximum number of candidates that one pass may add to the queue."""


class Ranking(Struct, frozen=True):
    """One row: a candidate, and how often this pass found it.

    `also`: the same statement elsewhere (same type and duplicate key), as further evidence.
    `leader`: position of the row that it nearly repeats, which is shown first.
    """

    candidate: Candidate
    score: float
    novelty: float = 1.0
    also: tuple[Candidate, ...] = ()
    leader: int | None = None

    @property
    def seen(self) -> int:
        return 1 + len(self.also)


class Ranked(Struct, frozen=True):
    """`kept`, best first, near-duplicates behind their leader, at most `cap`; the rest `over_cap`.

    `repeated` counts exact duplicates that were merged.
    """

    kept: tuple[Ranking, ...]
    over_cap: tuple[Ranking, ...]
    repeated: int


def base_score(candidate: Candidate) -> float:
    """Confidence x length: the score at full novelty."""
    return candidate.confidence * min(len(candidate.content) / LONGEST_STATEMENT, 1.0)


def rank(
    candidates: Iterable[Candidate],
    *,
    novelty: Callable[[Candidate], float] | None = None,
    cap: int = CAP,
) -> Ranked:
    """Merge exact duplicates, order by score, group near-duplicates under the better one, cut at
    cap.

    `novelty` (0 to 1; 1 without a similar memory) may be expensive. It can only lower a score, so
    it is called only for candidates that could still reach the top.
    """
    merged: dict[tuple[str, str, str], list[Candidate]] = {}
    for candidate in candidates:
        kind = type(candidate).__name__  # an entity and a memory may share a type name
        key = (kind, str(candidate.type), duplicate_key(candidate.content))
        merged.setdefault(key, []).append(candidate)
    rows = [_Row(same, order) for order, same in enumerate(merged.values())]
    heap = [(-row.score, row.order, row) for row in rows]
    heapq.heapify(heap)
    kept: list[_Row] = []
    count = 0
    while heap and count < cap:
        _, _, row = heapq.heappop(heap)
        if row.novelty is None:
            row.novelty = 1.0 if novelty is None else min(max(novelty(row.best), 0.0), 1.0)
        leader = row.compare(kept)
        row.score = base_score(row.best) * row.novelty
        if leader is not None:
            leader.members.append(row)
        elif heap and -row.score > heap[0][0]:
            heapq.heappush(heap, (-row.score, row.order, row))
            continue
        else:
            kept.append(row)
        count += 1
    flat: list[Ranking] = []
    for row in kept:
        place = len(flat)
        flat += (row.ranking(), *(member.ranking(place) for member in row.members))
    rest = sorted((row for _, _, row in heap), key=lambda row: (-row.score, row.order))
    repeated = sum(len(row.also) for row in rows)
    return Ranked(tuple(flat), tuple(row.ranking() for row in rest), repeated)


class _Row:
    """A candidate in ranking; `score` is an upper bound until compared with all kept rows."""

    def __init__(self, same: list[Candidate], order: int) -> None:
        self.best = max(same, key=base_score)
        self.also = tuple(other for other in same if other is not self.best)
        self.order = order
        self.score = base_score(self.best)
        self.novelty: float | None = None
        self.members: list[_Row] = []
        self._compared = 0

    def compare(self, kept: list[_Row]) -> _Row | None:
        """The kept row that this one nearly repeats; mere look-alikes reduce novelty."""
        assert self.novelty is not None
        for other in kept[self._compared :]:
            alike = similarity(self.best.content, other.best.content)
            if alike >= NEAR:
                return other
            self.novelty = min(self.novelty, 1.0 - alike)
        self._compared = len(kept)
        return None

    def ranking(self, leader: int | None = None) -> Ranking:
        novelty = 1.0 if self.novelty is None else self.novelty
        return Ranking(self.best, self.score, novelty, self.also, leader)
