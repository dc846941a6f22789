"""Clocks and ISO 8601. Time is passed in as a function, so that tests and `--now` are exact."""

import math
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
SETTLES = 4.0
"""Seconds in which a new estimate takes over from those before."""
SWAY = 1.4
"""The time shown rises only when an estimate is longer by this factor."""

MOST_UNDER_WAY = 0.9
"""The part of the work under way that may count as done."""


class TimeLeft:
    """How long some work still takes, in words that do not jump: the time shown falls, and rises
    only when the work has become clearly slower.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._began = self._asked = now()
        self._left: float | None = None
        self._shown = 0.0
        self._done, self._done_at = 0.0, self._began

    def words(self, done: float, total: float, under_way: float = 0) -> str:
        """`about 40 s left`; empty as long as nobody can say. `done` and `total` in any unit.

        `under_way`: how much is being worked on, where work is done in large pieces. It counts at
        the pace so far, so that the time also falls while a piece is being worked on.
        """
        now = self._now()
        if done != self._done:
            self._done, self._done_at = done, now
        if self._done_at > self._began:
            pace = done / (self._done_at - self._began)
            done += min(pace * (now - self._done_at), MOST_UNDER_WAY * under_way)
        spent, since = now - self._began, now - self._asked
        if spent < FIRST_SECONDS or total <= 0 or done < total * FIRST_PART or done >= total:
            return ""
        self._asked = now
        estimate = spent * (total - done) / done
        if self._left is None:
            self._left = self._shown = estimate
        else:
            before = max(self._left - since, 0.0)
            self._left = estimate + (before - estimate) * math.exp(-since / SETTLES)
        if self._left < self._shown or self._left > SWAY * self._shown:
            self._shown = self._left
        return f"{_rounded(self._shown)} left"


def _rounded(seconds: float) -> str:
    """Coarse enough that it does not change with every look."""
    if seconds < 5:
        return "a few seconds"
    if seconds < 55:
        return f"about {max(round(seconds / 10), 1) * 10} s"
    if seconds < 5400:
        return f"about {max(round(seconds / 60), 1)} min"
    return f"about {round(seconds / 3600)} h"
