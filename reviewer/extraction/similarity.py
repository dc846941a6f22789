"""Similarity of two wordings, and when they count as near-duplicates.

Near-duplicates share one decision, so they must mean the same and differ only in wording.
"""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct
from rapidfuzz import fuzz

from reviewer.text.normalise import duplicate_key
from reviewer.text.stop_words import SIMILARITY_STOP_WORDS
from reviewer.text.wording import same_wording

NEAR = 0.82
"""Minimum similarity of near-duplicates."""
LOOKS_ALIKE = NEAR - 0.01
"""Maximum similarity of two different facts, however alike their wordings."""

_WORD = re.compile(r"[^\W_]+(?:[._/'’-][^\W_]+)*")


def words(text: str) -> frozenset[str]:
    """The words of a text that carry meaning, in lower case; paths and dotted names stay whole."""
    return frozenset(_WORD.findall(text.lower())) - SIMILARITY_STOP_WORDS


def overlap(a: frozenset[str], b: frozenset[str]) -> float:
    """Share of words in common (Dice), 0 to 1."""
    total = len(a) + len(b)
    return 2 * len(a & b) / total if total else 0.0


def similarity(a: str, b: str) -> float:
    """Similarity of two wordings, 0 to 1; 1 only for equal normalised texts.

    Texts that differ in a content word, number, negation or argument order stay below NEAR, however
    similar they look. Rewordings of the same are at least NEAR.
    """
    first, second = _read(a), _read(b)
    if first.key == second.key:
        return 1.0
    shared = first.words & second.words
    if not shared:
        return 0.0
    spelled = fuzz.token_sort_ratio(first.key, second.key) / 100
    meant = overlap(first.words, second.words)
    score = max(meant, (spelled + meant) / 2)
    if meant >= NEAR / 2 and same_wording(a, b):
        return min(max(score, NEAR), 0.99)
    return min(score, LOOKS_ALIKE)


class _Wording(Struct, frozen=True):
    """The compared parts of a wording."""

    key: str
    words: frozenset[str]


@lru_cache(maxsize=8192)
def _read(text: str) -> _Wording:
    """Cached, because each of many near-duplicates is compared with all others."""
    key = duplicate_key(text)
    return _Wording(key, words(key))
