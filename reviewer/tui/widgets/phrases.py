"""Figures and moments in the words of the screen: `.58`, `4 days`, `3 times`."""

from __future__ import annotations

from datetime import datetime

from reviewer.clock import from_iso

_STEPS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


def figure(value: float) -> str:
    """A number with two places, without a leading zero: `.58`, `1.10`."""
    text = f"{value:.2f}"
    return text[1:] if text.startswith("0.") else text


def count(number: int, noun: str) -> str:
    """`1 session`, `2 sessions`, `12,345 rows`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def times(number: int) -> str:
    """`once`, `twice`, `3 times`."""
    return {1: "once", 2: "twice"}.get(number, f"{number:,} times")


def elapsed(since: str | None, now: datetime) -> str:
    """How long ago an ISO moment is: `4 days`, `3 hours`, `a moment`; `?` when unreadable."""
    moment = from_iso(since) if since else None
    if moment is None:
        return "?"
    seconds = max(0, int((now - moment).total_seconds()))
    for length, noun in _STEPS:
        if seconds >= length:
            return count(seconds // length, noun)
    return "a moment"


def moment(at: str | None) -> str:
    """An ISO moment as a person reads it, in local time: `2026-02-14 10:22`."""
    when = from_iso(at) if at else None
    return when.astimezone().strftime("%Y-%m-%d %H:%M") if when else (at or "")
