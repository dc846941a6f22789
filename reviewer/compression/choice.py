"""Which pieces of a session a text keeps.

A piece is kept for the words and names that no kept piece has, and for its place; for nothing
else.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import log1p

from msgspec import Struct

from reviewer.compression.words import is_name, terms

EARLY, LATE = 0.7, 1.3
"""Worth of a place at the start and at the end of the session."""
SAID_AGAIN = 0.2
"""Worth of a word that a kept piece has already."""
NAME_WORTH, RARE_WORTH = 2.0, 0.7
MOST_COUNTED = 20
LINE = 4
"""Tokens of a line beside its text."""
LENGTH = 12
"""Tokens that are added to the cost of each piece: a short one is not better for being short."""


class Piece(Struct, eq=False):
    """A line of the course. `group`: the message or the calls that it is from."""

    at: float
    kind: str
    text: str
    weight: float = 1.0
    group: int = -1
    kept: bool = False


class Chooser:
    """Keeps pieces within their room. `counts`: how often each term occurs in the session."""

    def __init__(
        self, counts: Mapping[str, int], count: Callable[[str], int], first: float, last: float
    ) -> None:
        self._count = count
        self._first, self._span = first, max(last - first, 1.0)
        self._counts = counts
        self._worths: dict[str, float] = {}
        self._costs: dict[str, int] = {}
        self._terms: dict[int, set[str]] = {}
        self.said: set[str] = set()
        """Terms of what is kept already."""
        self._texts: set[str] = set()

    def cost(self, piece: Piece) -> int:
        if piece.text not in self._costs:
            self._costs[piece.text] = self._count(piece.text) + LINE
        return self._costs[piece.text]

    def keep(self, piece: Piece) -> int:
        """Keep a piece; returns what it costs."""
        piece.kept = True
        self._texts.add(piece.text)
        self.said |= self._terms_of(piece)
        return self.cost(piece)

    def is_repeated(self, piece: Piece) -> bool:
        """Whether the same words are kept already, said at another time."""
        return piece.kind != "person" and piece.text in self._texts

    def fill(self, pieces: Iterable[Piece], room: int, limits: Mapping[str, int]) -> int:
        """Keep the pieces that say most for their length; returns what they cost.

        `limits`: tokens for pieces of a kind.
        """
        used: Counter[str] = Counter()
        spent = 0
        waiting = [each for each in pieces if not each.kept]
        heap = [(-self._value(each), number) for number, each in enumerate(waiting)]
        heapq.heapify(heap)
        while heap and room - spent >= LINE:
            _, number = heapq.heappop(heap)
            piece = waiting[number]
            value = self._value(piece)
            if heap and value < -heap[0][0] - 1e-9:
                heapq.heappush(heap, (-value, number))
                continue
            cost = self.cost(piece)
            over = used[piece.kind] + cost > limits.get(piece.kind, room)
            if value <= 0 or spent + cost > room or over or self.is_repeated(piece):
                continue
            spent += self.keep(piece)
            used[piece.kind] += cost
        return spent

    def best(self, pieces: Sequence[Piece]) -> Piece:
        """The piece that says most for its length."""
        return max(pieces, key=self._value)

    def _value(self, piece: Piece) -> float:
        gain = sum(
            self._worth(term) * (SAID_AGAIN if term in self.said else 1.0)
            for term in self._terms_of(piece)
        )
        late = EARLY + (LATE - EARLY) * (piece.at - self._first) / self._span
        return gain * piece.weight * late / (self.cost(piece) + LENGTH)

    def _worth(self, term: str) -> float:
        found = self._worths.get(term)
        if found is None:
            times = self._counts.get(term, 0)
            found = log1p(min(times, MOST_COUNTED)) if times else RARE_WORTH
            found *= NAME_WORTH if is_name(term) else 1.0
            self._worths[term] = found
        return found

    def _terms_of(self, piece: Piece) -> set[str]:
        found = self._terms.get(id(piece))
        if found is None:
            found = self._terms[id(piece)] = terms(piece.text)
        return found
