"""Warnings about a candidate: masked secrets, injected instructions, look-alike letters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache

from reviewer.sources.records import Role
from reviewer.text.superset import either, superset

MASKED = "secret"
INJECTION = "injection"
LOOK_ALIKE = "look-alike"

_MASK = "[masked "
"""Start of a masked secret (`text/secrets.py`)."""

_CYRILLIC_AND_GREEK = "аеорсухіјѕԁѵһԛԝАВЕКМНОРСТХЅІЈΑΒΕΖΗΙΚΜΝΟΡΤΥΧο"
_LATIN = "aeopcyxijsdvhqwABEKMHOPCTXSIJABEZHIKMNOPTYXo"
_AS_LATIN = str.maketrans(_CYRILLIC_AND_GREEK, _LATIN)
"""Letters of other scripts that look like Latin ones (Unicode TR39, confusables)."""
_MIXED = re.compile(
    rf"[A-Za-z][{_CYRILLIC_AND_GREEK}]|[{_CYRILLIC_AND_GREEK}][A-Za-z]"  # side by side in a word
)
_UNSEEN = re.compile(
    "[\u00ad\u034f\u0300-\u036f\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff]"
)
"""Invisible characters, and accents after NFKD has separated them from their letters."""
_TAGS = {code: code - 0xE0000 for code in range(0xE0020, 0xE007F)}
"""Tag characters: an invisible copy of ASCII that can hide one text inside another."""
_DISGUISING = re.compile(f"{_UNSEEN.pattern[:-1]}{_CYRILLIC_AND_GREEK}\U000e0020-\U000e007e]")
"""Text in normal form without any of these reads as it looks."""
_OWN_WAYS = re.compile("[\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\u0130\u212a]")
"""White space beyond ASCII, and letters beyond it that become one of ASCII in lower case."""
_AT_ONCE = 10
"""Rules of one pattern for columns."""
# Marks before a word or after one. Starting with a character set makes the search faster.
_EMPHASIS = re.compile(r"[*_`~](?:(?<!\w.)[*_`~]*|[*_`~]*(?!\w))", re.DOTALL)
_SPACES = re.compile(r"[^\S\n]+|(?<=[\w,;])\n(?=\w)")


def flags_of(content: str, role: Role) -> tuple[str, ...]:
    """MASKED: masked text is inside. INJECTION: it reads like an instruction planted in data.
    LOOK_ALIKE: a word mixes Latin letters with letters of another script that look the same.

    Text that the user typed is never flagged as an injection.
    """
    return _flags(content, [] if role is Role.USER else _readings(content))


MASKED_TEXT = _MASK
"""In every text with a masked secret."""


@cache
def injections_in_columns() -> tuple[str, ...]:
    """Patterns of RE2, for bytes, one of which finds every text that is flagged as an injection, or
    one of its `other_readings`, folded as `superset` wants it.
    """
    from reviewer.extraction.prompt_injection import INJECTIONS

    found = [superset(pattern, folded=True) for _, pattern in INJECTIONS]
    return tuple(
        either(found[start : start + _AT_ONCE]) for start in range(0, len(found), _AT_ONCE)
    )


def other_readings(content: str) -> list[str] | None:
    """What `injections_in_columns` has to look at besides the content itself; None where only
    `flags_of` can say which flags it has.
    """
    if content.isascii():
        return []
    if _MIXED.search(content) or _OWN_WAYS.search(content):
        return None
    return [_in_plain_letters(content)] if _is_disguised(content) else []


def flags_of_each(said: Sequence[tuple[str, Role]]) -> list[tuple[str, ...]]:
    """`flags_of` for many texts, which takes less time together."""
    from reviewer.extraction.prompt_injection import look_at

    readings = [[] if role is Role.USER else _readings(content) for content, role in said]
    look_at(text for each in readings for text in each)
    return [_flags(content, each) for (content, _), each in zip(said, readings, strict=True)]


def _flags(content: str, readings: Sequence[str]) -> tuple[str, ...]:
    found = []
    if _MASK in content:
        found.append(MASKED)
    if readings:
        from reviewer.extraction.prompt_injection import looks_injected  # its table takes 10 ms

        if any(looks_injected(reading) for reading in readings):
            found.append(INJECTION)
    if not content.isascii() and _MIXED.search(content):
        found.append(LOOK_ALIKE)
    return tuple(found)


def _readings(content: str) -> list[str]:
    """The text in lower case, without emphasis marks and on one line; when it is not ASCII, also in
    plain letters and with tag characters made visible.
    """
    texts = [content]
    if not content.isascii() and _is_disguised(content):
        texts.append(_in_plain_letters(content))
    return [_on_one_line(_EMPHASIS.sub("", text)).lower() for text in texts]


def _is_disguised(content: str) -> bool:
    found = _DISGUISING.search(content)
    return found is not None or not unicodedata.is_normalized("NFKD", content)


def _in_plain_letters(content: str) -> str:
    parted = unicodedata.normalize("NFKD", content.translate(_TAGS))
    return _UNSEEN.sub("", parted).translate(_AS_LATIN)


def _on_one_line(text: str) -> str:
    if text.isprintable() and "  " not in text:  # only single spaces between its words
        return text
    return _SPACES.sub(" ", text)
