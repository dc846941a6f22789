"""Cutting a text to one line."""

from __future__ import annotations


def clip(text: str, most: int) -> str:
    """A text on one line of at most `most` characters, with an ellipsis where it is cut."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"
