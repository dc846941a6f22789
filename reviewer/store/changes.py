"""Before and after images of rows, and how the ledger packs them.

An act of many changes is packed in parts, one after another, so that neither writing nor undoing it
needs all of them in memory.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

import msgspec
from msgspec import Struct

from reviewer.store.msgpack_prefix import first_values

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

Value: TypeAlias = int | float | str | None
Image: TypeAlias = dict[str, Value]


PART = 20_000
"""Changes that are packed together."""


class Change(Struct, frozen=True, array_like=True, gc=False):
    """The change that an act made to one row.

    An insertion has no `before`, a deletion no `after`; both have every column but `id`. An update
    has the columns that changed, so that acts on other columns of the row do not prevent undoing
    it.
    """

    table: str
    row: int
    before: Image | None
    after: Image | None

    def reversed(self) -> Change:
        """The reverse of the change."""
        return Change(self.table, self.row, self.after, self.before)


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(list[Change])


class Packed:
    """Consecutive changes in the format of the ledger: MessagePack, deflated."""

    def __init__(self) -> None:
        self._open: list[Change] = []
        self._parts: list[bytes] = []
        self._packing: Future[bytes] | None = None
        """The part that another thread deflates while this one writes on."""
        self._full = 0

    def __len__(self) -> int:
        return PART * self._full + len(self._open)

    def add(self, changes: Iterable[Change]) -> None:
        """Take more changes."""
        self._open += changes
        while len(self._open) > PART:
            self._finish_part()
            self._packing = _packer().submit(_deflated, self._open[:PART])
            self._full += 1
            del self._open[:PART]

    def _finish_part(self) -> None:
        if self._packing is not None:
            self._parts.append(self._packing.result())
            self._packing = None

    def blob(self) -> bytes:
        """All of them."""
        self._finish_part()
        return b"".join([*self._parts, _deflated(self._open)])


@lru_cache(maxsize=1)
def _packer() -> Executor:
    """One thread; only acts with more than PART changes need it."""
    from concurrent.futures import ThreadPoolExecutor  # late: most programs write small acts

    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="reviewer-pack")


os.register_at_fork(after_in_child=_packer.cache_clear)  # a thread does not survive a fork


def pack(changes: Iterable[Change]) -> bytes:
    """Changes as the ledger stores them."""
    packed = Packed()
    packed.add(changes)
    return packed.blob()


def _deflated(changes: Sequence[Change]) -> bytes:
    return zlib.compress(_encoder.encode(changes), 1)


def unpack(blob: bytes) -> list[Change]:
    """The changes of a ledger row.

    Raises ValueError when the blob is damaged.
    """
    return [change for part in split(blob) for change in unpack_part(part)]


def split(blob: bytes) -> list[memoryview]:
    """The parts of a ledger row's changes, each still packed.

    Raises ValueError when the blob is damaged.
    """
    view, at, found = memoryview(blob), 0, list[memoryview]()
    while at < len(view) or not found:
        inflater = zlib.decompressobj()
        try:
            inflater.decompress(view[at:])
        except zlib.error as problem:
            raise ValueError(f"unreadable changes: {problem}") from problem
        if not inflater.eof:
            raise ValueError("unreadable changes: they end too early")
        end = len(view) - len(inflater.unused_data)
        found.append(view[at:end])
        at = end
    return found


def unpack_part(part: bytes | memoryview) -> list[Change]:
    """The changes of one part, as `split` found it.

    Raises ValueError when it is damaged.
    """
    try:
        return _decoder.decode(zlib.decompress(part))
    except (zlib.error, msgspec.DecodeError) as problem:
        raise ValueError(f"unreadable changes: {problem}") from problem


def unpack_first(blob: bytes, limit: int) -> list[Change]:
    """The first changes of a ledger row, at most `limit`; the others are not even inflated.

    Raises ValueError when the part that is read is damaged.
    """
    if limit > PART:
        return list(islice(_each(blob), limit))
    try:
        return _decoder.decode(first_values(blob, limit))
    except msgspec.DecodeError as problem:
        raise ValueError(f"unreadable changes: {problem}") from problem


def _each(blob: bytes) -> Iterator[Change]:
    for part in split(blob):
        yield from unpack_part(part)


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
