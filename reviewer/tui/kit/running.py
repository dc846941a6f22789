"""Progress and cancellation of long acts."""

from __future__ import annotations

from threading import Event

from reviewer.clock import TimeLeft
from reviewer.tui.kit import keys


class RunningAct:
    """A running act on many rows; used from two threads."""

    def __init__(self, words: str, total: int = 0) -> None:
        """`words` such as `Rejecting`; `total` rows, 0 if unknown."""
        self.words = words
        self.total = total
        self._rows = 0
        self._stop = Event()
        self._time_left = TimeLeft()

    def watch(self, rows: int) -> bool:
        """Report the number of rows written so far; returns whether to stop."""
        self._rows = max(self._rows, rows)
        return self._stop.is_set()

    def stop(self) -> None:
        """Request a rollback of the act."""
        self._stop.set()

    @property
    def sentence(self) -> str:
        """`Rejecting: 34,200 of 100,000 done - escape stops`."""
        if self._stop.is_set():
            return f"{self.words}: rolling back ..."
        done = min(self._rows, self.total) if self.total else self._rows
        many = f" of {self.total:,}" if self.total else ""
        left = self._time_left.words(done, self.total)
        return (
            f"{self.words}: {done:,}{many} done{f', {left}' if left else ''} "
            f"- {keys.BACK.key} stops"
        )
