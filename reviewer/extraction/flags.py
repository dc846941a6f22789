"""What a person should know before promoting a candidate (`users.md`, Secrets and injection)."""

from __future__ import annotations

import re
import unicodedata

from reviewer.sources.records import Role

MASKED = "secret"
INJECTION = "injection"
LOOK_ALIKE = "look-alike"

_MASK = "[masked "
"""How a masked secret begins (`text/secrets.py`)."""

_CYRILLIC_AND_GREEK = "аеорсухіјѕԁѵһԛԝАВЕКМНОРСТХЅІЈΑΒΕΖΗΙΚΜΝΟΡΤΥΧο"
_LATIN = "aeopcyxijsdvhqwABEKMHOPCTXSIJABEZHIKMNOPTYXo"
_AS_LATIN = str.maketrans(_CYRILLIC_AND_GREEK, _LATIN)
"""Letters of other scripts that a reader takes for Latin ones (Unicode TR39, confusables)."""
_MIXED = re.compile(
    rf"[A-Za-z][{_CYRILLIC_AND_GREEK}]|[{_CYRILLIC_AND_GREEK}][A-Za-z]"  # side by side in a word
)
_UNSEEN = re.compile(
    "[\u00ad\u034f\u0300-\u036f\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff]"
)
"""What a reader does not see, and accents, which are parted from their letters before."""
_TAGS = {code: code - 0xE0000 for code in range(0xE0020, 0xE007F)}
"""Tag characters: an invisible copy of ASCII, with which a text is hidden in a text."""
_DISGUISING = re.compile(f"{_UNSEEN.pattern[:-1]}{_CYRILLIC_AND_GREEK}\U000e0020-\U000e007e]")
"""Characters without which a text in normal form is what it looks like."""
# Marks before a word or after one; to begin with a set of signs makes the search faster.
_EMPHASIS = re.compile(r"[*_`~](?:(?<!\w.)[*_`~]*|[*_`~]*(?!\w))", re.DOTALL)
_JOINING = re.compile(r"[*`~](?<=\w[*`~])[*`~]+\w|_(?:(?<!\w.)|(?!\w))", re.DOTALL)
"""Marks without which a text has other words."""
_SPACES = re.compile(r"[^\S\n]+|(?<=[\w,;])\n(?=\w)")


def flags_of(content: str, role: Role, *, may_order: bool = True) -> tuple[str, ...]:
    """MASKED where masked text is inside; INJECTION where it reads like an order planted in data;
    LOOK_ALIKE where a word mixes Latin letters with some of another script that look the same.

    What the person typed is theirs to order, so it is never flagged as planted. `may_order` is
    False where the words of the text tell that it holds no order as it stands.
    """
    plain = content.isascii()
    found = []
    if _MASK in content:
        found.append(MASKED)
    if role is not Role.USER and (may_order or not plain or _JOINING.search(content)):
        from reviewer.extraction.orders import reads_like_an_order  # late: its expressions cost

        if any(reads_like_an_order(reading.lower()) for reading in _readings(content)):
            found.append(INJECTION)
    if not plain and _MIXED.search(content):
        found.append(LOOK_ALIKE)
    return tuple(found)


def _readings(content: str) -> set[str]:
    """A text as a reader takes it: without the marks of emphasis, on one line; and, where it is not
    ASCII, also in plain letters and with what tag characters hide in it."""
    texts = {content}
    if not content.isascii() and (
        _DISGUISING.search(content) or not unicodedata.is_normalized("NFKD", content)
    ):
        parted = unicodedata.normalize("NFKD", content.translate(_TAGS))
        texts.add(_UNSEEN.sub("", parted).translate(_AS_LATIN))
    return {_on_one_line(_EMPHASIS.sub("", text)) for text in texts}


def _on_one_line(text: str) -> str:
    if text.isprintable() and "  " not in text:  # then blanks are all that parts its words
        return text
    return _SPACES.sub(" ", text)
