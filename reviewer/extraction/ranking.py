"""Which candidates a person sees first: confidence x length x novelty, weighed and varied.

The product and the cap of 50 are those of `promotion-rules.md` (Triggers, batch size rule);
length = min(characters / 280, 1) as settled.md says.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable

from msgspec import Struct

from reviewer.extraction.candidates import Candidate
from reviewer.extraction.clusters import NEAR, overlap, similarity, words
from reviewer.extraction.salience import Salience
from reviewer.extraction.screens import LONGEST
from reviewer.text.normalise import duplicate_key

CAP = 50
"""Most candidates that one pass may add to the queue."""


class Ranking(Struct, frozen=True):
    """One row: a candidate, how often it was seen in this pass, and what stands beneath it.

    `also` are the same statement elsewhere (same type and duplicate key): more evidence for one
    row. `members` are near-duplicates: rows of their own, shown under this one.
    """

    candidate: Candidate
    score: float
    novelty: float
    seen: int = 1
    also: tuple[Candidate, ...] = ()
    members: tuple[Ranking, ...] = ()


class Ranked(Struct, frozen=True):
    """`kept`, best first, at most `cap` candidates with their members; the others `over_cap`.

    `repeated` counts exact duplicates that were merged.
    """

    kept: tuple[Ranking, ...]
    over_cap: tuple[Ranking, ...]
    repeated: int


def length_factor(content: str) -> float:
    """min(characters / 280, 1)."""
    return min(len(content) / LONGEST, 1.0)


def base_score(candidate: Candidate) -> float:
    """Confidence x length x weight: what the rank would be if everything were new."""
    return candidate.confidence * length_factor(candidate.content) * candidate.weight


def rank(
    candidates: Iterable[Candidate],
    *,
    novelty: Callable[[Candidate], float] | None = None,
    cap: int = CAP,
) -> Ranked:
    """Merge exact repeats, order by score, gather near-duplicates under the better one, cut at cap.

    `novelty` (0 to 1; 1 = nothing like it is known) may be expensive: since it can only lower a
    score, it is asked only for candidates that could still reach the top.
    """
    merged: dict[tuple[str, str, str], list[Candidate]] = {}
    for candidate in candidates:
        kind = type(candidate).__name__  # an entity and a memory may bear the same type
        key = (kind, str(candidate.type), duplicate_key(candidate.content))
        merged.setdefault(key, []).append(candidate)
    rows = [_Row(same, order) for order, same in enumerate(merged.values())]
    repeated = sum(len(same) - 1 for same in merged.values())
    kept, rest = _choose(rows, novelty, cap)
    return Ranked(
        tuple(_ranking(row) for row in kept),
        tuple(_ranking(row) for row in sorted(rest, key=lambda row: (-row.score, row.order))),
        repeated,
    )


class _Row:
    """A candidate on its way up; `score` is an upper bound until it has met all those kept."""

    __slots__ = ("also", "best", "members", "met", "novelty", "order", "score", "value", "words")

    def __init__(self, same: list[Candidate], order: int) -> None:
        self.best = max(same, key=base_score)
        self.also = tuple(other for other in same if other is not self.best)
        self.order = order
        self.value = self.score = base_score(self.best)
        self.novelty: float | None = None
        self.met = 0
        self.words = words(self.best.content)
        self.members: list[_Row] = []


def _choose(
    rows: list[_Row], novelty: Callable[[Candidate], float] | None, cap: int
) -> tuple[list[_Row], list[_Row]]:
    subjects = _subjects(rows)
    for row in rows:
        row.score = row.value * subjects[row.best.record.session].of(row.words)
    heap = [(-row.score, row.order, row) for row in rows]
    heapq.heapify(heap)
    kept: list[_Row] = []
    count = 0
    while heap and count < cap:
        _, _, row = heapq.heappop(heap)
        subject = subjects[row.best.record.session]
        if row.novelty is None:
            row.novelty = 1.0 if novelty is None else min(max(novelty(row.best), 0.0), 1.0)
            row.value *= row.novelty
        lead = _leader(row, kept)
        row.score = row.value * subject.of(row.words)
        if lead is None and heap and -row.score > heap[0][0]:
            heapq.heappush(heap, (-row.score, row.order, row))
            continue
        count += 1
        if lead is not None:
            lead.members.append(row)
        else:
            kept.append(row)
            subject.use(row.words)
    return kept, [row for _, _, row in heap]


def _subjects(rows: list[_Row]) -> dict[str | None, Salience]:
    texts: dict[str | None, list[frozenset[str]]] = {}
    for row in rows:
        texts.setdefault(row.best.record.session, []).append(row.words)
    return {session: Salience(some) for session, some in texts.items()}


def _leader(row: _Row, kept: list[_Row]) -> _Row | None:
    """The kept row that this one nearly repeats, among those kept since it was last looked at."""
    for other in kept[row.met :]:
        if (
            overlap(row.words, other.words) >= NEAR / 2
            and similarity(row.best.content, other.best.content) >= NEAR
        ):
            return other
    row.met = len(kept)
    return None


def _ranking(row: _Row) -> Ranking:
    return Ranking(
        candidate=row.best,
        score=row.score,
        novelty=1.0 if row.novelty is None else row.novelty,
        seen=1 + len(row.also),
        also=row.also,
        members=tuple(_ranking(member) for member in row.members),
    )
