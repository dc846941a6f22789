"""The panes beside a list follow its cursor: at once, or while it runs when it rests."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Any

from textual.screen import Screen
from textual.timer import Timer

SKIM_SECONDS = 0.4
"""Moves that come faster than this are skimming: the panes then wait until the cursor rests."""
REST_SECONDS = 0.16


class Resting:
    """Calls `settle` for the moves of a cursor, once for many that come fast."""

    def __init__(self, screen: Screen[Any], settle: Callable[[], None]) -> None:
        self._screen = screen
        self._settle = settle
        self._moved_at = 0.0
        self._timer: Timer | None = None

    @property
    def waits(self) -> bool:
        """Whether the cursor runs: what the panes show is not about its row any more."""
        return self._timer is not None

    def moved(self) -> None:
        """The cursor stands on another row."""
        now = monotonic()
        skimming = now - self._moved_at < SKIM_SECONDS
        self._moved_at = now
        self.stop()
        if skimming:
            self._timer = self._screen.set_timer(REST_SECONDS, self._rested)
        else:
            self._settle()

    def stop(self) -> None:
        """Wait no longer: the panes are drawn for another reason."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None

    def _rested(self) -> None:
        self._timer = None
        self._settle()
