"""Ids of what was read: the same words in the same section have the same id in every call."""

from __future__ import annotations

from hashlib import blake2b


def item_id(section: str, title: str, text: str) -> str:
    """Eight hexadecimal digits for an item of a file."""
    key = f"{section}\0{title}\0{text}".encode("utf-8", "replace")
    return blake2b(key, digest_size=4).hexdigest()
