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
_MARKS = re.compile(
    "[*_`~\U000e0020-\U000e007e\u00ad\u034f\u0300-\u036f\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff]"
)
"""Emphasis, tags, invisible characters, and accents once NFKD has separated them from their
letters.
"""
_TAGS = {code: code - 0xE0000 for code in range(0xE0020, 0xE007F)}
"""Tag characters: an invisible copy of ASCII that can hide text inside other text."""


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


def _readings(content: str) -> set[str]:
    """The text as a reader sees it, in plain lower-case letters and on one line: with what tags
    hide and without marks, and with a blank for each of them.
    """
    if content.isascii() and _MARKS.search(content) is None:
        return {" ".join(content.lower().split())}  # as below, in a quarter of the time
    texts = (content.translate(_TAGS), ""), (content, " ")
    parted = ((unicodedata.normalize("NFKD", text), blank) for text, blank in texts)
    plain = (_MARKS.sub(blank, text.translate(_AS_LATIN)).lower() for text, blank in parted)
    return {" ".join(text.split()) for text in plain}
