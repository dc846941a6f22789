"""Numbers with a noun, as sentences show them."""

from __future__ import annotations


def count(number: int, noun: str, plural: str = "") -> str:
    """`1 file`, `2 files`, `12,345 files`; `plural` for irregular ones."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
