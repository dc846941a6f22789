"""Where the patterns that match stand in a commit's text. For the eye only: `check` decides."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING
from unicodedata import is_normalized, normalize

from reviewer.tui.kit.text import Span

if TYPE_CHECKING:
    from reviewer.engine import Pattern, PatternCheck

MOST_MARKS = 200
"""Places of one pattern that are marked."""
SECONDS = 0.25
"""A regular expression that takes longer than this is not marked."""


def match_spans(checks: Sequence[PatternCheck], text: str) -> tuple[Span, ...]:
    """The places of every pattern that was found in `text`, in order, none over another.

    A text that is not NFC-normalised is left unmarked: its characters stand elsewhere in what
    was checked.
    """
    if not is_normalized("NFC", text):
        return ()
    found = [
        (start, end)
        for check in checks
        if check.state == "matches"
        for start, end in islice(_places(check.pattern, text), MOST_MARKS)
        if start < end
    ]
    spans: list[Span] = []
    for start, end in sorted(found, key=lambda place: (place[0], -place[1])):
        if spans and start < spans[-1].end:
            if end > spans[-1].end:
                spans[-1] = Span(spans[-1].start, end, "kept")
        else:
            spans.append(Span(start, end, "kept"))
    return tuple(spans)


def _places(pattern: Pattern, text: str) -> Iterator[tuple[int, int]]:
    wanted = normalize("NFC", pattern.text)
    if pattern.mode == "substring":
        words = r"\s+".join(re.escape(word) for word in wanted.split())
        yield from (match.span() for match in re.finditer(words, text))
        return
    import regex  # late: only criteria with regular expressions need it

    try:
        yield from (match.span() for match in regex.finditer(wanted, text, timeout=SECONDS))
    except TimeoutError:
        return
