"""Counts as shown in sentences."""

from __future__ import annotations

from collections.abc import Sequence


def count(number: int, noun: str, plural: str = "") -> str:
    """`1 file`, `2 files`, `12,345 files`; `plural` for irregular nouns."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def times(number: int) -> str:
    """`once`, `twice`, `3 times`."""
    return {1: "once", 2: "twice"}.get(number, f"{number:,} times")


def some_of(names: Sequence[str], most: int = 5) -> str:
    """`a, b and 3 more`."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more:,} more" if more > 0 else "")
