"""Clocks that tests set."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


class TickingClock:
    """Starts at noon on 1 March 2026 and moves a second at every look."""

    def __init__(self) -> None:
        self.moment = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.moment += timedelta(seconds=1)
        return self.moment
