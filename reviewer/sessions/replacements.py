"""Replacements of a text in a file, as (old, new)."""

from __future__ import annotations

import re


def composed(first: tuple[str, str], second: tuple[str, str]) -> tuple[str, str] | None:
    """Two replacements as one, if the second changes what the first wrote; else None."""
    (old, draft), (changed, new) = first, second
    if _is_once_in(changed, draft):
        return old, draft.replace(changed, new)
    return (changed.replace(draft, old), new) if _is_once_in(draft, changed) else None


def _is_once_in(part: str, whole: str) -> bool:
    """Whether a text has a part once, and not inside a word."""
    return bool(part) and whole.count(part) == 1 and len(re.findall(_alone(part), whole)) == 1


def _alone(part: str) -> str:
    before = r"(?<!\w)" if re.match(r"\w", part) else ""
    after = r"(?!\w)" if re.search(r"\w\Z", part) else ""
    return before + re.escape(part) + after
