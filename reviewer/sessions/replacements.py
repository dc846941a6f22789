"""Replacements of a text in a file, as (old, new)."""

from __future__ import annotations


def together(first: tuple[str, str], second: tuple[str, str]) -> tuple[str, str] | None:
    """Two replacements as one, if the second changes what the first wrote; else None."""
    (old, draft), (changed, new) = first, second
    if not draft or not changed:
        return None
    if changed in draft:
        return old, draft.replace(changed, new, 1)
    return (changed.replace(draft, old, 1), new) if draft in changed else None
