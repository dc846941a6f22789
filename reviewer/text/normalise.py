"""Text normalisation: for display, for duplicates, for verbatim checks."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

UNSPACED = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""A letter of a script without spaces between words, or with endings attached to them."""

# A list, task, heading or quotation marker, always followed by white space, so that `-5 kg`, `3.5
# mm`, `#42` and `*args` are left alone.
_MARKER = re.compile(r"(?:[-*+•‣▪–—>]|\d{1,3}[.)]|#{1,6}|\[[ xX~-]?\])(?:\s+|$)")
_TRAILING = ".,;:!…。，；：！"
_EMPHASIS = ("***", "**", "__", "~~", "*", "_")
_MARKS = ("*", "_", "~~")
_BOLD = re.compile(r"\*\*([^*\n]{1,200})\*\*")
_QUOTES = {'"': '"', "'": "'", "“": "”", "„": "“", "‘": "’", "«": "»", "「": "」"}


def fold(text: str) -> str:
    """NFC with white space collapsed to single spaces; case is kept."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def clean(text: str) -> str:
    """The wording of a proposal: one line, without the markup of its source.

    NFC, white space collapsed, leading list and heading markers dropped, emphasis and quotation
    marks around the whole text dropped, trailing punctuation dropped (except a question mark, which
    is part of the meaning). Emphasis and code spans inside stay as they are. Idempotent.
    """
    text = fold(text)
    while True:
        stripped = _without_wrapper(_without_trailing(_without_marker(text)))
        if stripped == text:
            return text
        text = stripped


def without_bold(text: str) -> str:
    return _BOLD.sub(r"\1", text) if "**" in text else text


@lru_cache(maxsize=1 << 15)
def duplicate_key(content: str) -> str:
    """A key shared by wordings of the same memory: cleaned, in lower case."""
    key = clean(content)
    if key.isascii():  # lower case leaves nothing more to clean
        return key.lower()
    while (lowered := key.lower()) != key:
        key = clean(lowered)
    return key


def _without_marker(text: str) -> str:
    match = _MARKER.match(text)
    return text[match.end() :] if match else text


def _without_trailing(text: str) -> str:
    # Punctuation after a blank is part of the text: `git add .`, `cd ..`.
    stripped = text.rstrip(_TRAILING)
    return text if stripped.endswith(" ") else stripped


def _without_wrapper(text: str) -> str:
    for mark in _EMPHASIS if text.startswith(_MARKS) else ():
        inner = text[len(mark) : -len(mark)]
        if (
            len(text) > 2 * len(mark)
            and text.startswith(mark)
            and text.endswith(mark)
            and mark[0] not in inner
            and inner == inner.strip()
        ):
            return inner
    closing = _QUOTES.get(text[:1])
    if closing and len(text) > 2 and text.endswith(closing):
        inner = text[1:-1]
        if closing not in inner and text[0] not in inner:
            return inner.strip()
    return text
