"""Which of many patterns may occur in a text at all, told from its words in one look.

Most rules look for words that a given statement does not hold. From a pattern the words, or their
beginnings, are derived of which one stands in everything that it finds; one pass over a
statement's words then names the few patterns that are worth a search.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from re import _constants as ops  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

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

_GRAM = 3
"""Letters with which a part of a word is looked up."""
_LITTLE = (
    "a all are as be can for has have if in is it no not now of on or that the this to use with"
)
_SURE = 1 << 64
"""What stands before the bits of groups that surely have a text; there are fewer groups."""
_FREQUENT = frozenset(_LITTLE.split())
"""Words that would tell little."""
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

    def __init__(self, patterns: Sequence[str | None] = ()) -> None:
        """None stands for what cannot be told and may always occur."""
        self._whole: dict[str, int] = {}
        self._beginnings: dict[str, int] = {}
        self._numbers = 0
        self._always = 0
        self._count = 0
        self._lengths: list[int] = []
        self._heads: frozenset[str] = frozenset()
        self._known: dict[bytes, int] = {}
        self.add(patterns)

    def add(self, patterns: Sequence[str | None]) -> int:
        """Put patterns behind those that are there; returns the place of the first of them."""
        first = self._count
        for number, pattern in enumerate(patterns, first):
            bit = 1 << number
            if pattern == NUMBER:
                self._numbers |= bit
                continue
            cues = None if pattern is None else cues_of(pattern)
            if cues is None or not all(word.isascii() for word, _ in cues):
                self._always |= bit
                continue
            for word, whole in cues:
                table = self._whole if whole else self._beginnings
                table[word] = table.get(word, 0) | bit
        self._count += len(patterns)
        self._lengths = sorted({len(word) for word in self._beginnings})
        self._heads = frozenset(word[:2] for word in self._beginnings)
        self._known.clear()
        return first

    def of(self, lower: str) -> int:
        """A bit for every pattern that may occur in a lower-case text; never one too few."""
        if not lower.isascii() and _UNEVEN.search(lower):
            return (1 << self._count) - 1
        known = self._known
        found = self._always
        for word in lower.encode("latin-1", "replace").translate(_TO_WORDS).split():
            bits = known.get(word)
            found |= self._learn(word) if bits is None else bits
        return found

    def _learn(self, word: bytes) -> int:
        if len(self._known) >= REMEMBERED:
            self._known.clear()
        text = word.decode("latin-1")
        bits = self._whole.get(text, 0)
        if text[:2] in self._heads or text[:1] in self._heads:
            for length in self._lengths:
                bits |= self._beginnings.get(text[:length], 0)
        if self._numbers and any(character.isdecimal() for character in text):
            bits |= self._numbers
        if len(word) <= LONGEST_WORD:
            self._known[word] = bits
        return bits


VOCABULARY = Cues()
"""The cues of everything that is looked for in statements: each part adds its own patterns."""


@lru_cache(maxsize=512)
def occurring(lower: str) -> int:
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


class Literals:
    """Which of many groups of literal texts, in lower case, may stand in a text, by its words."""

    def __init__(self, groups: Sequence[Sequence[str]]) -> None:
        self._signs: list[tuple[str, int]] = []
        parts: dict[str, int] = {}
        for number, texts in enumerate(groups):
            for text in texts:
                part = _telling_part(text)
                bits = 1 << number if part else (1 << number) * _SURE
                if part is None:
                    self._signs.append((text, bits))
                else:
                    bits *= _SURE if part == text else 1
                    parts[part] = parts.get(part, 0) | bits
        self._parts: dict[str, list[tuple[re.Pattern[str], int]]] = {}
        for part, bits in parts.items():
            letters = part.strip("^$")[:_GRAM]
            self._parts.setdefault(letters, []).append((re.compile(part), bits))
        self._sizes = sorted({len(letters) for letters in self._parts})
        self._known: dict[str, int] = {}

    def of(self, lower: str) -> tuple[int, int]:
        """Bits for the groups of which a text may stand in a lower-case text, and for those of
        which one surely does; each group that has one is in either.
        """
        known = self._known
        found = 0
        for sign, bits in self._signs:
            if sign in lower:
                found |= bits
        for word in WORD.findall(lower):
            bits = known.get(word, -1)
            found |= self._learn(word) if bits < 0 else bits
        return found % _SURE, found // _SURE

    def _learn(self, word: str) -> int:
        if len(self._known) >= REMEMBERED:
            self._known.clear()
        bits = 0
        for size in self._sizes:
            for start in range(len(word) - size + 1):
                for part, of_part in self._parts.get(word[start : start + size], ()):
                    if part.search(word):
                        bits |= of_part
        self._known[word] = bits
        return bits


def _telling_part(text: str) -> str | None:
    """A pattern for the word that a literal text needs: its rarest, whole where it is bordered."""
    words = list(WORD.finditer(text))
    if not words:
        return None
    best = max(words, key=lambda word: (word[0] not in _FREQUENT, len(word[0])))
    start = "^" if best.start() else ""
    end = "$" if best.end() < len(text) else ""
    return f"{start}{best[0]}{end}"  # a word needs no escaping


def cues_of(pattern: str) -> frozenset[tuple[str, bool]] | None:
    """Words (True) and beginnings of words (False) of which a text needs one to match.

    None where the pattern does not tell. `pattern` has no flags.
    """
    parsed = list(_parser.parse(pattern))
    if len(parsed) == 1 and parsed[0][0] is ops.BRANCH:
        branches = [list(branch) for branch in parsed[0][1][1]]
    else:
        branches = [parsed]
    cues: set[tuple[str, bool]] = set()
    for branch in branches:
        # A match begins at a word's start where a border or the text's start is asked for.
        bordered = bool(branch) and branch[0][0] is ops.AT and branch[0][1] in _BORDERS
        starts = _starts(branch)
        if starts is None:
            return None
        for text, _ in starts:
            cue = _cue(text, bordered)
            if cue is None:
                return None
            cues.add(cue)
    return frozenset(cues)


_BORDERS = (ops.AT_BEGINNING, ops.AT_BEGINNING_STRING, ops.AT_BOUNDARY)


def _cue(text: str, bordered: bool) -> tuple[str, bool] | None:
    """The longest word, or beginning of one, that a text in the middle of another one shows."""
    best: tuple[str, bool] | None = None
    for word in WORD.finditer(text):
        if word.start() == 0 and not bordered:
            continue  # may be the end of a longer word
        whole = word.end() < len(text)
        if best is None or (len(word[0]), whole) > (len(best[0]), best[1]):
            best = word[0], whole
    return best


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
