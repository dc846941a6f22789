"""The salient terms of a source: names, numbers and words, with their weights."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from math import log2
from typing import Literal

from msgspec import Struct

from reviewer.compression.values import SegmentTurn
from reviewer.compression.words import is_name, written_terms
from reviewer.text.identifiers import IdentifierKind, identifiers
from reviewer.text.normalise import fold
from reviewer.text.placeholder import MASK

TermKind = Literal["identifier", "number", "term"]

PERSON, CALL = 1.5, 0.5
"""Weight of a mention by the person and in a call, where the agent's count 1."""
READ_OF_CALL = 300
"""Characters of a call that are searched for terms: its path or command."""
SHORTEST_NUMBER = 3
"""Minimum digits of a telling number."""
_KEY = re.compile(r'"\w{1,60}":')
WEIGHT: dict[TermKind, float] = {"identifier": 3.0, "number": 1.2, "term": 1.0}
"""Weight of a term of each kind."""

_QUOTE = re.compile(r"[\"“](?=\S)([^\"”\n]{3,80})(?<=\S)[\"”]")
_NAME = re.compile(r"(?<=[a-z,;)] )[A-Z][a-z]{2,30}(?: [A-Z][a-z]{1,30}){0,3}")
_ESCAPE = re.compile(r'\\[nrt"\\]')
_MASKED = re.compile(r"(?<![\w.$@/+=-])[\w.$@/+=-]*+\[masked [a-z0-9 -]+\]")
_PIECE = re.compile(r"[\w.$@/-]+")


class Term(Struct, frozen=True):
    """A salient term in its first spelling. `weight` reflects its frequency and its speakers;
    `turn`: its first occurrence.
    """

    text: str
    kind: TermKind
    weight: float
    times: int
    turn: int

    @property
    def cost(self) -> int:
        return max(1, round(len(self.text) / 4))


class SourceTerms:
    """The salient terms of the messages; with `calls`, also of the calls."""

    def __init__(self, turns: Sequence[SegmentTurn], *, calls: bool = False) -> None:
        self._turns, self._calls = turns, calls

    @cached_property
    def _pieces(self) -> frozenset[str]:
        return frozenset(piece for turn in self._turns for piece in _PIECE.findall(turn.text))

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """The salient terms, by first occurrence."""
        first: dict[str, tuple[str, int]] = {}
        times: Counter[str] = Counter()
        spoken: dict[str, float] = {}
        for number, turn in enumerate(self._turns):
            called = self._calls and turn.kind == "tool_use"
            if turn.aside or not (called or turn.kind == "text"):
                continue
            factor = CALL if called else PERSON if turn.role == "user" else 1.0
            for text, count in Counter(written_terms(self._read(turn))).items():
                if len(text) < 2 or (text.isdecimal() and len(text) < SHORTEST_NUMBER):
                    continue
                key = text.lower()
                first.setdefault(key, (text, number))
                times[key] += count
                spoken[key] = spoken.get(key, 0.0) + factor * count
        return tuple(
            Term(
                text, kind := kind_of(text), WEIGHT[kind] * log2(1 + spoken[key]), times[key], turn
            )
            for key, (text, turn) in first.items()
        )

    def place(self, term: Term) -> tuple[int, int]:
        """The span of a term in the turn of its first occurrence."""
        start = max(self._turns[term.turn].text.find(term.text), 0)
        return start, start + len(term.text)

    def _read(self, turn: SegmentTurn) -> str:
        body = turn.text
        if turn.kind != "text":
            body = _KEY.sub(" ", without_escapes(body[:READ_OF_CALL]))
        return without_masks(body) if MASK in body else body

    @cached_property
    def _densest(self) -> list[Term]:
        return sorted(self.terms, key=lambda term: -term.weight / term.cost)

    def most_covered(self, tokens: int) -> float:
        """The greatest weight that `tokens` can cover: the densest terms, the last in part."""
        gained = 0.0
        for term in self._densest:
            gained += term.weight * min(tokens / term.cost, 1.0)
            tokens -= term.cost
            if tokens <= 0:
                break
        return gained

    def absent(self, units: Sequence[str]) -> list[str]:
        """The names, numbers and quotations that do not occur in the source, neither whole nor, for
        code or text with placeholders, in all of their parts.
        """
        left = self._not_found(units)
        parts = {unit: parts_of(unit) for unit in left}
        missing = set(self._not_found([part for each in parts.values() for part in each]))
        return [unit for unit in left if not parts[unit] or missing & set(parts[unit])]

    def _not_found(self, units: Sequence[str]) -> list[str]:
        left = {unit: fold(unit) for unit in units if unit not in self._pieces}
        for turn in self._turns:  # avoids a folded copy of all of them
            if not left:
                break
            folded = fold(turn.text)
            left = {unit: text for unit, text in left.items() if text not in folded}
        return list(left)


_APART = re.compile(r"<[^<>\n]*>|\.{3}|…|\\[nt]|[\s\"'`()\[\]{},;:|&=+*%$!?@#]+")
_AT_LINES = re.compile(r"([\w./-]+\.\w+):\d+(?:-\d+)?")
_OWNED = re.compile(r"(?:[A-Za-z_]\w*\.)+([A-Za-z_]\w*)")
_NAMED_IN_FULL = re.compile(r"[A-Z]|_|\d")
_CODE = re.compile(r"\w[_./\\]\w|[a-z][A-Z]|<[^<>\n]*>|\.{3}|…|\\[nt]")


def parts_of(unit: str) -> list[str]:
    """The names and numbers in a piece of code, a command, or a text with a placeholder, such as
    `go test <package>` or `save(path, "x")`; for a name with its owner (`session.PathOf`), the
    name. Empty for a unit without parts, which occurs whole or not at all.
    """
    if (owned := _OWNED.fullmatch(unit)) and _NAMED_IN_FULL.search(owned[1]):
        return [owned[1]]
    if at_lines := _AT_LINES.fullmatch(unit):
        return [at_lines[1]]
    if not _APART.search(unit):
        return []
    parts = [part.strip(".-/\\<>") for part in _APART.split(unit)]
    named = [part for part in parts if sum(map(str.isalnum, part)) > 1]
    # Plain words are not telling by themselves: a sentence in quotes must occur whole.
    return named if _CODE.search(unit) else []


def without_escapes(text: str) -> str:
    """The JSON of a tool's input with escapes replaced by blanks of the same length."""
    return _ESCAPE.sub("  ", text) if text.startswith(("{", "[")) else text


def without_masks(text: str) -> str:
    """The text with masked secrets blanked out: no summary has to keep them."""
    return _MASKED.sub(lambda found: " " * len(found[0]), text)


class SummaryTerms:
    """The terms of a summary, for fast look-ups."""

    def __init__(self, text: str) -> None:
        found = {term.lower() for term in written_terms(text)}
        self._terms = found | {term.rpartition("/")[2] for term in found}

    def covers(self, term: Term) -> bool:
        """Whether the summary mentions it; a file may be mentioned by its name alone."""
        text = term.text.lower()
        return text in self._terms or text.rpartition("/")[2] in self._terms


def kind_of(text: str) -> TermKind:
    """Whether a term is a number, a name in code or a word."""
    if text.isdecimal():
        return "number"
    return "identifier" if is_name(text) else "term"


def named_in(text: str) -> Iterator[str]:
    """The checkable parts of a text: identifiers, numbers, names and quotations."""
    for named in identifiers(text):
        if named.kind is not IdentifierKind.QUANTITY or len(named.text) > 1:
            yield named.text
    yield from _QUOTE.findall(text)
    yield from _NAME.findall(text)
