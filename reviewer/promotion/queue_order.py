"""The order of the queue: the person's own words and what recurred first, then what cost most."""

from __future__ import annotations

MOST_SESSIONS = 99
MOST_COST = 999


def rank(*, own_words: bool, sessions: int, cost: int, quality: float) -> float:
    """The place of a row, the higher the earlier. `quality`, from 0 to 1, decides between equals.

    First the person's own words and what several sessions show, by sessions and then calls lost;
    then what cost calls; then the rest.
    """
    dear = min(cost, MOST_COST) / 1_000 + quality * 0.0009
    if own_words or sessions > 1:
        return round(2 + min(sessions, MOST_SESSIONS) / 100 + dear / 100, 8)
    return round(1 + dear if cost else quality, 8)
