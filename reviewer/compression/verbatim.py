"""Where one text occurs verbatim in another, and the excerpts that are cut around such a place.

Verbatim means the same characters after NFC normalisation and white-space folding; case counts.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from reviewer.commits.retention import SECONDS_A_PATTERN, PatternError, compiled
from reviewer.commits.values import Pattern
from reviewer.compression.words import FREQUENCIES, FUNCTION_WORDS, SPOKEN
from reviewer.text.normalise import fold

TAG_LENGTH = 30
"""Characters of the tag of a detected anchor (`docs/design.md`, "Levels and anchors")."""
TAG_LENGTHS = (TAG_LENGTH, 24, 18)
"""Lengths that such a tag may have; the longest with which all tags fit the target is used."""


def find_verbatim(text: str, wanted: str, start: int = 0) -> tuple[int, int] | None:
    """The first span of `text`, from `start` on, that equals `wanted` but for white space and
    Unicode form; None without one.
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
    """The clause of `text[start:end]` around `focus`."""
    first, last = start, end
    for match in _CLAUSE_ENDS.finditer(text, start, end):
        if match.end() <= focus[0]:
            first = match.end()
        elif match.start() >= focus[1]:
            last = match.start()
            break
    return first, last


def excerpt_around(
    text: str, start: int, end: int, focus: tuple[int, int], longest: int
) -> tuple[int, int]:
    """The part of `text[start:end]` around `focus`, at most about `longest` characters.

    Cut at the ends of clauses where possible, else between words. The focus is never cut.
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


_TAG_WORD = re.compile(r"\S+")
_TRIMMED = "*_`\"'“”‘’()[]{}<>,;:.!?…"
_CLAUSE = re.compile(r"[,;:!?](?:\s|$)|\.(?:\s|$)|\s[–—-]+\s")


def anchor_tag(content: str, longest: int = TAG_LENGTH) -> str:
    """The tag of an anchor: its first term, at most `longest` characters, verbatim.

    It begins with the first word that carries something and ends with its clause: no head of a
    sentence. Where there is none it is the beginning of the anchor.
    """
    folded = fold(content)
    if " " not in folded:
        name = folded.strip(_TRIMMED).rpartition("/")[2]
        return (name or folded)[:longest]
    for start in (word.start() for word in _TAG_WORD.finditer(folded)):
        word = folded[start:].split(" ", 1)[0].strip(_TRIMMED)
        if not _carries(word):
            continue
        rest = folded[start:].lstrip(_TRIMMED)
        clause = _CLAUSE.search(rest)
        tag = _last_carrying(_cut_words(rest[: clause.start()] if clause else rest, longest))
        if len(tag) >= SHORTEST_TERM:
            return tag
    return _cut_words(folded, longest).rstrip(" ,;")


SHORTEST_TERM = 4


def _carries(word: str) -> bool:
    """Whether a word carries something, so that a tag may begin or end with it."""
    lower = word.lower()
    return len(lower) > 2 and lower.replace("’", "'") not in _EMPTY and "'" not in lower


def _cut_words(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    cut = text.rfind(" ", 0, longest + 1)
    return text[: cut if cut > 0 else longest]


def _last_carrying(text: str) -> str:
    """The text without the words at its end that carry nothing."""
    words = text.split(" ")
    while len(words) > 1 and not _carries(words[-1].strip(_TRIMMED)):
        words.pop()
    return " ".join(words).strip(_TRIMMED)


_EMPTY = FUNCTION_WORDS | SPOKEN | FREQUENCIES.keys()


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


def first_place(pattern: Pattern, text: str) -> tuple[int, int] | None:
    """The first span of `text` that a pattern matches and that is not empty.

    None also for an expression that is invalid or too slow, which `commits/patterns.py` reports.
    """
    if pattern.mode == "substring":
        return find_verbatim(text, pattern.text)
    return next(_matches(pattern.text, text), None)


def _matches(expression: str, text: str) -> Iterator[tuple[int, int]]:
    try:
        for match in compiled(expression).finditer(text, timeout=SECONDS_A_PATTERN):
            if match.end() > match.start():
                yield match.span()
    except (PatternError, TimeoutError):
        return
