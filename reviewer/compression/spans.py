"""Where a text stands verbatim in another: the same characters after NFC and white-space folding.

Case counts (settled.md, "Levels and anchors").
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from reviewer.text.normalise import fold

TAG_LENGTH = 30
"""Characters of a tag that stands for a detected anchor (hierarchical-summarizer.md, 5.2)."""
TAG_LENGTHS = (TAG_LENGTH, 24, 18)
"""Lengths that such a tag may have: the longest with which all of them fit the target."""


def holds(folded: str, wanted: str) -> bool:
    """Whether `folded` (as `fold` gives it) holds `wanted` verbatim; nothing is in every text."""
    return fold(wanted) in folded


def find_verbatim(text: str, wanted: str, start: int = 0) -> tuple[int, int] | None:
    """The span of the first place of `wanted` in `text` from `start` on, whatever their white
    space and Unicode form; None when it stands nowhere.
    """
    at = text.find(wanted, start) if wanted else -1
    if at >= 0:
        return at, at + len(wanted)
    pattern = _loose(wanted)
    match = pattern.search(text, start) if pattern is not None else None
    return match.span() if match else None


@lru_cache(maxsize=512)
def _loose(wanted: str) -> re.Pattern[str] | None:
    """A pattern for the words of a text with any white space between them."""
    words = fold(wanted).split()
    if not words:
        return None
    forms = ([unicodedata.normalize(form, word) for word in words] for form in ("NFC", "NFD"))
    return re.compile("|".join(r"\s+".join(map(re.escape, form)) for form in forms))


_CLAUSE_ENDS = re.compile(
    r"[;:](?=\s)|\s[—–-]{1,2}\s|,\s+(?:but|so|and|because|which|while|since)\s|\n"
)


def clause_around(text: str, start: int, end: int, focus: tuple[int, int]) -> tuple[int, int]:
    """The clause of `text[start:end]` that holds `focus`."""
    first, last = start, end
    for match in _CLAUSE_ENDS.finditer(text, start, end):
        if match.end() <= focus[0]:
            first = match.end()
        elif match.start() >= focus[1]:
            last = match.start()
            break
    return first, last


def around(
    text: str, start: int, end: int, focus: tuple[int, int], longest: int
) -> tuple[int, int]:
    """The part of `text[start:end]` about `focus`, at most about `longest` characters.

    Cut at the ends of clauses where there are any, else between words. The focus itself always
    stays whole.
    """
    if end - start <= longest:
        return start, end
    first, last = clause_around(text, start, end, focus)
    if last - first > longest:
        room = max(longest - (focus[1] - focus[0]), 0)
        before = min(focus[0] - first, room // 3)
        first = _word_start(text, focus[0] - before, first, focus[0])
        last = _word_end(text, min(last, max(first + longest, focus[1])), focus[1], last)
    piece = text[first:last]
    first += len(piece) - len(piece.lstrip())
    return first, first + len(piece.strip())


def tag_of(content: str, longest: int = TAG_LENGTH) -> str:
    """The beginning of an anchor as a tag: at most `longest` characters, whole words if it can."""
    folded = fold(content)
    if len(folded) <= longest:
        return folded.rstrip(" ,;")
    cut = folded.rfind(" ", longest // 2, longest + 1)
    return folded[: cut if cut > 0 else longest].rstrip(" ,;")


def _word_start(text: str, at: int, lowest: int, highest: int) -> int:
    if at <= lowest or text[at - 1].isspace():
        return max(at, lowest)
    found = re.compile(r"\s").search(text, at, highest)
    return found.end() if found else highest


def _word_end(text: str, at: int, lowest: int, highest: int) -> int:
    if at >= highest or text[at].isspace():
        return min(at, highest)
    cut = max(text.rfind(" ", lowest, at), text.rfind("\n", lowest, at))
    return cut if cut >= lowest else lowest
