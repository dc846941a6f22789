"""How a near duplicate differs from the row that represents it, in one short text."""

from __future__ import annotations

from reviewer.text.word_diff import hunks
from reviewer.tui.kit.text import Span
from reviewer.tui.theme import Glyphs

COMPARED = 2_000
"""Characters of each text that are compared."""
LEAD = 48
"""Characters of equal text that are kept before the first difference."""
FAR = 120
"""A difference that begins later than this is moved forward."""


def difference(content: str, other: str, signs: Glyphs) -> tuple[str, tuple[Span, ...]]:
    """`other` in one line; additions are `{+so+}`, omissions `[-so-]`."""
    left = " ".join(content[:COMPARED].split())
    right = " ".join(other[:COMPARED].split())
    parts: list[str] = ['"']
    spans: list[Span] = []
    length = 1

    def add(text: str, style: str = "") -> None:
        nonlocal length
        if style:
            spans.append(Span(length, length + len(text), style, here=False))
        parts.append(text)
        length += len(text)

    for hunk in hunks(left, right):
        if hunk.op == "equal":
            same = hunk.edited
            if not spans and len(same) > FAR:
                same = f"{signs.ellipsis} {same[-LEAD:].partition(' ')[2]}"
            add(same)
            continue
        if hunk.original.strip():
            add(f"[-{hunk.original.strip()}-]", "removed")
            add(" " if hunk.edited.strip() or hunk.original.endswith(" ") else "")
        if hunk.edited.strip():
            add(f"{{+{hunk.edited.strip()}+}}", "added")
            add(" " if hunk.edited.endswith(" ") else "")
    add('"')
    return "".join(parts), tuple(spans)
