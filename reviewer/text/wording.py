"""Whether two texts differ only in wording: case, punctuation, markup, articles, endings.

Any other difference makes them two facts: a missed pair costs one more row to decide, but a wrong
merge loses a fact.
"""

from __future__ import annotations

import re

from reviewer.text.normalise import clean

Words = tuple[str, ...]

NOT = "not"

_FUNCTION_WORDS = frozenset(
    ("a", "an", "the", "is", "are", "be", "we", "you", "our", "your", "its", "my", "do", "always")
)
_NEGATIONS = frozenset(("never", "no", "not", "cannot", "don't", "doesn't", "didn't", "isn't"))
_TYPOGRAPHY = str.maketrans("‘’“”", "''\"\"", "`*~")
_OUTSIDE = "\"'()[].,;:!?…-–—"
_NUMBER = re.compile(r"[$€£]?(\d[\d.,]*)(%|[a-z]+)?")
_ENDING = re.compile(r"(?<=[a-z]{3})(?:ies|ing|ed|es|e|y|s)$")

_COUNTING = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
sixteen seventeen eighteen nineteen twenty
"""
NUMBER_WORDS = {
    word: str(number)
    for number, word in enumerate(_COUNTING.split())
} | {"thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "ninety": "90", "hundred": "100",
     "thousand": "1000"}  # fmt: skip
UNITS = {
    spelling: names.split()[0]
    for names in (
        "% percent",
        "ms msec millisecond milliseconds",
        "s sec secs second seconds",
        "min mins minute minutes",
        "h hr hrs hour hours",
        "day days d",
        "week weeks",
        "month months",
        "year years",
        "byte bytes",
        "kb kib kilobyte kilobytes",
        "mb mib megabyte megabytes",
        "gb gib gigabyte gigabytes",
        "tb tib terabyte terabytes",
        "char chars character characters",
        "px pixel pixels",
    )
    for spelling in names.split()
}
"""Spellings of units in lower case, each with its canonical one."""


def same_wording(a: str, b: str) -> bool:
    """Whether two texts say the same in different wording."""
    return wording_key(a) == wording_key(b)


def wording_key(text: str) -> Words:
    """A key that is equal for all texts with the same wording."""
    return content_words(text) or (clean(text),)


def content_words(text: str) -> Words:
    """The words of a text in order, in a form shared by its other wordings."""
    words: list[str] = []
    for piece in clean(text).translate(_TYPOGRAPHY).split():
        word = piece.strip(_OUTSIDE) if not piece.startswith("-") else piece
        lowered = word.lower()
        if lowered in _NEGATIONS:
            words.append(NOT)
        elif number := _NUMBER.fullmatch(lowered):
            unit = number[2] or ""
            words += [number[1].replace(",", ""), *([UNITS.get(unit, unit)] if unit else [])]
        elif lowered.isalpha():
            stem = lowered if word.isupper() else _ENDING.sub("", lowered)
            plain = NUMBER_WORDS.get(lowered) or UNITS.get(lowered) or stem
            words += [] if lowered in _FUNCTION_WORDS else [plain]
        elif word:
            words.append(word if word.startswith("-") else lowered)
    return tuple(words)
