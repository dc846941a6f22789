"""What a session is about: the words that recur in what it proposed.

A statement that uses the recurring words says something about the session's subject. A word
counts less each time a statement that was ranked before has used it, so that the first rows
cover different subjects (the greedy coverage of extractive summaries).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

FLOOR = 0.2
"""Salience of a statement whose words occur nowhere else: said once, it may still be worth it."""
DECAY = 0.85
"""What is left of a word's value after each use."""


class Salience:
    """Values of words within one session, and how often each was used by rows ranked before."""

    def __init__(self, texts: Iterable[frozenset[str]]) -> None:
        counts: Counter[str] = Counter()
        number = 0
        for some in texts:
            counts.update(some)
            number += 1
        scale = math.log(max(number, 2))
        self._value = {word: math.log(count) / scale for word, count in counts.items()}
        self._used: Counter[str] = Counter()

    def of(self, some: frozenset[str]) -> float:
        """Salience of a statement with these words, FLOOR to 1; it only falls with `use`."""
        if not some:
            return FLOOR
        total = math.fsum(self._value[word] * DECAY ** self._used[word] for word in some)
        return FLOOR + (1 - FLOOR) * min(total / len(some), 1.0)

    def use(self, some: frozenset[str]) -> None:
        """Take note that a statement with these words was ranked."""
        self._used.update(some)
