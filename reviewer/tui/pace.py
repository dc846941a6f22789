"""How long the queue will still take, from the pace of this session alone."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

ENOUGH = 5
"""Decisions before a pace is worth showing."""
PAUSE_SECONDS = 120.0
"""A longer gap between two decisions was a pause and counts as this much."""


class Pace:
    """Seconds that a decision takes."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._last = clock()
        self._seconds = 0.0
        self._decisions = 0

    def decided(self, rows: int) -> None:
        """So many rows were decided by one key."""
        now = self._clock()
        self._seconds += min(now - self._last, PAUSE_SECONDS)
        self._last = now
        self._decisions += rows

    def minutes(self, waiting: int) -> int | None:
        """Minutes for the rows that still wait, at least 1; None before enough decisions."""
        if self._decisions < ENOUGH or not waiting:
            return None
        return max(1, round(waiting * self._seconds / self._decisions / 60))
