"""Hard-wrapped prose as paragraphs, without moving a character; a pane wraps it to its width."""

from __future__ import annotations

import re
from itertools import pairwise

WRAPPED = 45
"""A line shorter than this was ended on purpose."""

_FENCE = re.compile(r"\s*(```|~~~)")
_PROSE = re.compile(r"[\w(\[`\"'“‘*_](?!\s)|[aAI] ")
_NOT_PROSE = re.compile(r"\s|#|\||>|[-+*•]\s|\d+[.)]\s|</?\w|[\w -]+:\s*\S*$")


def reflowed(text: str) -> str:
    """`text` with a space for each line end inside a paragraph of prose.

    Every other character stays at its offset, so spans of the text are spans of the result.
    Headings, lists, tables, quotations, indented and fenced code keep their lines.
    """
    lines = text.split("\n")
    parts = [lines[0]]
    fenced = bool(_FENCE.match(lines[0]))
    for before, line in pairwise(lines):
        fence = bool(_FENCE.match(line))
        joins = (
            not fenced
            and not fence
            and len(before) >= WRAPPED
            and not before.endswith("  ")
            and not before.startswith(("#", "|"))
            and bool(_PROSE.match(line))
            and not _NOT_PROSE.match(line)
        )
        parts.append((" " if joins else "\n") + line)
        fenced ^= fence
    return "".join(parts)
