"""The only token counter: a real encoding, without network access."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

ENCODING = "cl100k_base"
CHUNK = 50_000
"""Characters to encode at a time: a million white-space characters overflow tiktoken's stack,
and the time for an unbroken run grows faster than its length."""


class TokenCounter:
    """Counts the tokens of a text; `name` is for output."""

    name = ENCODING

    def __init__(self) -> None:
        import tiktoken

        self._encode = tiktoken.get_encoding(f"{ENCODING}_offline").encode_ordinary

    def count(self, text: str) -> int:
        """Tokens of `text`; text that looks like a special token counts as ordinary text.

        Long text is counted in chunks, split where the encoding splits anyway. Only a run of many
        thousand characters without a word boundary (or of only white space) is split inside, and
        each such split may change the count by one token.
        """
        if len(text) <= CHUNK:
            return len(self._encode(text))
        return sum(len(self._encode(chunk)) for chunk in _chunks(text))


@cache
def counter() -> TokenCounter:
    """The counter, loaded once per process (about half a second)."""
    return TokenCounter()


def _chunks(text: str) -> Iterator[str]:
    """Split a text before single spaces between words, where the encoding also splits."""
    start = 0
    while len(text) - start > CHUNK:
        end = start + CHUNK
        cut = text.rfind(" ", start + 1, end)
        while cut > 0 and (text[cut - 1].isspace() or text[cut + 1].isspace()):
            cut = text.rfind(" ", start + 1, cut)
        if cut < 0:
            cut = end
        yield text[start:cut]
        start = cut
    yield text[start:]
