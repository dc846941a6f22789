"""What a text must hold for a pattern to find anything in it, derived from the pattern.

A need is a list of ways to match (`Way`): each names sets of word parts of which the text needs
one from every set. `\\b(?:because|the \\w+ was)\\b` needs `because`, or else `the` and `was`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import chain
from re import _constants as ops  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

from msgspec import Struct

EDGE = "\0"
"""In a derived text: a border of a word."""
MOST = 32
"""Derived texts of one stretch of a pattern; with more, the stretch is cut."""
MOST_WAYS = 40
SETS = 3
"""Sets of a way that are kept: the most telling ones."""
_WIDEST = 6
"""Characters of a class of which each is told apart."""
_WORD = re.compile(r"\w+")
_LITTLE = (
    "a all an and any are as at be but by can do for from has have i if in into is it its me my no"
    " not now of on only or out so t that the them then there this to use was we were will with"
    " you your"
)
_FREQUENT = frozenset(_LITTLE.split())
"""Words that would tell little."""

Texts = frozenset[str]


class Part(Struct, frozen=True, order=True):
    """A stretch of a word: at its start, at its end, both (the whole word) or neither."""

    text: str
    starts: bool
    ends: bool


Parts = frozenset[Part]


class Way(Struct, frozen=True):
    """Sets of which a text needs one part each. `sure`: nothing else is needed to match."""

    sets: tuple[Parts, ...]
    sure: bool = False


class _Found(Struct, frozen=True):
    """What is known of a stretch of a pattern: all texts that it finds, or else its sets.

    `plain`: nothing besides has to hold.
    """

    texts: Texts | None
    sets: tuple[Parts, ...] = ()
    plain: bool = True


_EMPTY = _Found(frozenset(("",)))
_ANYTHING = _Found(None, (), False)
_ZERO_WIDTH = _Found(frozenset(("",)), (), False)
_END = (None, None)
_BORDERS = {ops.AT_BOUNDARY: True, ops.AT_BEGINNING: False, ops.AT_BEGINNING_STRING: False}


def ways_of(pattern: str) -> tuple[Way, ...] | None:
    """The ways in which a pattern without flags may match; None where any text might do."""
    ways: set[Way] = set()
    for sequence in _alternatives(_parser.parse(pattern).data):
        found = _sequence(sequence)
        if found.texts is None:
            more = [Way(_best(found.sets))] if found.sets else None
        else:
            more = _ways_of_texts(found.texts, found.plain)
        if more is None:
            return None
        ways.update(more)
    return tuple(sorted(ways, key=lambda way: tuple(tuple(sorted(s)) for s in way.sets)))


def _alternatives(sequence: list[tuple[Any, Any]]) -> list[list[tuple[Any, Any]]]:
    """The sequences that a pattern chooses between, where telling them apart says more."""
    for place, (kind, value) in enumerate(sequence):
        inner = [(kind, value)]
        while len(inner) == 1 and inner[0][0] is ops.SUBPATTERN and not any(inner[0][1][1:3]):
            inner = inner[0][1][3].data
        if len(inner) != 1 or inner[0][0] is not ops.BRANCH:
            continue
        branches = [branch.data for branch in inner[0][1][1]]
        if all(_sequence(branch).texts is not None for branch in branches):
            continue
        found: list[list[tuple[Any, Any]]] = []
        for branch in branches:
            found += _alternatives([*sequence[:place], *branch, *sequence[place + 1 :]])
        return found if len(found) <= MOST_WAYS else [sequence]
    return [sequence]


def _sequence(elements: Iterable[tuple[Any, Any]]) -> _Found:
    """What is known of elements that follow each other."""
    texts: Texts = _EMPTY.texts or frozenset()
    sets: tuple[Parts, ...] = ()
    cut = False
    plain = True
    letters = ""
    for kind, value in chain(elements, (_END,)):
        if kind is ops.LITERAL:
            letters += chr(value)
            continue
        if letters:
            texts = frozenset([text + letters for text in texts])
            letters = ""
        if kind is None:
            break
        found = _element(kind, value)
        plain = plain and found.plain
        if found.texts is not None and len(texts) * len(found.texts) <= MOST:
            texts = frozenset([text + more for text in texts for more in found.texts])
            continue
        cut = True
        sets += (*_set_of(texts), *found.sets)
        texts = frozenset(("",)) if found.texts is None else found.texts
    if not cut:
        return _Found(texts, (), plain)
    return _Found(None, (*sets, *_set_of(texts)), False)


def _element(kind: Any, value: Any) -> _Found:
    if kind is ops.IN:
        return _class(value)
    if kind is ops.AT:
        border = _BORDERS.get(value)
        return _Found(frozenset((EDGE,)), (), border) if border is not None else _ZERO_WIDTH
    if kind in (ops.ASSERT, ops.ASSERT_NOT):
        return _ZERO_WIDTH
    if kind is ops.SUBPATTERN:
        return _ANYTHING if any(value[1:3]) else _sequence(value[3].data)
    if kind is ops.BRANCH:
        return reduce(_either, [_sequence(branch.data) for branch in value[1]])
    if kind in (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT):
        least, most, inner = value
        once = _sequence(inner.data)
        if most == 1 and least == 0:
            return _either(once, _EMPTY) if once.texts is not None else _ANYTHING
        return once if most == 1 else _cut(once) if least else _ANYTHING
    return _ANYTHING


def _class(members: Sequence[tuple[Any, Any]]) -> _Found:
    """The characters of a class, where they are few."""
    characters: set[str] = set()
    for kind, value in members:
        if kind is ops.LITERAL:
            characters.add(chr(value))
        elif kind is ops.RANGE and value[1] - value[0] < _WIDEST:
            characters.update(map(chr, range(value[0], value[1] + 1)))
        else:
            return _ANYTHING
    return _Found(frozenset(characters)) if len(characters) <= _WIDEST else _ANYTHING


def _cut(found: _Found) -> _Found:
    """The same without knowing what stands right beside it."""
    return _Found(None, found.sets if found.texts is None else _set_of(found.texts), False)


def _either(one: _Found, other: _Found) -> _Found:
    if one.texts is not None and other.texts is not None:
        texts = one.texts | other.texts
        if len(texts) <= MOST:
            return _Found(texts, (), one.plain and other.plain)
    pairs = zip(_best(_cut(one).sets), _best(_cut(other).sets), strict=False)
    return _Found(None, tuple(a | b for a, b in pairs), False)


def _ways_of_texts(texts: Texts, plain: bool) -> list[Way] | None:
    """One way for all texts that have a telling word, and one for each of those that have not."""
    sure: set[Part] = set()
    telling: set[Part] = set()
    ways: list[Way] = []
    for text in texts:
        parts = _parts(text)
        if not parts:
            return None
        best = max(parts, key=_worth)
        if plain and text == f"{EDGE}{best.text}{EDGE}":
            sure.add(best)
        elif best.text in _FREQUENT and len(parts) > 1:
            ways.append(Way(_best(tuple(frozenset((part,)) for part in parts))))
        else:
            telling.add(best)
    if telling:
        ways.append(Way((frozenset(telling),)))
    if sure:
        ways.append(Way((frozenset(sure),), True))
    return ways


def _set_of(texts: Texts) -> tuple[Parts, ...]:
    """The set of the most telling part of each text; nothing where one of them has none."""
    best: set[Part] = set()
    for text in texts:
        parts = _parts(text)
        if not parts:
            return ()
        best.add(max(parts, key=_worth))
    return (frozenset(best),)


def _parts(text: str) -> list[Part]:
    """The words of a derived text; those at its ends may go on, unless a border is there."""
    return [
        Part(word[0], word.start() > 0, word.end() < len(text)) for word in _WORD.finditer(text)
    ]


def _worth(part: Part) -> tuple[bool, int, bool, Part]:
    return part.text not in _FREQUENT, len(part.text), part.starts, part


def _best(sets: tuple[Parts, ...]) -> tuple[Parts, ...]:
    """The most telling sets, in order: a set tells as much as the commonest of its parts."""
    ranked = sorted(
        set(sets), key=lambda parts: (min(map(_worth, parts))[:2], -len(parts), sorted(parts))
    )
    return tuple(reversed(ranked))[:SETS]
