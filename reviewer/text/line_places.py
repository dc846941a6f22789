"""On which line of a text a character stands, however often one text is asked."""

from __future__ import annotations

from bisect import bisect_left
from functools import lru_cache

_SHORT = 2_000
"""Characters up to which counting is faster than remembering."""


def lines_before(text: str, place: int) -> int:
    """How many line ends stand in `text[:place]`: the 0-based line of the character there."""
    if len(text) <= _SHORT:
        return text.count("\n", 0, place)
    return bisect_left(_line_ends(text), place)


@lru_cache(maxsize=2)
def _line_ends(text: str) -> list[int]:
    ends = []
    at = text.find("\n")
    while at >= 0:
        ends.append(at)
        at = text.find("\n", at + 1)
    return ends
