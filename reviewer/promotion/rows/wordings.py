"""The rule for the wording of a memory, for every writer."""

from __future__ import annotations

from reviewer.errors import ReviewerError
from reviewer.extraction.rules import SHORTEST_STATEMENT
from reviewer.text.normalise import clean

LONGEST_WORDING = 4_000
"""Maximum length of a memory, in characters; the extractor proposes at most 280."""


def wording_problem(text: str, *, named: bool = False) -> str:
    """Why a text cannot be a memory, in a sentence; empty if it can.

    The value of a named entity may be shorter, such as `80 mm` for the width of the paper.
    """
    length = len(clean(text))
    if length < (1 if named else SHORTEST_STATEMENT):
        return (
            f"A memory has at least {SHORTEST_STATEMENT} characters, this has {length}. Write a"
            " sentence that makes sense on its own."
        )
    if len(text) > LONGEST_WORDING:
        return (
            f"A memory has at most {LONGEST_WORDING:,} characters, this has {len(text):,}. Keep the"
            " text in a file and add only the point to remember."
        )
    return ""


def require_wording(text: str, *, named: bool = False) -> None:
    """Raise ReviewerError unless a text can be a memory, or the value of a named entity."""
    problem = wording_problem(text, named=named)
    if problem:
        raise ReviewerError(problem)
