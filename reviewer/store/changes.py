"""Before and after images of rows, and how the ledger packs them."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import TypeAlias

import msgspec
from msgspec import Struct

from reviewer.store.packed import first_values

Value: TypeAlias = int | float | str | None
Image: TypeAlias = dict[str, Value]


class Change(Struct, frozen=True, array_like=True):
    """What an act did to one row.

    An insertion has no `before`, a deletion no `after`; both hold every column but `id`. An update
    holds the columns that changed, so that acts on other columns of the row do not stand in the
    way of undoing it.
    """

    table: str
    row: int
    before: Image | None
    after: Image | None

    def reversed(self) -> Change:
        """The change that puts the row back."""
        return Change(self.table, self.row, self.after, self.before)


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(list[Change])


def pack(changes: Iterable[Change]) -> bytes:
    """Changes as the ledger stores them: MessagePack, deflated."""
    return zlib.compress(_encoder.encode(list(changes)), 1)


def unpack(blob: bytes) -> list[Change]:
    """The changes of a ledger row.

    Raises ValueError when the blob is damaged.
    """
    try:
        return _decoder.decode(zlib.decompress(blob))
    except (zlib.error, msgspec.DecodeError) as problem:
        raise ValueError(f"unreadable changes: {problem}") from problem


def unpack_first(blob: bytes, limit: int) -> list[Change]:
    """The first changes of a ledger row, at most `limit`; the others are not even inflated.

    Raises ValueError when what is read of the blob is damaged.
    """
    try:
        return _decoder.decode(first_values(blob, limit))
    except msgspec.DecodeError as problem:
        raise ValueError(f"unreadable changes: {problem}") from problem


class Entry(Struct, frozen=True):
    """A ledger row without its changes."""

    id: int
    at: str
    actor: str
    scope: str
    kind: str
    title: str
    target: int | None
    rows: int


def entry_hash(previous: str, entry: Entry, changes: bytes) -> str:
    """SHA-256 over the hash of the entry before, this entry, and its packed changes (hex)."""
    import hashlib  # late: reading writes no entry

    digest = hashlib.sha256(previous.encode())
    digest.update(_encoder.encode(entry))
    digest.update(hashlib.sha256(changes).digest())
    return digest.hexdigest()
