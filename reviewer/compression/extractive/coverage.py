"""Chooses the units that cover most for the tokens they take.

The worth of a unit shrinks as others are chosen (the objective is submodular), so the greedy choice
by worth per token is close to the best, and a unit has to be weighed again only when it comes up
(lazy greedy; Lin & Bilmes 2011, "A Class of Submodular Functions for Document Summarization").
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from reviewer.compression.anchor_types import Section
from reviewer.compression.extractive.units import SourceUnit
from reviewer.compression.words import Expected, words_of
from reviewer.text.normalise import fold


class Piece:
    """A unit with everything that the choice needs.

    `number` identifies it, `order` is its place in the conversation, `weight` multiplies its worth;
    pieces with the same `key` are duplicates.
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
        "repeats",
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
        self.repeats = len(self.bag) < len(words)
        self.pairs = {
            pair: worth
            for pair in pairwise(words)
            if (worth := expected.pairs.get(pair)) is not None
        }
        self.names = dict.fromkeys(names)
        self.alone: float | None = None
        """Its worth in an empty summary, once computed."""


SAME = 0.8
"""Jaccard similarity of words above which two pieces are duplicates."""
BETWEEN = "\0"
"""Separates two pieces."""


class DuplicateIndex:
    """Finds pieces that repeat another one, without comparing each with all.

    A piece repeats another when its words are in it, or when most of their words are the same.
    Pieces with most words in common share at least one of the rarest words of each, so only those
    that do are compared (prefix filtering; Chaudhuri et al. 2006, "A Primitive Operator for
    Similarity Joins in Data Cleaning").
    """

    def __init__(self, pieces: Iterable[Piece]) -> None:
        self._text = BETWEEN
        self._by_word: dict[str, list[Piece]] = {}
        for piece in pieces:
            self.add(piece)

    def add(self, piece: Piece) -> None:
        self._text += piece.key + BETWEEN
        for word in piece.bag:
            self._by_word.setdefault(word, []).append(piece)

    def contains_similar(self, piece: Piece) -> bool:
        """Whether the index has a duplicate of the piece. Pieces with other numbers are none."""
        if piece.key in self._text:
            return True
        return any(_is_same(piece, other) for other in self._candidates(piece))

    def _candidates(self, piece: Piece) -> Iterable[Piece]:
        """Pieces that have its numbers or one of its rarest words."""
        numbers = [self._by_word.get(word, []) for word in piece.bag if _is_number(word)]
        if numbers:
            return min(numbers, key=len)
        found = sorted((self._by_word.get(word, []) for word in piece.bag), key=len)
        enough = int((1 - SAME) * len(found)) + 1
        return {id(other): other for some in found[:enough] for other in some}.values()


def _is_same(piece: Piece, other: Piece) -> bool:
    if not piece.names.keys() <= other.names.keys():
        return False
    common = len(piece.bag & other.bag)
    if common <= SAME * (len(piece.bag) + len(other.bag) - common):
        return False
    return not any(map(_is_number, piece.bag - other.bag))


def _is_number(word: str) -> bool:
    return any(map(str.isdigit, word))


NAMES = 5.0
"""Worth of the name that is needed most against a word that is certain to be used."""
PATIENCE = 128
"""Pieces weighed for one choice, of which the best is taken. Without a limit, thousands of similar
lines would all be weighed again after each choice.
"""


class Coverage:
    """The words, pairs and names covered so far, and the worth that a piece would add."""

    def __init__(self, need: dict[str, float]) -> None:
        self._counts: dict[str, int] = {}
        self._words: dict[str, float] = {}
        """Worth of the next mention of each word."""
        self._pairs: dict[tuple[str, str], float] = {}
        self._names = {name: NAMES * worth for name, worth in need.items()}
        self.empty = True

    def register(self, piece: Piece) -> None:
        """Note the worth of the words and pairs of a piece, before its `gain` is asked."""
        for word, tails in zip(piece.words, piece.tails, strict=True):
            self._words.setdefault(word, tails[0] if tails else 0.0)
        for pair, worth in piece.pairs.items():
            self._pairs.setdefault(pair, worth)

    def gain(self, piece: Piece) -> float:
        """Worth of everything in a registered piece that is not covered yet."""
        if piece.repeats:
            gained = self._repeated(piece)
        else:
            gained = sum(map(self._words.__getitem__, piece.words), 0.0)
        gained = sum(map(self._pairs.__getitem__, piece.pairs), gained)
        for name in piece.names:
            gained += self._names.get(name, 0.0)
        return gained * piece.weight

    def _repeated(self, piece: Piece) -> float:
        """Worth of the words of a piece that repeats some of them."""
        counts = self._counts
        gained = 0.0
        again: dict[str, int] = {}
        for word, tails in zip(piece.words, piece.tails, strict=True):
            if tails:
                mention = counts.get(word, 0) + again.get(word, 0)
                if mention < len(tails):
                    gained += tails[mention]
                again[word] = again.get(word, 0) + 1
        return gained

    def take(self, piece: Piece) -> None:
        """Cover the piece."""
        self.empty = False
        for word, tails in zip(piece.words, piece.tails, strict=True):
            count = self._counts[word] = self._counts.get(word, 0) + 1
            self._words[word] = tails[count] if count < len(tails) else 0.0
        self._pairs.update(dict.fromkeys(piece.pairs, 0.0))
        self._names.update(dict.fromkeys(piece.names, 0.0))


class Selection:
    """Pieces chosen within a growing budget; `chosen` is in the order of the choice."""

    def __init__(self, pieces: Sequence[Piece], coverage: Coverage) -> None:
        self.chosen: list[Piece] = []
        self.spent = 0
        self._coverage = coverage
        self._keys: set[str] = set()
        self._duplicates: DuplicateIndex | None = None
        self._heap: list[tuple[float, int, Piece]] = []
        for piece in pieces:
            if piece.cost > 0:
                self._push(piece)
        heapq.heapify(self._heap)

    def _push(self, piece: Piece) -> None:
        self._coverage.register(piece)
        if piece.alone is None or not self._coverage.empty:
            gained = self._coverage.gain(piece)
            piece.alone = gained if self._coverage.empty else piece.alone
        else:
            gained = piece.alone
        if gained > 0:
            value = gained / piece.cost
            self._heap.append((-value, piece.number, piece))

    def _is_duplicate(self, piece: Piece) -> bool:
        """Whether a chosen piece has the content of this one."""
        if self._duplicates is None:
            self._duplicates = DuplicateIndex(self.chosen)
        return piece.key in self._keys or self._duplicates.contains_similar(piece)

    def add(self, pieces: Sequence[Piece], budget: int) -> None:
        """Choose pieces in this order while they fit the budget, regardless of their worth."""
        for piece in pieces:
            if 0 < piece.cost <= budget - self.spent and piece.key not in self._keys:
                self.take(piece)

    def take(self, piece: Piece) -> bool:
        """Choose a piece regardless of its worth; False when one with its key was chosen."""
        if piece.key in self._keys:
            return False
        self.spent += piece.cost
        self._keys.add(piece.key)
        self._coverage.take(piece)
        self.chosen.append(piece)
        if self._duplicates is not None:
            self._duplicates.add(piece)
        return True

    def fill(self, budget: int) -> None:
        """Choose pieces while one that adds worth fits the budget."""
        heap, aside = self._heap, list[tuple[float, int, Piece]]()
        weighed: list[tuple[float, int, Piece]] = []
        while self.spent < budget and (heap or weighed):
            if weighed and (not heap or weighed[0][0] <= heap[0][0] or len(weighed) >= PATIENCE):
                piece = heapq.heappop(weighed)[2]
                if not self._is_duplicate(piece):
                    self.take(piece)
                    for entry in weighed:
                        heapq.heappush(heap, entry)
                    weighed.clear()
                continue
            entry = heapq.heappop(heap)
            piece = entry[2]
            if piece.key in self._keys:
                continue
            if self.spent + piece.cost > budget:
                aside.append(entry)
                continue
            value = self._coverage.gain(piece) / piece.cost
            if value > 0:
                heapq.heappush(weighed, (-value, piece.number, piece))
        for entry in (*weighed, *aside):
            heapq.heappush(heap, entry)

    def absorb(self, keep: int, covering: Callable[[Piece, Piece], Piece | None]) -> int:
        """Drop those of the first `keep` pieces whose words another chosen piece contains.

        `covering(piece, other)` is the other piece in the form that contains the words of the
        first, or None. Returns how many of the first pieces are left.
        """
        place = 0
        while place < keep:
            piece = self.chosen[place]
            found = (
                (number, holder)
                for number, other in enumerate(self.chosen)
                if number != place and (holder := covering(piece, other)) is not None
            )
            number, holder = next(found, (-1, piece))
            if number < 0:
                place += 1
                continue
            self.spent += holder.cost - self.chosen[number].cost - piece.cost
            self._duplicates = None
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
        """Remove the last pieces until `tokens` are free; the first `keep` stay."""
        wanted = self.spent - tokens
        while self.spent > wanted and len(self.chosen) > keep:
            self._duplicates = None
            self.spent -= self.chosen.pop().cost
