"""How a near duplicate differs from the row that represents it, in one short text."""

from __future__ import annotations

from msgspec import structs

from reviewer.text.word_diff import hunks
from reviewer.tui.kit.text import TextSpan, marked_changes
from reviewer.tui.theme import Glyphs

COMPARED = 2_000
"""Characters of each text that are compared."""
LEAD = 48
"""Characters of equal text that are kept before the first difference."""
FAR = 120
"""A difference that begins later than this is moved forward."""


def difference(content: str, other: str, signs: Glyphs) -> tuple[str, tuple[TextSpan, ...]]:
    """`other` in one line; additions are `{+so+}`, omissions `[-so-]`."""
    left = " ".join(content[:COMPARED].split())
    right = " ".join(other[:COMPARED].split())
    text, spans = marked_changes(hunks(left, right))
    begin = f'"{text}"'
    shift = 1
    if spans and spans[0].start > FAR:
        kept = text[spans[0].start - LEAD :].partition(" ")[2]
        begin = f'"{signs.ellipsis} {kept}"'
        shift = len(begin) - 1 - len(text)
    return begin, tuple(
        structs.replace(span, start=span.start + shift, end=span.end + shift) for span in spans
    )
