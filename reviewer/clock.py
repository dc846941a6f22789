"""Time is passed in: a clock is a function, so that tests and `--now` are exact."""

import re
from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]

# `datetime.fromisoformat` takes any character between date and time, a control character too.
_WRITTEN = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]{1,9})?)?(?:Z| ?[+-][0-9]{2}:?[0-9]{2})?)?"
)


def utc_now() -> datetime:
    """The present moment in UTC."""
    return datetime.now(UTC)


def iso(moment: datetime) -> str:
    """A moment as the store keeps it: `2026-02-14T10:22:05.123Z`, sortable as text."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def from_iso(text: str) -> datetime | None:
    """The moment that an ISO 8601 text names (UTC when it names no zone), or None."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def written_moment(text: str | None) -> str | None:
    """A time from outside as it was written, when it is one in ISO 8601; else None.

    Nothing else may be stored as a time: it is sorted, compared and shown.
    """
    if text is None or _WRITTEN.fullmatch(text) is None or from_iso(text) is None:
        return None
    return text
