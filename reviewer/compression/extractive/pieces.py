"""A unit as the choice for a summary sees it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from reviewer.compression.extractive.cues import Section
from reviewer.compression.extractive.expected import Expected, words_of
from reviewer.compression.extractive.source_units import SourceUnit
from reviewer.text.normalise import fold


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
        """What it adds to nothing, once that was asked."""
