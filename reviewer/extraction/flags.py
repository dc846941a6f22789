"""Warnings about a candidate: masked secrets, injected instructions, look-alike letters."""

from __future__ import annotations

import re
import unicodedata

from reviewer.sources.records import Role
from reviewer.text.placeholder import MASK

MASKED = "secret"
INJECTION = "injection"
LOOK_ALIKE = "look-alike"

_CYRILLIC_AND_GREEK = "аеорсухіјѕԁѵһԛԝАВЕКМНОРСТХЅІЈΑΒΕΖΗΙΚΜΝΟΡΤΥΧο"
_LATIN = "aeopcyxijsdvhqwABEKMHOPCTXSIJABEZHIKMNOPTYXo"
_AS_LATIN = str.maketrans(_CYRILLIC_AND_GREEK, _LATIN)
"""Letters of other scripts that look like Latin ones (Unicode TR39 confusables)."""
_MIXED = re.compile(
    rf"[A-Za-z][{_CYRILLIC_AND_GREEK}]|[{_CYRILLIC_AND_GREEK}][A-Za-z]"  # adjacent in a word
)
_UNSEEN = re.compile(
    "[\u00ad\u034f\u0300-\u036f\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff]"
)
"""Invisible characters, and accents once NFKD has separated them from their letters."""
_TAGS = {code: code - 0xE0000 for code in range(0xE0020, 0xE007F)}
"""Tag characters: an invisible copy of ASCII that can hide text inside other text."""
# Marks before or after a word. Starting with a character set makes the search faster.
_EMPHASIS = re.compile(r"[*_`~](?:(?<!\w.)[*_`~]*|[*_`~]*(?!\w))", re.DOTALL)
_SPACES = re.compile(r"[^\S\n]{2,}|[^\S\n ]|(?<=[\w,;])\n(?=\w)")


def flags_of(content: str, role: Role) -> tuple[str, ...]:
    """MASKED: contains masked text. INJECTION: reads like a planted instruction. LOOK_ALIKE: a word
    mixes Latin letters with look-alikes from another script.

    Text typed by the user is never flagged as an injection.
    """
    found = []
    if MASK in content:
        found.append(MASKED)
    if role is not Role.USER:
        from reviewer.extraction.prompt_injection import looks_injected  # late: compiles a pattern

        if any(map(looks_injected, _readings(content))):
            found.append(INJECTION)
    if not content.isascii() and _MIXED.search(content):
        found.append(LOOK_ALIKE)
    return tuple(sorted(found))


def _readings(content: str) -> list[str]:
    """The text in lower case, on one line, without emphasis marks; if not ASCII, also in plain
    letters and with tag characters made visible.
    """
    texts = [content]
    if not content.isascii():
        parted = unicodedata.normalize("NFKD", content.translate(_TAGS))
        texts.append(_UNSEEN.sub("", parted).translate(_AS_LATIN))
    return [_SPACES.sub(" ", _EMPHASIS.sub("", text)).lower() for text in texts]
