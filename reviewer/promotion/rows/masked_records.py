"""Masks the secrets of a record before it is stored."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from functools import lru_cache

from msgspec import structs

from reviewer.sources.records import Record
from reviewer.text.secrets import mask

ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|sha256:[0-9a-f]{64}")
"""The ids of most records, which are not secrets."""


def texts_in(record: Record) -> Iterator[str]:
    """The texts of a record that may contain secrets."""
    yield from (record.text, record.session or "", *record.headings, *record.meta.values())
    if not ID.fullmatch(record.key):
        yield record.key


def mask_record(record: Record) -> tuple[Record, int]:
    """The masked record, and the number of secrets found in its text."""
    masked = mask(record.text)
    session = record.session and _mask_label(record.session)
    key = record.key if ID.fullmatch(record.key) else _mask_label(record.key)
    if session != record.session or key != record.key:
        # Two different keys must not become one.
        digest = hashlib.sha256(record.key.encode()).hexdigest()
        key = key if key == record.key else f"sha256:{digest}"
        record = structs.replace(record, session=session, key=key)
    headings = tuple(_mask_label(heading) for heading in record.headings)
    meta = {name: _mask_label(value) for name, value in record.meta.items()}
    if masked.kinds or headings != record.headings or meta != record.meta:
        clean = structs.replace(record, text=masked.text, headings=headings, meta=meta)
        return clean, len(masked.kinds)
    return record, 0


@lru_cache(maxsize=4096)
def _mask_label(text: str) -> str:
    """Cached: the same headings, folders and branches come with every record."""
    return mask(text).text
