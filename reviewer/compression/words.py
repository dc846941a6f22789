"""The meaningful words of a text."""

from __future__ import annotations

import re

from reviewer.text.stop_words import SPEECH_STOP_WORDS as FUNCTION_WORDS

_WORD = re.compile(r"[^\W\d_][^\W_]+(?:['’][^\W_]+)?")
_TERM = re.compile(r"[^\W_](?:[\w./#-]*[^\W_])?")
_CODE = re.compile(r"[\d_./#]")
SHORTEST = 4
"""Minimum characters of a term without a digit."""


def content_words(text: str) -> list[str]:
    """The words of three letters or more that are not function words, in lower case, in order."""
    return [
        word for word in _WORD.findall(text.lower()) if len(word) > 2 and word not in FUNCTION_WORDS
    ]


def terms(text: str) -> set[str]:
    """Words, names and numbers in lower case, without duplicates."""
    return {term.lower() for term in written_terms(text)}


def written_terms(text: str) -> list[str]:
    """Words, names and numbers as spelled, in order."""
    return [
        term
        for term in _TERM.findall(text)
        if (len(term) >= SHORTEST or not term.isalpha() or not term.isascii())
        and term.lower() not in FUNCTION_WORDS
    ]


def is_name(term: str) -> bool:
    """Whether a term looks like a name in code, a path or a number."""
    return bool(_CODE.search(term))
