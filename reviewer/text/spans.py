"""Parts of a text between an opening and a closing mark."""

from __future__ import annotations

import re


def without_spans(text: str, opening: re.Pattern[str], closing: re.Pattern[str]) -> str:
    """The text without the parts between marks and the blanks before them.

    An unclosed mark stays.
    """
    kept: list[str] = []
    at = 0
    # A single pattern would search for the end again from every opening.
    while (begins := opening.search(text, at)) and (ends := closing.search(text, begins.end())):
        kept.append(text[at : begins.start()].rstrip())
        at = ends.end()
    return "".join([*kept, text[at:]])
