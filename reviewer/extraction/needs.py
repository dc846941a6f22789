"""What a text must hold for a pattern to find anything in it, derived from the pattern.

A need is a list of ways to match (`Way`): each names sets of word parts of which the text needs
one from every set. `\\b(?:because|the \\w+ was)\\b` needs `because`, or else `the` and `was`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache, reduce
from itertools import chain
from re import _constants as ops  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

from msgspec import Struct

EDGE = "\0"
"""In a derived text: a border of a word."""
MOST = 80
"""Derived texts of one stretch of a pattern; with more, the stretch is cut."""
MOST_WAYS = 40
SETS = 3
"""Sets of a way that are kept: the most telling ones."""
_WIDEST = 6
"""Characters of a class of which each is told apart."""
_SHORT = 3
"""Letters below which a part of a word stands in every other text."""
_WORD = re.compile(r"\w+")
_LITTLE = (
    "the to a and is in it that this i for of with on if s are t be as not you from was so can has"
    " have will we by at or an its"
)
_FREQUENT = {word: place for place, word in enumerate(_LITTLE.split())}
"""Words that tell little, the most frequent ones first."""

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
_SIGN = _Found(frozenset((" ",)), (), False)
"""A blank stands for any character that is in no word."""
_SOME_SIGNS = _Found(frozenset(("", " ")), (), False)
_ZERO_WIDTH = _Found(frozenset(("",)), (), False)
_END = (None, None)
_BORDERS = {ops.AT_BOUNDARY: True, ops.AT_BEGINNING: False, ops.AT_BEGINNING_STRING: False}


@cache
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
        if found.texts is not None and _may_be_left_out(found.texts) and _all_border(texts, -1):
            plain = False  # what follows begins behind a sign either way
            continue
        if found.texts is not None and len(texts) * len(found.texts) <= MOST:
            texts = frozenset([text + more for text in texts for more in found.texts])
            continue
        cut = True
        next_texts = _EMPTY.texts if found.texts is None else found.texts
        assert next_texts is not None
        if _all_border(next_texts, 0):
            texts = frozenset([text + EDGE for text in texts])
        if found.texts is not None and _all_border(texts, -1):
            next_texts = frozenset([EDGE + text for text in next_texts])
        sets += (*_sets_of(texts), *found.sets)
        texts = next_texts
    if not cut:
        return _Found(texts, (), plain)
    return _Found(None, (*sets, *_sets_of(texts)), False)


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
        if once.texts is not None and not any(map(_WORD.search, once.texts)) and most > 1:
            return _SOME_SIGNS if least == 0 or "" in once.texts else _SIGN
        if kind is ops.POSSESSIVE_REPEAT and once.texts is not None:
            once = _Found(once.texts, (), False)  # what it takes it does not give back
        if most == 1 and least == 0:
            return _either(once, _EMPTY) if once.texts is not None else _ANYTHING
        return once if most == 1 else _cut(once) if least else _ANYTHING
    return _ANYTHING


def _class(members: Sequence[tuple[Any, Any]]) -> _Found:
    """The characters of a class, where they are few; one sign for those that are in no word."""
    if all(_is_sign(kind, value) for kind, value in members):
        return _SIGN
    characters: set[str] = set()
    for kind, value in members:
        if kind is ops.LITERAL:
            characters.add(chr(value))
        elif kind is ops.RANGE and value[1] - value[0] < _WIDEST:
            characters.update(map(chr, range(value[0], value[1] + 1)))
        else:
            return _ANYTHING
    return _Found(frozenset(characters)) if len(characters) <= _WIDEST else _ANYTHING


def _is_sign(kind: Any, value: Any) -> bool:
    """Whether a member of a class stands in no word."""
    if kind is ops.LITERAL:
        return _WORD.match(chr(value)) is None
    return kind is ops.CATEGORY and value in (ops.CATEGORY_SPACE, ops.CATEGORY_NOT_WORD)


def _all_border(texts: Texts, place: int) -> bool:
    """Whether all texts have a sign, or a border, at their start (0) or end (-1)."""
    return all(text and _WORD.match(text[place]) is None for text in texts)


def _may_be_left_out(texts: Texts) -> bool:
    """Whether texts are words with a sign behind them, or nothing."""
    return len(texts) > 1 and "" in texts and _all_border(texts - {""}, -1)


def _cut(found: _Found) -> _Found:
    """The same without knowing what stands right beside it."""
    return _Found(None, found.sets if found.texts is None else _sets_of(found.texts), False)


def _either(one: _Found, other: _Found) -> _Found:
    if one.texts is not None and other.texts is not None:
        texts = one.texts | other.texts
        if len(texts) <= MOST:
            return _Found(texts, (), one.plain and other.plain)
    pairs = zip(_best(_cut(one).sets), _best(_cut(other).sets), strict=False)
    return _Found(None, tuple(a | b for a, b in pairs), False)


def _ways_of_texts(texts: Texts, plain: bool) -> list[Way] | None:
    """Few ways for all texts: those of one word, those of several, and each that tells little."""
    sure: set[Part] = set()
    single: set[Part] = set()
    several: dict[int, set[str]] = {}
    """Texts by the number of their words."""
    ways: list[Way] = []
    for text in texts:
        parts = _parts(text)
        if not parts:
            return None
        best = max(parts, key=_worth)
        if plain and text == f"{EDGE}{best.text}{EDGE}":
            sure.add(best)
        elif len(parts) == 1:
            single.add(best)
        elif _tells(best):
            several.setdefault(len(parts), set()).add(text)
        else:
            ways.append(Way(_sets_of(frozenset((text,)))))
    if sure:
        ways.append(Way((frozenset(sure),), True))
    if single:
        ways.append(Way((frozenset(single),)))
    ways += [Way(_sets_of(frozenset(of_length))) for of_length in several.values()]
    return ways


def _sets_of(texts: Texts) -> tuple[Parts, ...]:
    """Sets of one part of each text: their first words, their second ones, ..., and counted from
    their ends; none where a text has no word.
    """
    ranked = [_parts(text) for text in texts]
    least = min(map(len, ranked), default=0)
    places = range(-least, least)
    return _best(tuple(frozenset([parts[place] for parts in ranked]) for place in places))


def _parts(text: str) -> list[Part]:
    """The words of a derived text; those at its ends may go on, unless a border is there."""
    return [
        Part(word[0], word.start() > 0, word.end() < len(text)) for word in _WORD.finditer(text)
    ]


def _worth(part: Part) -> tuple[int, int, bool, Part]:
    rank = _FREQUENT.get(part.text, len(_FREQUENT))
    return rank, len(part.text), part.starts, part


def _best(sets: tuple[Parts, ...]) -> tuple[Parts, ...]:
    """The most telling sets, in order: a set tells as much as the commonest of its parts.

    What stands in most texts tells nothing beside a set that tells more.
    """
    ranked = sorted(
        set(sets), key=lambda parts: (min(map(_worth, parts))[:2], -len(parts), sorted(parts))
    )
    ranked.reverse()
    telling = [parts for parts in ranked if all(map(_tells, parts))]
    if len(telling) < 2:
        telling += [parts for parts in ranked if parts not in telling and all(map(_is_long, parts))]
    return tuple(telling or ranked[:1])[:SETS]


def _tells(part: Part) -> bool:
    return part.text not in _FREQUENT and _is_long(part)


def _is_long(part: Part) -> bool:
    return len(part.text) >= _SHORT or (part.starts and part.ends)
