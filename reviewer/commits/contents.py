"""Texts as they are stored: without secrets, once each, with their tokens counted."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from typing import Any, TypeAlias

from msgspec import Struct

from reviewer.commits.hashing import content_hash
from reviewer.store.changes import Image, Value
from reviewer.store.ledger import Act, chunks

Query: TypeAlias = Callable[[str, Sequence[Value]], Sequence[Any]]


class Prepared(Struct, frozen=True):
    """A text ready to be stored."""

    text: str
    sha256: str
    masked: tuple[str, ...]
    """The kind of each secret that was masked in it."""


def prepare(text: str) -> Prepared:
    """Mask the secrets of a text and hash it; `\\r\\n` becomes `\\n`, lone surrogates `?`."""
    from reviewer.text.secrets import mask  # late: reading needs no patterns of secrets

    text = text.replace("\r\n", "\n").encode("utf-8", "replace").decode("utf-8")
    found = mask(text)
    return Prepared(found.text, content_hash(found.text), found.kinds)


def named(name: str) -> str:
    """A name that was typed, as it is stored: without secrets and blanks around it."""
    return prepare(name.strip()).text


def known_contents(query: Query, hashes: Iterable[str]) -> dict[str, int]:
    """Ids of the stored texts with those hashes; `query` runs SQL in an act or on a reader."""
    found: dict[str, int] = {}
    for chunk in chunks(list(dict.fromkeys(hashes))):
        marks = ",".join("?" * len(chunk))
        rows = query(f"SELECT sha256, id FROM content WHERE sha256 IN ({marks})", chunk)
        found.update((row[0], row[1]) for row in rows)
    return found


def store_texts(act: Act, texts: Sequence[Prepared], tokens: dict[str, int]) -> dict[str, int]:
    """Store what is not stored yet; returns the id of each text by its hash.

    `tokens` holds the counts of `count_tokens`, taken before the store was locked; what was there
    then and is not any more is counted now.
    """
    known = known_contents(act.query, [text.sha256 for text in texts])
    fresh = {text.sha256: text for text in texts if text.sha256 not in known}
    counted = tokens | count_tokens(fresh[sha] for sha in fresh if sha not in tokens)
    rows: list[Image] = [
        {"sha256": sha, "text": text.text, "tokens": counted[sha]} for sha, text in fresh.items()
    ]
    known.update(zip(fresh, act.insert_many("content", rows), strict=True))
    return known


def count_tokens(texts: Iterable[Prepared], known: Container[str] = ()) -> dict[str, int]:
    """Tokens of each text by its hash, every text once; not of those whose hash is `known`."""
    fresh = {text.sha256: text.text for text in texts if text.sha256 not in known}
    if not fresh:
        return {}
    from reviewer.text.tokens import counter

    count = counter().count
    return {sha: count(text) for sha, text in fresh.items()}
