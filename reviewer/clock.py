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
    """The moment of an ISO 8601 text (in UTC if it does not name a zone), or None if invalid."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def written_moment(text: str | None) -> str | None:
    """A time from outside unchanged if it is valid ISO 8601, else None.

    Only such times may be stored, because they are sorted, compared and displayed.
    """
    if text is None or _WRITTEN.fullmatch(text) is None or from_iso(text) is None:
        return None
    return text


FIRST_SECONDS = 1.5
"""Before that an estimate says nothing."""
FIRST_PART = 0.02
"""The part that has to be done before an estimate is made."""
SWAY = 1.4
"""The time shown rises only when an estimate is longer by this factor."""


class TimeLeft:
    """How long some work still takes, in words that do not jump: the time shown falls, and rises
    only when the work has become clearly slower.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._began = now()
        self._ends: float | None = None
        self._done = 0.0

    def words(self, done: float, total: float) -> str:
        """`about 40 s left`; empty as long as nobody can say. `done` and `total` in any unit."""
        now = self._now()
        spent = now - self._began
        if spent < FIRST_SECONDS or not total * FIRST_PART <= done < total:
            return ""
        left = 0.0 if self._ends is None else self._ends - now
        if done != self._done:
            self._done, estimate = done, spent * (total - done) / done
            if not left <= estimate <= SWAY * left:
                left, self._ends = estimate, now + estimate
        return f"{_rounded(left)} left"


def _rounded(seconds: float) -> str:
    """Coarse enough that it does not change with every look."""
    if seconds < 5:
        return "a few seconds"
    if seconds < 55:
        return f"about {max(round(seconds / 10), 1) * 10} s"
    if seconds < 5400:
        return f"about {max(round(seconds / 60), 1)} min"
    return f"about {round(seconds / 3600)} h"
