"""Choosing units so that what is covered is worth the most for the tokens spent.

What a unit adds shrinks as others are taken (the objective is submodular), so the greedy choice by
worth per token is near the best there is, and a unit has to be weighed again only when it comes up
(lazy greedy; Lin & Bilmes 2011, "A Class of Submodular Functions for Document Summarization").
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from reviewer.compression.extractive.cues import Section
from reviewer.compression.extractive.expected import Expected, words_of
from reviewer.compression.extractive.source_units import SourceUnit
from reviewer.text.normalise import fold

SAME = 0.8
"""Jaccard similarity of words above which two pieces say the same."""
NAMES = 5.0
"""What the name that is needed most is worth against a word that is certain to be used."""


class Piece:
    """A unit as the choice sees it.

    `number` is its own, `order` its place in the conversation; `weight` multiplies its worth, and
    pieces with the same `key` say the same.
    """

    __slots__ = (
        "alone",
        "bag",
        "cost",
        "key",
        "names",
        "number",
        "order",
        "pairs",
        "section",
        "tails",
        "unit",
        "weight",
        "words",
    )

    def __init__(
        self,
        number: int,
        unit: SourceUnit,
        section: Section,
        cost: int,
        expected: Expected,
        *,
        names: Iterable[str] = (),
        weight: float = 1.0,
        order: float | None = None,
        key: str | None = None,
    ) -> None:
        self.number, self.unit, self.section = number, unit, section
        self.order = number if order is None else order
        self.cost, self.weight = cost, weight
        self.key = fold(unit.text) if key is None else key
        self.words = words = words_of(unit.text)
        self.bag = frozenset(words)
        self.tails = [expected.words.get(word, ()) for word in words]
        self.pairs = {
            pair: worth
            for pair in pairwise(words)
            if (worth := expected.pairs.get(pair)) is not None
        }
        self.names = frozenset(names)
        self.alone: float | None = None
        """What it adds to nothing, once that was asked."""


class Coverage:
    """What has been said so far, and what a piece would add."""

    def __init__(self, need: dict[str, float]) -> None:
        self._need = need
        self._counts: dict[str, int] = {}
        self._pairs: set[tuple[str, str]] = set()
        self._names: set[str] = set()
        self.empty = True

    def gain(self, piece: Piece) -> float:
        """Worth of what the piece says and nobody has said yet."""
        counts = self._counts
        gained = 0.0
        again: dict[str, int] = {}
        for word, tails in zip(piece.words, piece.tails, strict=True):
            if tails:
                mention = counts.get(word, 0) + again.get(word, 0)
                if mention < len(tails):
                    gained += tails[mention]
                again[word] = again.get(word, 0) + 1
        for pair, worth in piece.pairs.items():
            if pair not in self._pairs:
                gained += worth
        for name in piece.names:
            if name not in self._names:
                gained += NAMES * self._need.get(name, 0.0)
        return gained * piece.weight

    def take(self, piece: Piece) -> None:
        """The piece is said."""
        self.empty = False
        for word in piece.words:
            self._counts[word] = self._counts.get(word, 0) + 1
        self._pairs.update(piece.pairs)
        self._names |= piece.names


class Filling:
    """A choice that grows with its budget. `chosen` holds pieces in the order of the choice."""

    def __init__(self, pieces: Sequence[Piece], coverage: Coverage) -> None:
        self.chosen: list[Piece] = []
        self.spent = 0
        self._coverage = coverage
        self._keys: set[str] = set()
        self._heap: list[tuple[float, int, Piece]] = []
        for piece in pieces:
            if piece.cost > 0:
                self._push(piece)
        heapq.heapify(self._heap)

    def _push(self, piece: Piece) -> None:
        if piece.alone is None or not self._coverage.empty:
            gained = self._coverage.gain(piece)
            piece.alone = gained if self._coverage.empty else piece.alone
        else:
            gained = piece.alone
        if gained > 0:
            value = gained / piece.cost
            self._heap.append((-value, piece.number, piece))

    def _said(self, piece: Piece) -> bool:
        """Whether a chosen piece says what this one does."""
        if piece.key in self._keys:
            return True
        if any(piece.key in other.key for other in self.chosen):
            return True
        words = len(piece.bag)
        for other in self.chosen:
            if not piece.names <= other.names:
                continue
            common = len(piece.bag & other.bag)
            if common > SAME * (words + len(other.bag) - common):
                new = "".join(piece.bag - other.bag)  # another number is another fact
                if not any(map(str.isdigit, new)):
                    return True
        return False

    def add(self, pieces: Sequence[Piece], budget: int) -> None:
        """Choose pieces in their order as long as they fit the budget, whatever they cover."""
        for piece in pieces:
            if 0 < piece.cost <= budget - self.spent and piece.key not in self._keys:
                self.take(piece)

    def take(self, piece: Piece) -> bool:
        """Choose a piece whatever it is worth; False when its like is there."""
        if piece.key in self._keys:
            return False
        self.spent += piece.cost
        self._keys.add(piece.key)
        self._coverage.take(piece)
        self.chosen.append(piece)
        return True

    def fill(self, budget: int) -> None:
        """Choose as long as something that adds worth fits the budget."""
        heap, aside = self._heap, list[tuple[float, int, Piece]]()
        while heap and self.spent < budget:
            entry = heapq.heappop(heap)
            piece = entry[2]
            if piece.key in self._keys:
                continue
            if self.spent + piece.cost > budget:
                aside.append(entry)
                continue
            value = self._coverage.gain(piece) / piece.cost
            if value <= 0:
                continue
            if heap and -value > heap[0][0]:
                heapq.heappush(heap, (-value, piece.number, piece))
                continue
            if not self._said(piece):
                self.take(piece)
        for entry in aside:
            heapq.heappush(heap, entry)

    def absorb(self, keep: int, said: Callable[[Piece, Piece], Piece | None]) -> int:
        """What another chosen piece says word for word gives its place among the first `keep`.

        `said(piece, other)` is the other as it must stand to say the piece, None where it does
        not. Returns how many are to be kept now.
        """
        place = 0
        while place < keep:
            piece = self.chosen[place]
            found = (
                (number, holder)
                for number, other in enumerate(self.chosen)
                if number != place and (holder := said(piece, other)) is not None
            )
            number, holder = next(found, (-1, piece))
            if number < 0:
                place += 1
                continue
            self.spent += holder.cost - self.chosen[number].cost - piece.cost
            if number < keep:
                self.chosen[number] = holder
                del self.chosen[place]
                keep -= 1
                place = 0
            else:
                self.chosen[place] = holder
                del self.chosen[number]
        return keep

    def drop(self, tokens: int, keep: int = 0) -> None:
        """Take back what was chosen last, of at least so many tokens; the first `keep` stay."""
        wanted = self.spent - tokens
        while self.spent > wanted and len(self.chosen) > keep:
            self.spent -= self.chosen.pop().cost
