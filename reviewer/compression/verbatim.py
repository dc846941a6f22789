"""Finds verbatim text in another text, and the clause around it.

Verbatim means the same characters after NFC normalisation and white-space folding; case counts.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import groupby

from reviewer.commits.criteria import SECONDS_A_PATTERN, PatternError, compiled
from reviewer.commits.values import Pattern
from reviewer.text.identifiers import IdentifierKind, identifiers
from reviewer.text.normalise import fold
from reviewer.text.stop_words import SPEECH_STOP_WORDS as FUNCTION_WORDS

TAG_LENGTH = 30
"""Characters of the tag of a detected anchor (`docs/design.md`, "Levels and anchors")."""


def find_verbatim(text: str, wanted: str) -> tuple[int, int] | None:
    """The first span of `text` equal to `wanted`, but for white space and Unicode form; or None."""
    at = text.find(wanted) if wanted else -1
    if at >= 0:
        return at, at + len(wanted)
    pattern = _loose(wanted)
    match = pattern.search(text) if pattern is not None else None
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


def narrowed(
    text: str, start: int, end: int, focus: tuple[int, int], longest: int
) -> tuple[int, int]:
    """The part of `text[start:end]` around `focus`, at most about `longest` characters.

    Cut at the ends of clauses if possible, else between words. The focus is never cut.
    """
    first, last = start, end
    for match in _CLAUSE_ENDS.finditer(text, start, end) if end - start > longest else ():
        if match.end() <= focus[0]:
            first = match.end()
        elif match.start() >= focus[1]:
            last = match.start()
            break
    if last - first > longest:
        before = max(longest - (focus[1] - focus[0]), 0) // 3
        first = max(first, focus[0] - before)
        last = min(last, max(first + longest, focus[1]))
        if first > start and not text[first - 1].isspace():  # not inside a word
            space = text.find(" ", first, focus[0])
            first = space if space >= 0 else focus[0]
        if last < end and not text[last].isspace():
            last = max(text.rfind(" ", focus[1], last), focus[1])
    piece = text[first:last]
    first += len(piece) - len(piece.lstrip())
    return first, first + len(piece.strip())


_TRIMMED = "*_`\"'“”‘’()[]{}<>,;:.!?…"
_CLAUSE = re.compile(r"[,;:!?](?:\s|$)|\.(?:\s|$)|\s[–—-]+\s")
_NAMING = frozenset(
    {IdentifierKind.PATH, IdentifierKind.CODE, IdentifierKind.NAME, IdentifierKind.ISSUE}
)
SHORTEST_NAME = 3


def anchor_tag(content: str) -> str:
    """The tag of an anchor, at most `TAG_LENGTH` characters: a name, if it has one; else the
    longest run of meaningful words; else its beginning.
    """
    folded = fold(content)
    if " " not in folded:
        name = folded.strip(_TRIMMED).rpartition("/")[2]
        return (name or folded)[:TAG_LENGTH]
    for each in identifiers(folded):
        name = each.text.strip(_TRIMMED).rpartition("/")[2]
        if each.kind in _NAMING and SHORTEST_NAME <= len(name) <= TAG_LENGTH and " " not in name:
            return name
    runs = [
        _cut_words(" ".join(word.strip(_TRIMMED) for word in words))
        for clause in _CLAUSE.split(folded)
        for carries, words in groupby(clause.split(" "), _carries)
        if carries
    ]
    return max(runs, key=len, default=_cut_words(folded).rstrip(" ,;"))


def _carries(word: str) -> bool:
    """Whether a word is meaningful, so that a tag may begin or end with it."""
    lower = word.strip(_TRIMMED).lower()
    return len(lower) > 2 and lower not in FUNCTION_WORDS and "'" not in lower


def _cut_words(text: str) -> str:
    if len(text) <= TAG_LENGTH:
        return text
    cut = text.rfind(" ", 0, TAG_LENGTH + 1)
    return text[: cut if cut > 0 else TAG_LENGTH]


def first_place(pattern: Pattern, text: str) -> tuple[int, int] | None:
    """The first non-empty span of `text` that a pattern matches.

    None also for an expression that is invalid or too slow: `criteria_warnings.py` reports it.
    """
    if pattern.mode == "substring":
        return find_verbatim(text, pattern.text)
    try:
        found = compiled(pattern.text).finditer(text, timeout=SECONDS_A_PATTERN)
        return next((match.span() for match in found if match.end() > match.start()), None)
    except (PatternError, TimeoutError):
        return None
