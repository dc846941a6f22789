"""Before and after images of rows, and their packed form in the ledger.

A large act is packed in parts, so that neither writing nor undoing it needs all its changes in
memory.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import SEEK_END, BytesIO
from sqlite3 import Blob
from typing import IO, Annotated, TypeAlias

import msgspec
from msgspec import Meta, Struct

from reviewer.errors import StoreError

Value: TypeAlias = int | float | str | None
Image: TypeAlias = dict[str, Value]


PART = 20_000
"""Changes packed together, at most."""
PART_BYTES = 32_000_000
"""Bytes of changes packed together; a single larger change is a part of its own."""
LARGEST = 512_000_000
"""Bytes of an unpacked part, as a defence: a few planted megabytes could unpack to many gigabytes.
"""
PIECE = 1 << 20
"""Bytes unpacked or copied at a time."""
IN_MEMORY = 16 << 20
"""Bytes of packed changes; the rest of an act is kept in a temporary file."""


class RowChange(Struct, frozen=True, array_like=True, gc=False):
    """A change of one row.

    An insertion has no `before`, a deletion no `after`; both have every column but `id`. An update
    has the changed columns only, so that later acts on other columns do not prevent undoing it.
    """

    table: str
    row: int
    before: Image | None
    after: Image | None

    def reversed(self) -> RowChange:
        """The reverse of the change."""
        return RowChange(self.table, self.row, self.after, self.before)


_encoder = msgspec.msgpack.Encoder()
_decoder: msgspec.msgpack.Decoder[list[RowChange]] = msgspec.msgpack.Decoder(
    Annotated[list[RowChange], Meta(max_length=PART)]
)


class Packed:
    """Consecutive changes in the format of the ledger: MessagePack, deflated."""

    def __init__(self) -> None:
        self._open: list[RowChange] = []
        self._parts: IO[bytes] = BytesIO()
        self._number = 0

    def __len__(self) -> int:
        return self._number

    def add(self, changes: Sequence[RowChange]) -> None:
        """Add changes."""
        self._open += changes
        self._number += len(changes)
        while len(self._open) > PART:
            self._write(self._open[:PART])
            del self._open[:PART]

    def _write(self, changes: Sequence[RowChange]) -> None:
        try:
            self._parts.write(b"".join(_deflated(changes)))
            if isinstance(self._parts, BytesIO) and self._parts.tell() > IN_MEMORY:
                from tempfile import TemporaryFile  # late: few acts are so large

                waiting, self._parts = self._parts, TemporaryFile()  # noqa: SIM115  # as long as the act
                self._parts.write(waiting.getbuffer())
        except OSError as problem:
            raise StoreError(
                "The folder for temporary files has no room for the changes of this act: "
                f"{problem.strerror}. Nothing was changed; make room, or set TMPDIR to another."
            ) from problem

    def close(self) -> int:
        """The total size in bytes; no more can be added."""
        self._write(self._open)
        return self._parts.tell()

    def pieces(self) -> Iterator[bytes]:
        """All bytes, once closed."""
        self._parts.seek(0)
        while piece := self._parts.read(PIECE):
            yield piece


def pack(changes: Sequence[RowChange]) -> bytes:
    """Changes in the format of the ledger."""
    packed = Packed()
    packed.add(changes)
    packed.close()
    return b"".join(packed.pieces())


def _deflated(changes: Sequence[RowChange]) -> list[bytes]:
    """One part, or several if one would be too large."""
    encoded = _encoder.encode(changes)
    if len(encoded) > PART_BYTES and len(changes) > 1:
        half = len(changes) // 2
        return _deflated(changes[:half]) + _deflated(changes[half:])
    return [zlib.compress(encoded, 1)]


@contextmanager
def readable(act: int) -> Iterator[None]:
    """Raise StoreError, naming the act, if its changes are damaged."""
    try:
        yield
    except ValueError as problem:
        raise StoreError(f"Act {act} of the ledger is damaged: {problem}.") from problem


def unpack(blob: bytes) -> Iterator[RowChange]:
    """The changes of a ledger row, read part by part.

    Raises ValueError for a damaged part.
    """
    for part in _parts(blob):
        yield from unpack_part(part)


def split(blob: bytes) -> list[memoryview]:
    """The parts of a ledger row's changes, still packed.

    Raises ValueError if the blob is damaged, or a part is larger than allowed.
    """
    return list(_parts(blob))


def _parts(blob: bytes) -> Iterator[memoryview]:
    view = memoryview(blob)
    return (view[place] for place in places(BytesIO(blob)))


def places(blob: BytesIO | Blob) -> Iterator[slice]:
    """The position of each part. Raises ValueError as `split` does."""
    blob.seek(0, SEEK_END)
    at, size = 0, blob.tell()
    while at < size or not at:
        end = _end_of_part(blob, at)
        yield slice(at, end)
        at = end


def _end_of_part(blob: BytesIO | Blob, at: int) -> int:
    inflater = zlib.decompressobj()
    size = 0
    blob.seek(at)
    while not inflater.eof:
        rest = blob.read(PIECE)
        if not rest:
            raise ValueError("unreadable changes: they end too early")
        at += len(rest)
        unpacked = PIECE
        while (rest or unpacked == PIECE) and not inflater.eof:
            try:
                unpacked = len(inflater.decompress(rest, PIECE))
            except zlib.error as problem:
                raise ValueError(f"unreadable changes: {problem}") from problem
            rest = inflater.unconsumed_tail
            size += unpacked
            _require_size(size)
    return at - len(inflater.unused_data)


def _require_size(size: int) -> None:
    if size > LARGEST:
        raise ValueError(f"unreadable changes: they unpack to more than {LARGEST // 1_000_000} MB")


def unpack_part(part: bytes | memoryview) -> list[RowChange]:
    """The changes of a part from `split`.

    Raises ValueError if it is damaged, or larger than allowed.
    """
    try:
        data = zlib.decompressobj().decompress(part, LARGEST + 1)
        _require_size(len(data))
        return _decoder.decode(data)
    except (zlib.error, msgspec.DecodeError) as problem:
        raise ValueError(f"unreadable changes: {problem}") from problem


class LedgerEntry(Struct, frozen=True):
    """A ledger row without its changes."""

    id: int
    at: str
    actor: str
    scope: str
    kind: str
    title: str
    target: int | None
    rows: int


def entry_hash(previous: str, entry: LedgerEntry, changes: Iterable[bytes]) -> str:
    """SHA-256 of the previous entry's hash, this entry, and its packed changes (hex)."""
    import hashlib  # late: not needed for reading

    digest = hashlib.sha256(previous.encode())
    digest.update(_encoder.encode(entry))
    packed = hashlib.sha256()
    for piece in changes:
        packed.update(piece)
    digest.update(packed.digest())
    return digest.hexdigest()
