"""Choosing units so that what is covered is worth the most for the tokens spent.

What a unit adds shrinks as others are taken (the objective is submodular), so the greedy choice by
worth per token is near the best there is, and a unit has to be weighed again only when it comes up
(lazy greedy; Lin & Bilmes 2011, "A Class of Submodular Functions for Document Summarization").
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence

from reviewer.compression.extractive.pieces import Piece
from reviewer.compression.extractive.said import Said

NAMES = 5.0
"""What the name that is needed most is worth against a word that is certain to be used."""
PATIENCE = 128
"""Pieces weighed for one choice; the best of so many will do. Thousands of lines of one kind all
lose with each choice: each choice would weigh them all.
"""


class Coverage:
    """What has been said so far, and what a piece would add."""

    def __init__(self, need: dict[str, float]) -> None:
        self._counts: dict[str, int] = {}
        self._words: dict[str, float] = {}
        """What the next mention of a word is worth."""
        self._pairs: dict[tuple[str, str], float] = {}
        self._names = {name: NAMES * worth for name, worth in need.items()}
        self.empty = True

    def meet(self, piece: Piece) -> None:
        """The piece will be asked about: what its words and pairs are worth unless said before."""
        for word, tails in zip(piece.words, piece.tails, strict=True):
            self._words.setdefault(word, tails[0] if tails else 0.0)
        for pair, worth in piece.pairs.items():
            self._pairs.setdefault(pair, worth)

    def gain(self, piece: Piece) -> float:
        """Worth of what the piece says and nobody has said yet. It has been met."""
        if piece.repeats:
            gained = self._repeated(piece)
        else:
            gained = sum(map(self._words.__getitem__, piece.words), 0.0)
        gained = sum(map(self._pairs.__getitem__, piece.pairs), gained)
        for name in piece.names:
            gained += self._names.get(name, 0.0)
        return gained * piece.weight

    def _repeated(self, piece: Piece) -> float:
        """Worth of the words of a piece that uses one of them more than once."""
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
        """The piece is said."""
        self.empty = False
        for word, tails in zip(piece.words, piece.tails, strict=True):
            said = self._counts[word] = self._counts.get(word, 0) + 1
            self._words[word] = tails[said] if said < len(tails) else 0.0
        self._pairs.update(dict.fromkeys(piece.pairs, 0.0))
        self._names.update(dict.fromkeys(piece.names, 0.0))


class Filling:
    """A choice that grows with its budget. `chosen` holds pieces in the order of the choice."""

    def __init__(self, pieces: Sequence[Piece], coverage: Coverage) -> None:
        self.chosen: list[Piece] = []
        self.spent = 0
        self._coverage = coverage
        self._keys: set[str] = set()
        self._said: Said | None = None
        self._heap: list[tuple[float, int, Piece]] = []
        for piece in pieces:
            if piece.cost > 0:
                self._push(piece)
        heapq.heapify(self._heap)

    def _push(self, piece: Piece) -> None:
        self._coverage.meet(piece)
        if piece.alone is None or not self._coverage.empty:
            gained = self._coverage.gain(piece)
            piece.alone = gained if self._coverage.empty else piece.alone
        else:
            gained = piece.alone
        if gained > 0:
            value = gained / piece.cost
            self._heap.append((-value, piece.number, piece))

    def _is_said(self, piece: Piece) -> bool:
        """Whether a chosen piece says what this one does."""
        if self._said is None:
            self._said = Said(self.chosen)
        return piece.key in self._keys or self._said.holds(piece)

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
        if self._said is not None:
            self._said.add(piece)
        return True

    def fill(self, budget: int) -> None:
        """Choose as long as something that adds worth fits the budget."""
        heap, aside = self._heap, list[tuple[float, int, Piece]]()
        weighed: list[tuple[float, int, Piece]] = []
        while self.spent < budget and (heap or weighed):
            if weighed and (not heap or weighed[0][0] <= heap[0][0] or len(weighed) >= PATIENCE):
                piece = heapq.heappop(weighed)[2]
                if not self._is_said(piece):
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
            self._said = None
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
            self._said = None
            self.spent -= self.chosen.pop().cost
