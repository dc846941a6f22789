"""What a segment says that a summary may keep or lose: its salient terms, weighed and placed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate
from math import log2
from typing import Literal

from msgspec import Struct

from reviewer.compression.values import Turn
from reviewer.compression.words import content_words
from reviewer.text.identifiers import IdentifierKind, identifiers
from reviewer.text.normalise import fold

TermKind = Literal["identifier", "number", "name", "quote", "term"]

SPOKEN = {"text": 1.0, "tool_use": 0.5, "tool_result": 0.15, "thinking": 0.0}
"""How much a mention counts by how it was said; a person's words count `PERSON` times."""
PERSON = 1.5
WEIGHT: dict[TermKind, float] = {
    "identifier": 3.0,
    "quote": 1.5,
    "name": 1.5,
    "number": 1.2,
    "term": 1.0,
}
"""What a term of each kind weighs."""

_QUOTE = re.compile(r"[\"“](?=\S)([^\"”\n]{3,80})(?<=\S)[\"”]")
_NAME = re.compile(r"(?<=[a-z,;)] )[A-Z][a-z]{2,30}(?: [A-Z][a-z]{1,30}){0,3}")
_ESCAPE = re.compile(r'\\[nrt"\\]')
_MASKED = re.compile(r"[\w.$@/+=-]*\[masked [a-z0-9 -]+\]")
_PIECE = re.compile(r"[\w.$@/-]+")


class Term(Struct, frozen=True):
    """A salient term, and where it first stands. `weight` counts how often and by whom."""

    text: str
    kind: TermKind
    weight: float
    times: int
    turn: int
    start: int
    end: int

    @property
    def cost(self) -> int:
        """About how many tokens it takes to say it."""
        return max(1, round(len(self.text) / 4))


class SourceTerms:
    """The salient terms of turns, read once for all levels."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self.text = fold("\n".join(turn.text for turn in turns))
        mentions: dict[tuple[str, bool], _Mentions] = {}
        for number, turn in enumerate(turns):
            factor = SPOKEN[turn.said] * (PERSON if turn.role == "user" else 1.0)
            said = turn.text if turn.said == "text" else without_escapes(turn.text)
            if "[masked " in said:
                said = without_masks(said)
            for text, kind, start, end in mentioned(said):
                if turn.said != "text" and is_markup(said, kind, end):
                    continue
                key = (text, kind == "term")
                known = mentions.get(key)
                if known is None:
                    known = mentions[key] = _Mentions(kind, number, start, end)
                known.times += 1
                known.spoken += factor
        self.terms = tuple(
            Term(
                text,
                found.kind,
                round(WEIGHT[found.kind] * log2(1 + found.spoken), 4),
                found.times,
                found.turn,
                found.start,
                found.end,
            )
            for (text, _), found in mentions.items()
            if found.spoken
        )
        self.pieces = frozenset(_PIECE.findall(self.text))
        ranked = sorted(self.terms, key=lambda term: -term.weight / term.cost)
        self._costs = list(accumulate(term.cost for term in ranked))
        self._gains = list(accumulate(term.weight for term in ranked))

    def most_covered(self, tokens: int) -> float:
        """The weight that no text of so many tokens can exceed: the densest terms, one by one."""
        from bisect import bisect_right

        whole = bisect_right(self._costs, tokens)
        gained = self._gains[whole - 1] if whole else 0.0
        if whole < len(self._costs):
            spent = self._costs[whole - 1] if whole else 0
            share = (tokens - spent) / (self._costs[whole] - spent)
            gained += share * (self._gains[whole] - gained)
        return gained

    def says(self, unit: str) -> bool:
        """Whether a name, number or quotation occurs in the source."""
        return unit in self.pieces or fold(unit) in self.text


def without_escapes(text: str) -> str:
    """The JSON of a tool's input with its escapes as blanks; every place stays where it is."""
    return _ESCAPE.sub("  ", text) if text.startswith(("{", "[")) else text


def without_masks(text: str) -> str:
    """A text with what was masked as blanks: no summary has to keep it. Every place stays."""
    return _MASKED.sub(lambda found: " " * len(found[0]), text)


def is_markup(text: str, kind: str, end: int) -> bool:
    """Whether what ends at `end` of a tool's traffic is a key of its JSON, or JSON's quotes."""
    return kind == "quote" or text.startswith('":', end)


class _Mentions:
    """How often a term was met, and where first."""

    __slots__ = ("end", "kind", "spoken", "start", "times", "turn")

    def __init__(self, kind: TermKind, turn: int, start: int, end: int) -> None:
        self.kind, self.turn, self.start, self.end = kind, turn, start, end
        self.times, self.spoken = 0, 0.0


class SummaryTerms:
    """What a summary says, for looking terms up fast."""

    def __init__(self, text: str) -> None:
        self.folded = fold(text)
        self._words = frozenset(content_words(text))
        pieces = set(_PIECE.findall(self.folded))
        pieces.update(named.text for named in identifiers(text))
        pieces.update(piece.rstrip(".") for piece in tuple(pieces))
        pieces.update(piece.rpartition("/")[2] for piece in tuple(pieces))
        self._pieces = frozenset(pieces)
        self._search = len(self.folded) < 40_000

    def covers(self, term: Term) -> bool:
        """Whether the summary says it; a file counts by its name, too."""
        if term.kind == "term":
            return term.text in self._words
        if term.text in self._pieces or term.text.rpartition("/")[2] in self._pieces:
            return True
        return (self._search or " " in term.text) and fold(term.text) in self.folded


def mentioned(text: str) -> Iterator[tuple[str, TermKind, int, int]]:
    """The terms of a text with their spans: identifiers, numbers, names, quotations, words."""
    for named in identifiers(text):
        if named.kind is IdentifierKind.QUANTITY:
            if len(named.text) > 1:
                yield named.text, "number", named.start, named.end
        else:
            yield named.text, "identifier", named.start, named.end
    for match in _QUOTE.finditer(text):
        yield match[1], "quote", *match.span(1)
    for match in _NAME.finditer(text):
        yield match[0], "name", *match.span()
    for word, start in _words(text):
        yield word, "term", start, start + len(word)


def _words(text: str) -> Iterator[tuple[str, int]]:
    lower = text.lower()
    at = 0
    for word in content_words(text):
        at = lower.find(word, at)
        yield word, min(at, len(text))
        at += len(word)
