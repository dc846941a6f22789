"""Parts of a text between an opening and a closing mark."""

from __future__ import annotations

import re


def without_spans(text: str, opening: re.Pattern[str], closing: re.Pattern[str]) -> str:
    """The text without what is between marks, and without the blanks before it.

    A mark that is never closed stays.
    """
    kept: list[str] = []
    at = 0
    # One pattern for both would look for the end again from every opening.
    while (begins := opening.search(text, at)) and (ends := closing.search(text, begins.end())):
        kept.append(text[at : begins.start()].rstrip())
        at = ends.end()
    return "".join([*kept, text[at:]])
