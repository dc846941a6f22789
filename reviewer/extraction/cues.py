"""Which of many patterns may occur in a text at all, told from its words in one look.

Most rules look for words that a given statement does not hold. What everything that a pattern finds
must hold is derived from it (`extraction/needs.py`); one pass over a statement's words then names
the few patterns that are worth a search.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, reduce
from operator import or_
from re import _constants as ops  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

from reviewer.extraction.needs import Part, Parts, Way, ways_of

WORD = re.compile(r"\w+")
LONGEST = 16
"""Characters of a beginning that are derived; more would not tell more."""
MOST = 2_000
"""Beginnings of one pattern; with more, the pattern is simply searched for."""
REMEMBERED = 50_000
"""Words whose patterns are remembered."""
LONGEST_WORD = 64
"""Characters of a word that is remembered: what is longer is no word, and seldom comes again."""
NUMBER = r"\d"
"""The one pattern that may stand anywhere in a word and yet has a cue: words with a digit."""

_HEAD, _GRAM = 2, 3
"""Letters with which a beginning and another part of a word are looked up."""
_LETTERS = re.compile(r"[a-z]+")
_FIRST = re.compile(r"[A-Za-z]++(?![^\x00-\x7f])")
_TO_WORDS = bytes(
    code if WORD.match(chr(code)) else 0x20 for code in range(256)
)  # what Latin-1 does not have becomes a question mark: there, no cue goes on
_UNEVEN = re.compile("[\u0131\u017f\u0130\u0307]|(?![0-9])\\d")
"""Letters that are others in another case, and digits of other scripts."""

_Starts = set[tuple[str, bool]]
"""Texts with which a match begins, and whether that is all there is to know of them."""


class Cues:
    """The cues of patterns that are written in lower case, each told by its place in the list."""

    def __init__(self, patterns: Sequence[str | None] = (), *, any_case: bool = True) -> None:
        """None stands for what cannot be told and may always occur.

        `any_case`: the patterns are also looked for where case does not count; then all that they
        need is written in ASCII, or they are not looked for in other texts.
        """
        self._any_case = any_case
        self._always = self._numbers = self._count = 0
        self._ways: list[tuple[int, Way]] = []
        """The ways in which patterns may match, with the place of the pattern."""
        self._built = False
        self._known = _Known(self._bits_of)
        self.add(patterns)

    def add(self, patterns: Sequence[str | None]) -> int:
        """Put patterns behind those that are there; returns the place of the first of them."""
        first = self._count
        for number, pattern in enumerate(patterns, first):
            if pattern == NUMBER:
                self._numbers |= 1 << number
                continue
            ways = None if pattern is None else ways_of(pattern)
            if ways is None:
                self._always |= 1 << number
            else:
                self._ways += [(number, way) for way in ways]
        self._count += len(patterns)
        self._built = False
        return first

    def of(self, lower: str) -> tuple[int, int]:
        """A bit for every pattern that may occur in a lower-case text, never one too few; and for
        every one of those that surely does.
        """
        if not self._built:
            self._build()
        told = self._all
        words: Sequence[bytes | str]
        if lower.isascii():
            words = lower.encode().translate(_TO_WORDS).split()
        elif not self._any_case:
            words = WORD.findall(lower)
        elif _UNEVEN.search(lower):
            return self._all, 0
        else:
            words = lower.encode("latin-1", "replace").translate(_TO_WORDS).split()
            told = 0  # what stands beside a letter that Latin-1 has not looks like a word
        found = reduce(or_, map(self._known.__getitem__, words), self._always)
        pending = found & self._firsts
        while pending:
            first = pending & -pending
            needed, bit = self._needed[first]
            if found & needed == needed:
                found |= bit
            pending ^= first
        return found & self._all, found >> self._count & told

    def _build(self) -> None:
        """Number what is looked for: patterns, patterns that surely occur, ways, their sets."""
        self._known.clear()
        self._all = (1 << self._count) - 1
        bits: dict[Part, int] = {}
        self._needed: dict[int, tuple[int, int]] = {}
        several = [(number, way) for number, way in self._ways if len(way.sets) > 1]
        places: dict[Parts, int] = {}
        for number, way in self._ways:
            if len(way.sets) == 1:
                bit = 1 << number | (1 << self._count + number if way.sure else 0)
                _give(bits, way.sets[0], bit)
        free = 2 * self._count
        for place, (number, way) in enumerate(several, free):
            needed = 0
            for parts in way.sets[1:]:
                if parts not in places:
                    places[parts] = 1 << free + len(several) + len(places)
                    _give(bits, parts, places[parts])
                needed |= places[parts]
            _give(bits, way.sets[0], 1 << place)
            self._needed[1 << place] = needed, 1 << number
        self._firsts = sum(self._needed)
        self._whole = {part.text: bit for part, bit in bits.items() if part.starts and part.ends}
        self._ends = {part.text: bit for part, bit in bits.items() if part.ends and not part.starts}
        self._end_sizes = sorted({len(text) for text in self._ends})
        self._beginnings: dict[str, list[tuple[str, int]]] = {}
        self._inside: dict[str, list[tuple[str, int]]] = {}
        for part, bit in bits.items():
            if self._any_case and not part.text.isascii():
                continue
            if part.starts and not part.ends:
                self._beginnings.setdefault(part.text[:_HEAD], []).append((part.text, bit))
            elif not part.starts and not part.ends:
                self._inside.setdefault(part.text[:_GRAM], []).append((part.text, bit))
        self._sizes = sorted({len(letters) for letters in self._inside})
        self._built = True

    def _bits_of(self, word: bytes | str) -> int:
        text = word if isinstance(word, str) else word.decode("latin-1")
        size = len(text)
        bits = self._whole.get(text, 0)
        for length in self._end_sizes:
            if length > size:
                break
            bits |= self._ends.get(text[-length:], 0)
        for length in range(1, _HEAD + 1):
            for part, of_part in self._beginnings.get(text[:length], ()) if length <= size else ():
                if text.startswith(part):
                    bits |= of_part
        inside = self._inside
        for length in self._sizes:
            for start in range(size - length + 1):
                letters = text[start : start + length]
                if letters in inside:
                    for part, of_part in inside[letters]:
                        if text.startswith(part, start):
                            bits |= of_part
        if self._numbers and not text.isalpha() and any(map(str.isdecimal, text)):
            bits |= self._numbers
        return bits


class _Known(dict[bytes | str, int]):
    """The bits of words; those of a new one are found when it is asked for."""

    def __init__(self, bits_of: Callable[[bytes | str], int]) -> None:
        self._bits_of = bits_of

    def __missing__(self, word: bytes | str) -> int:
        if len(self) >= REMEMBERED:
            self.clear()
        bits = self._bits_of(word)
        if len(word) <= LONGEST_WORD:
            self[word] = bits
        return bits


def _give(bits: dict[Part, int], parts: Parts, bit: int) -> None:
    for part in parts:
        bits[part] = bits.get(part, 0) | bit


VOCABULARY = Cues()
"""The cues of everything that is looked for in statements: each part adds its own patterns."""


@lru_cache(maxsize=512)
def occurring(lower: str) -> tuple[int, int]:
    """What `VOCABULARY` tells of a lower-case text; remembered, since several parts ask."""
    return VOCABULARY.of(lower)


class FirstWords:
    """Which of many patterns in lower case may match at the start of a text, by its first word."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._whole: dict[str, int] = {}
        self._beginnings: dict[str, int] = {}
        self._any = (1 << len(patterns)) - 1
        self._always = 0
        for number, pattern in enumerate(patterns):
            for start, _ in _starts(_parser.parse(pattern)) or {("", True)}:
                first = _LETTERS.match(start)
                if first is not None:
                    whole = first.end() < len(start)
                    table = self._whole if whole else self._beginnings
                    table[first[0]] = table.get(first[0], 0) | 1 << number
                elif not start:
                    self._always |= 1 << number
        self._longest = max(map(len, self._beginnings), default=0)
        self._known: dict[str, int] = {}

    def of(self, text: str) -> int:
        """A bit for every pattern that may match; never one too few. Case does not count."""
        first = _FIRST.match(text)
        if first is None:  # another sign stands in front: that tells nothing
            return self._any
        bits = self._known.get(first[0])
        return self._learn(first[0]) if bits is None else bits

    def _learn(self, word: str) -> int:
        if len(self._known) >= REMEMBERED:
            self._known.clear()
        lower = word.lower()
        bits = self._always | self._whole.get(lower, 0)
        for end in range(1, min(len(lower), self._longest) + 1):
            bits |= self._beginnings.get(lower[:end], 0)
        if len(word) <= LONGEST_WORD:
            self._known[word] = bits
        return bits


def _starts(sequence: Iterable[tuple[Any, Any]]) -> _Starts | None:
    """What everything that a parsed sequence finds begins with; None for too many."""
    starts: _Starts = {("", False)}
    for kind, value in sequence:
        pending = {text for text, done in starts if not done}
        if not pending:
            return starts
        nexts = _next(kind, value)
        if nexts is None:
            return None
        starts = {start for start in starts if start[1]}
        for text in pending:
            for more, done in nexts:
                longer = text + more
                starts.add((longer[:LONGEST], done or len(longer) >= LONGEST))
        if len(starts) > MOST:
            return None
    return starts


def _next(kind: Any, value: Any) -> _Starts | None:
    """What one element of a parsed pattern begins with; an end that is open closes it."""
    if kind is ops.LITERAL:
        return {(chr(value), False)}
    if kind in (ops.AT, ops.ASSERT, ops.ASSERT_NOT):
        return {("", False)}
    if kind is ops.SUBPATTERN:
        return _starts(value[3])
    if kind is ops.BRANCH:
        found: _Starts = set()
        for branch in value[1]:
            starts = _starts(branch)
            if starts is None:
                return None
            found |= starts
        return found
    if kind in (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT):
        least, most, inner = value
        once = _starts(inner)
        if once is None:
            return None
        found = once if most == 1 else {(text, True) for text, _ in once}
        return found | {("", False)} if least == 0 else found
    return {("", True)}
