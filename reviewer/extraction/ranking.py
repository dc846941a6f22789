"""The order of candidates: confidence x length x novelty x weight x salience."""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Callable, Iterable

from msgspec import Struct

from reviewer.extraction.candidates import Candidate
from reviewer.extraction.rejections import LONGEST_STATEMENT
from reviewer.extraction.similarity import LOOKS_ALIKE, NEAR, overlap, similarity, words
from reviewer.text.normalise import duplicate_key

CAP = 50
"""Maximum number of candidates that one pass may add to the queue."""
FLOOR = 0.2
"""Salience of a statement whose words occur nowhere else: a single mention may still matter."""
DECAY = 0.85
"""Factor on a word's value after each use."""


class Ranking(Struct, frozen=True):
    """One row: a candidate, and how often this pass found it.

    `also`: the same statement elsewhere (same type and duplicate key), as further evidence.
    `members`: near-duplicates, which are rows of their own, shown under this one.
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
    return min(len(content) / LONGEST_STATEMENT, 1.0)


def base_score(candidate: Candidate) -> float:
    """Confidence x length x weight: the score if everything were new."""
    return candidate.confidence * length_factor(candidate.content) * candidate.weight


def rank(
    candidates: Iterable[Candidate],
    *,
    novelty: Callable[[Candidate], float] | None = None,
    cap: int = CAP,
) -> Ranked:
    """Merge exact repeats, order by score, gather near-duplicates under the better one, cut at cap.

    `novelty` (0 to 1; 1 if there is no similar memory) may be expensive. It can only lower a score,
    so it is called only for candidates that could still reach the top.
    """
    merged: dict[tuple[str, str, str], list[Candidate]] = {}
    for candidate in candidates:
        kind = type(candidate).__name__  # an entity and a memory may have the same type
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
    """A candidate in ranking; `score` is an upper bound until it is compared with all kept rows."""

    __slots__ = (
        "alike", "also", "best", "members", "met", "novelty", "order", "score", "value", "words",
    )  # fmt: skip

    def __init__(self, same: list[Candidate], order: int) -> None:
        self.best = max(same, key=base_score)
        self.also = tuple(other for other in same if other is not self.best)
        self.order = order
        self.value = self.score = base_score(self.best)
        self.novelty: float | None = None
        self.alike = 0.0
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
        row.score = row.value * (1 - row.alike) * subject.of(row.words)
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


class _Salience:
    """How much the words of a statement say about its session's subject.

    Words that recur in the proposals of a session are worth more. A word is worth less each time a
    statement ranked before has used it, so that the first rows cover different subjects (the greedy
    coverage of extractive summaries).
    """

    def __init__(self, texts: Iterable[frozenset[str]]) -> None:
        counts: Counter[str] = Counter()
        number = 0
        for some in texts:
            counts.update(some)
            number += 1
        scale = math.log(max(number, 2))
        self._value = {word: math.log(count) / scale for word, count in counts.items()}
        self._used: Counter[str] = Counter()

    def of(self, some: frozenset[str]) -> float:
        """Salience of a statement with these words, FLOOR to 1; `use` can only lower it."""
        if not some:
            return FLOOR
        total = math.fsum(self._value[word] * DECAY ** self._used[word] for word in some)
        return FLOOR + (1 - FLOOR) * min(total / len(some), 1.0)

    def use(self, some: frozenset[str]) -> None:
        """Record that a statement with these words was ranked."""
        self._used.update(some)


def _subjects(rows: list[_Row]) -> dict[str | None, _Salience]:
    texts: dict[str | None, list[frozenset[str]]] = {}
    for row in rows:
        texts.setdefault(row.best.record.session, []).append(row.words)
    return {session: _Salience(some) for session, some in texts.items()}


def _leader(row: _Row, kept: list[_Row]) -> _Row | None:
    """The kept row that this one nearly repeats, among the rows kept since the last comparison.

    A row that only looks like a kept one is another fact, and as little news as one that looks like
    a memory of the project.
    """
    for other in kept[row.met :]:
        if overlap(row.words, other.words) >= NEAR / 2:
            score = similarity(row.best.content, other.best.content)
            if score >= NEAR:
                return other
            if score >= LOOKS_ALIKE:
                row.alike = max(row.alike, score)
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
