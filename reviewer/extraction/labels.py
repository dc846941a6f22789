"""Labels that only name the type of a fact, and are no part of it."""

from __future__ import annotations

import re

from reviewer.extraction.passages import wording
from reviewer.extraction.screens import SHORTEST

# `[Decision] ...`, `**Decision**: ...`; what other labels say (`Root cause:`) is part of the fact.
_LABEL = re.compile(
    r"[-*+]?[ ]*(?:\[[A-Za-z][\w /-]{2,30}\][ ]+(?!\()"
    r"|(?:\*\*|__)?(?:decision|preference|requirement|constraint)(?:\*\*|__)?[ ]*:"
    r"[ ]*(?:\*\*|__)?[ ]*)",
    re.IGNORECASE,
)


def unlabelled(text: str, start: int, end: int, content: str) -> tuple[int, str]:
    """Where `text[start:end]`, worded as `content`, begins without its label, and its wording."""
    label = _LABEL.match(text, start, end)
    rest = wording(text[label.end() : end]) if label else ""
    if label is None or len(rest) < SHORTEST:
        return start, content
    return label.end(), rest
