"""Cutting texts to what fits."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable


def clip(text: str, most: int) -> str:
    """A text on one line of at most `most` characters, with an ellipsis where it is cut."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def largest(low: int, high: int, fits: Callable[[int], bool]) -> int:
    """The largest number that fits; `low` is assumed to fit."""
    numbers = range(low + 1, high + 1)
    return low + bisect_left(numbers, True, key=lambda number: not fits(number))
