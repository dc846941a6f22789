"""Spellings that hide a credential: full-width letters, invisible characters, escapes."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import NamedTuple

from reviewer.text.late_pattern import late

_WIDE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_WIDE |= {0xFE55: ord(":"), 0xFE66: ord("="), 0xA0: ord(" ")}
ODD = "[\uff01-\uff5e\ufe55\ufe66\u00a0\u00ad\u200b-\u200f\u2060-\u2064\ufeff]"
"""Full-width letters, unusual blanks, and invisible characters."""
_INVISIBLE = late("[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]+")
ESCAPED = late(
    r"[%&\\](?:(?<=%)(?:25)?(?:2[0-9A-Fa-f]|3[A-Fa-f]|[46][0-9A-Fa-f]|[57][0-9Aa])"
    r"|(?<=&)(?:quot|apos|amp|equals|colon|#\d{2,3}|#[xX][0-7][0-9A-Fa-f]);"
    r"|(?<=\\)(?:u00|x)[2-7][0-9A-Fa-f])"
)
"""A printable ASCII character as escaped in URLs, HTML or JSON."""
_ANY_ODD = late(ODD)
_HIDING = late(f"{ODD}|{ESCAPED.pattern}")
_NAMED = {"quot": '"', "apos": "'", "amp": "&", "equals": "=", "colon": ":"}


class Plain(NamedTuple):
    """A text as displayed, in pieces: unchanged parts of the original alternate with decoded
    characters.
    """

    text: str
    starts: list[int]
    """Start of each piece."""
    originals: list[int]
    """Its start in the original."""

    def original(self, position: int) -> int:
        """The position in the original for a position in this text."""
        piece = bisect_right(self.starts, position) - 1
        return self.originals[piece] + (0 if piece % 2 else position - self.starts[piece])


def plainly(text: str) -> Plain | None:
    """The text without invisible characters, with full-width letters and escapes decoded; None if
    there are none.
    """
    odd = not text.isascii() and _ANY_ODD.search(text) is not None
    may_be_escaped = "%" in text or "&" in text or "\\" in text
    if not odd and not (may_be_escaped and ESCAPED.search(text)):
        return None
    parts: list[str] = []
    originals = [0]
    for found in _HIDING.finditer(text):
        parts += [text[originals[-1] : found.start()], _seen(found[0])]
        originals += found.span()
    parts.append(text[originals[-1] :])
    starts = [0, *accumulate(map(len, parts[:-1]))]
    return Plain("".join(parts), starts, originals)


def _seen(hiding: str) -> str:
    """The displayed form of a character that hides another."""
    if len(hiding) == 1:
        return hiding.translate(_WIDE) if _INVISIBLE.match(hiding) is None else ""
    if hiding[0] == "%":
        return chr(int(hiding[-2:], 16))
    if hiding[0] == "\\":
        code = int(hiding[-2:], 16)
    else:
        name = hiding[1:-1]
        if name.lower() in _NAMED:
            return _NAMED[name.lower()]
        code = int(name[2:], 16) if name[1] in "xX" else int(name[1:])
    return chr(code) if 0x20 <= code < 0x7F else hiding
