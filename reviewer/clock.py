"""Clocks and ISO 8601. Time is passed in as a function, so that tests and `--now` are exact."""

import re
import time
from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]

# `datetime.fromisoformat` accepts any character between date and time, even a control character.
_WRITTEN = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]{1,9})?)?(?:Z| ?[+-][0-9]{2}:?[0-9]{2})?)?"
)


def utc_now() -> datetime:
    return datetime.now(UTC)


def iso(moment: datetime) -> str:
    """A moment in the store's format: `2026-02-14T10:22:05.123Z`, sortable as text."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def from_iso(text: str) -> datetime | None:
    """The moment of an ISO 8601 text (UTC unless it names a zone), or None if invalid."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def written_moment(text: str | None) -> str | None:
    """A time from outside unchanged if it is valid ISO 8601, else None.

    Only such times are stored, because they are sorted, compared and displayed.
    """
    if text is None or _WRITTEN.fullmatch(text) is None or from_iso(text) is None:
        return None
    return text


MIN_SECONDS = 1.5
"""Seconds before the first estimate."""
MIN_PART = 0.02
"""The part that must be done before the first estimate."""


class TimeLeft:
    """The remaining time of some work, in words."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._began = now()

    def words(self, done: float, total: float) -> str:
        """`about 40 s left`; empty without an estimate. `done` and `total` in any unit."""
        spent = self._now() - self._began
        if spent < MIN_SECONDS or not total * MIN_PART <= done < total:
            return ""
        return f"{_rounded(spent * (total - done) / done)} left"


def _rounded(seconds: float) -> str:
    """Rounded so that it does not change all the time."""
    if seconds < 5:
        return "a few seconds"
    if seconds < 55:
        return f"about {max(round(seconds / 10), 1) * 10} s"
    if seconds < 5400:
        return f"about {max(round(seconds / 60), 1)} min"
    return f"about {round(seconds / 3600)} h"
