"""Candidate order: confidence x length x novelty."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct

from reviewer.extraction.candidates import Candidate
from reviewer.extraction.rules import LONGEST_STATEMENT
from reviewer.text.wording import Words, wording_key

CAP = 50
"""Maximum number of candidates that one pass may add to the queue."""


class Ranking(Struct, frozen=True):
    """One row: a candidate, and how often this pass found it.

    `also`: the same statement elsewhere (same type and wording), as further evidence.
    """

    candidate: Candidate
    score: float
    also: tuple[Candidate, ...] = ()

    @property
    def seen(self) -> int:
        return 1 + len(self.also)


def base_score(candidate: Candidate) -> float:
    """Confidence x length: the score at full novelty."""
    return candidate.confidence * min(len(candidate.content) / LONGEST_STATEMENT, 1.0)


def best_first(
    candidates: Iterable[Candidate], novelty: Callable[[Candidate], float] = lambda _: 1.0
) -> Iterator[Ranking]:
    """The candidates in the order of their scores, those with the same type and wording as one.

    `novelty` (0 to 1; 1 without a similar memory) can only lower a score, so it is called only for
    candidates that may come next, each time.
    """
    same: dict[tuple[str, str, Words], list[Candidate]] = {}
    for candidate in candidates:
        kind = type(candidate).__name__  # an entity and a memory may share a type name
        key = (kind, str(candidate.type), wording_key(candidate.content))
        same.setdefault(key, []).append(candidate)
    rows = list(same.values())
    for row in rows:
        row.sort(key=base_score, reverse=True)
    heap = [(-base_score(row[0]), number) for number, row in enumerate(rows)]
    heapq.heapify(heap)
    while heap:
        _, number = heapq.heappop(heap)
        best, *also = rows[number]
        score = base_score(best) * novelty(best)
        if heap and -score > heap[0][0]:
            heapq.heappush(heap, (-score, number))
        else:
            yield Ranking(best, score, tuple(also))
