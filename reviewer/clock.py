"""Clocks and ISO 8601. Time is passed in as a function, so that tests and `--now` are exact."""

import re
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
