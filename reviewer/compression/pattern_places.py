"""Where a retention pattern matches in a source: the spans that a patch can quote."""

from __future__ import annotations

from collections.abc import Iterator

from reviewer.commits.patterns import SECONDS_A_PATTERN, PatternError, compiled
from reviewer.commits.values import Pattern
from reviewer.compression.spans import find_verbatim


def first_place(pattern: Pattern, text: str) -> tuple[int, int] | None:
    """The first span of `text` that a pattern matches and that is not empty.

    None where there is none, or where the expression is bad or too slow to tell: whoever checks
    the pattern (`commits/patterns.py`) says so.
    """
    if pattern.mode == "substring":
        return find_verbatim(text, pattern.text)
    return next(_matches(pattern.text, text), None)


def _matches(expression: str, text: str) -> Iterator[tuple[int, int]]:
    try:
        for match in compiled(expression).finditer(text, timeout=SECONDS_A_PATTERN):
            if match.end() > match.start():
                yield match.span()
    except (PatternError, TimeoutError):
        return
