"""Stored texts: secrets masked, deduplicated, hashed, tokens counted."""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterable, Sequence
from typing import Any, TypeAlias

from msgspec import Struct

from reviewer.store.acts import AMONG, Act, listed
from reviewer.store.changes import Image, Value


def content_hash(text: str) -> str:
    """SHA-256 of a text's UTF-8 bytes (hex)."""
    import hashlib  # late: reading commits needs no hashes

    return hashlib.sha256(text.encode("utf-8")).hexdigest()


HASHED = ("role", "type", "name", "at")
"""Columns that a commit's hash covers, besides its text and its links."""


def hashed_row(
    parent: str | None, content: str, act: str, target: str | None = None, **row: Value
) -> Image:
    """The row of a commit with its hash: that of its canonical JSON (sorted keys, no blanks).

    `content` is the `content_hash` of the stored text; `parent` and `target` are commit hashes, so
    a hash covers the whole chain before it. `act`: append, edit, summary or repeat.
    """
    covered: Image = {"parent": parent, "content": content, "operation": act, "target": target}
    covered |= {name: row[name] for name in HASHED}
    text = json.dumps(covered, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return {**row, "hash": content_hash(text)}


Query: TypeAlias = Callable[[str, Sequence[Value]], Sequence[Any]]


class PreparedText(Struct, frozen=True):
    text: str
    sha256: str
    masked: tuple[str, ...]
    """Kind of each masked secret."""


def prepare(text: str) -> PreparedText:
    """Mask the secrets of a text and hash it; `\\r\\n` becomes `\\n`, lone surrogates `?`."""
    from reviewer.text.secrets import mask  # late: reading commits needs no secret patterns

    text = text.replace("\r\n", "\n").encode("utf-8", "replace").decode("utf-8")
    found = mask(text)
    return PreparedText(found.text, content_hash(found.text), found.kinds)


def clean_name(name: str) -> str:
    """A typed name for storing: stripped, secrets masked."""
    return prepare(name.strip()).text


def known_contents(query: Query, hashes: Iterable[str]) -> dict[str, int]:
    """Ids of the stored texts with those hashes; `query` runs SQL in an act or on a reader."""
    rows = query(f"SELECT sha256, id FROM content WHERE sha256 {AMONG}", (listed(hashes),))
    return {row[0]: row[1] for row in rows}


def store_texts(act: Act, texts: Sequence[PreparedText], tokens: dict[str, int]) -> dict[str, int]:
    """Store the texts that are new; returns the id of each text by its hash.

    `tokens`: counts from `count_tokens`, taken before the store was locked. A text deleted since
    then is counted here.
    """
    known = known_contents(act.query, [text.sha256 for text in texts])
    fresh = {text.sha256: text for text in texts if text.sha256 not in known}
    counted = tokens | count_tokens(fresh[sha] for sha in fresh if sha not in tokens)
    rows: list[Image] = [
        {"sha256": sha, "text": text.text, "tokens": counted[sha]} for sha, text in fresh.items()
    ]
    known.update(zip(fresh, act.insert_many("content", rows), strict=True))
    return known


def count_tokens(texts: Iterable[PreparedText], known: Container[str] = ()) -> dict[str, int]:
    """Tokens of each text by its hash, without the hashes in `known`."""
    fresh = {text.sha256: text.text for text in texts if text.sha256 not in known}
    if not fresh:
        return {}
    from reviewer.text.tokens import counter

    count = counter().count
    return {sha: count(text) for sha, text in fresh.items()}
