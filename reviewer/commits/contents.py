"""Texts as they are stored: without secrets, once each, with their tokens counted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

from msgspec import Struct

from reviewer.commits.hashing import content_hash
from reviewer.store.changes import Image
from reviewer.store.ledger import Act, chunks
from reviewer.text.secrets import mask

COUNTED_AT_ONCE = 64
"""Texts from which on counting is shared among threads; the encoder lets go of the interpreter."""


class Prepared(Struct, frozen=True):
    """A text ready to be stored."""

    text: str
    sha256: str
    masked: tuple[str, ...]
    """The kind of each secret that was masked in it."""


def prepare(text: str) -> Prepared:
    """Mask the secrets of a text and hash it; `\\r\\n` becomes `\\n`, lone surrogates `?`."""
    text = text.replace("\r\n", "\n").encode("utf-8", "replace").decode("utf-8")
    found = mask(text)
    return Prepared(found.text, content_hash(found.text), found.kinds)


def known_contents(act: Act, hashes: Iterable[str]) -> dict[str, int]:
    """Ids of the stored texts with those hashes."""
    found: dict[str, int] = {}
    for chunk in chunks(list(dict.fromkeys(hashes))):
        marks = ",".join("?" * len(chunk))
        sql = f"SELECT sha256, id FROM content WHERE sha256 IN ({marks})"
        found.update((sha, number) for sha, number in act.query(sql, chunk))
    return found


def store_texts(act: Act, texts: Sequence[Prepared], tokens: dict[str, int]) -> dict[str, int]:
    """Store what is not stored yet; returns the id of each text by its hash.

    `tokens` holds the count of each text by its hash, as `count_tokens` gives it, so that nothing
    is counted while the store is locked.
    """
    known = known_contents(act, [text.sha256 for text in texts])
    fresh = {text.sha256: text.text for text in texts if text.sha256 not in known}
    rows: list[Image] = [
        {"sha256": sha, "text": text, "tokens": tokens[sha]} for sha, text in fresh.items()
    ]
    known.update(zip(fresh, act.insert_many("content", rows), strict=True))
    return known


def count_tokens(texts: Iterable[Prepared]) -> dict[str, int]:
    """Tokens of each text by its hash, every text counted once."""
    from reviewer.text.tokens import counter

    count = counter().count
    fresh = {text.sha256: text.text for text in texts}
    if len(fresh) < COUNTED_AT_ONCE:
        return {sha: count(text) for sha, text in fresh.items()}
    with ThreadPoolExecutor() as pool:
        counted = pool.map(count, fresh.values(), chunksize=COUNTED_AT_ONCE)
        return dict(zip(fresh, counted, strict=True))
