"""How long to wait before a stage is tried again."""

from __future__ import annotations

from collections.abc import Callable, Iterator

FIRST_SECONDS = 0.2
FACTOR = 2.0
LONGEST_SECONDS = 60.0

Random = Callable[[], float]
"""A number in [0, 1); passed in, so that tests are exact."""


def waits(max_retries: int, random: Random) -> Iterator[float]:
    """Seconds before each of the `max_retries` further attempts: 0.2 s, doubled each time, at most
    60 s, each between half of that and all of it, so that many runs do not knock together.
    """
    longest = FIRST_SECONDS
    for _ in range(max_retries):
        yield min(longest, LONGEST_SECONDS) * (0.5 + random() / 2)
        longest = min(longest * FACTOR, LONGEST_SECONDS)
