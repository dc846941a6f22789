"""How similar two wordings are, and when they count as near-duplicates.

Near-duplicates are shown under one row but never merged.
"""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct
from rapidfuzz import fuzz

from reviewer.text.normalise import duplicate_key
from reviewer.text.stop_words import SIMILARITY_STOP_WORDS

NEAR = 0.82
"""Minimum similarity of near-duplicates."""

_WORD = re.compile(r"[^\W_]+(?:[._/'’-][^\W_]+)*")
_NEGATION = re.compile(r"(?:not|no|never|without|cannot|\w+n['’]t)$")


def words(text: str) -> frozenset[str]:
    """The words of a text that carry meaning, lower-case; paths and dotted names stay whole."""
    return frozenset(_WORD.findall(text.lower())) - SIMILARITY_STOP_WORDS


def overlap(a: frozenset[str], b: frozenset[str]) -> float:
    """Share of words in common (Dice), 0 to 1."""
    total = len(a) + len(b)
    return 2 * len(a & b) / total if total else 0.0


def similarity(a: str, b: str) -> float:
    """How much two wordings agree, 0 to 1; 1 only for equal normalised texts.

    Texts that differ in a number or a negation, or that do not share a long word, stay below NEAR
    however similar they look.
    """
    first, second = _read(a), _read(b)
    if first.key == second.key:
        return 1.0
    return min(0.99, _near(first, second))


class _Wording(Struct, frozen=True):
    """The parts of a wording that are compared."""

    key: str
    words: frozenset[str]
    exact: frozenset[str]


@lru_cache(maxsize=8192)
def _read(text: str) -> _Wording:
    """Cached, because each of many near-duplicates is compared with all others."""
    key = duplicate_key(text)
    return _Wording(key, words(key), _exact(_WORD.findall(key)))


def _near(some: _Wording, other: _Wording) -> float:
    shared = some.words & other.words
    if not shared:
        return 0.0
    spelled = fuzz.token_sort_ratio(some.key, other.key) / 100
    meant = overlap(some.words, other.words)
    score = max(meant, (spelled + meant) / 2)
    if score >= NEAR and (some.exact != other.exact or not any(len(word) > 3 for word in shared)):
        return NEAR - 0.01
    return score


def _exact(some: list[str]) -> frozenset[str]:
    """The words that decide the meaning: those with a digit, and plain negations."""
    return frozenset(
        word for word in some if _NEGATION.match(word) or any(c.isdigit() for c in word)
    )
