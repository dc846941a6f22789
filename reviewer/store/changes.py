"""Before and after images of rows, and their packed form in the ledger.

A large act is packed in parts, so that neither writing nor undoing it needs all its changes in
memory.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import SEEK_END, BytesIO
from itertools import groupby, repeat
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
PIECE = 1 << 20
"""Bytes read at a time."""
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
        return RowChange(self.table, self.row, self.after, self.before)


class Run(Struct, frozen=True, array_like=True, gc=False):
    """Changes of the same columns of one table, column by column: so they are written together and
    packed small.
    """

    table: str
    rows: Annotated[list[int], Meta(max_length=PART)]
    columns: list[str]
    before: list[list[Value]] | None
    after: list[list[Value]] | None

    def __post_init__(self) -> None:
        """Raise ValueError for columns of another length: the ledger may be damaged."""
        for values in filter(None, (self.before, self.after)):
            if {len(self.rows)} != set(map(len, values)) or len(values) != len(self.columns):
                raise ValueError("a run whose columns differ in length")

    def changes(self) -> list[RowChange]:
        before, after = self._images(self.before), self._images(self.after)
        return [
            RowChange(self.table, *each) for each in zip(self.rows, before, after, strict=False)
        ]

    def _images(self, values: list[list[Value]] | None) -> Iterable[Image | None]:
        if values is None:
            return repeat(None)
        return (dict(zip(self.columns, row, strict=True)) for row in zip(*values, strict=True))

    def reversed(self) -> Run:
        before, after = (
            values and [column[::-1] for column in values] for values in (self.after, self.before)
        )
        return Run(self.table, self.rows[::-1], self.columns, before, after)

    def column(self, name: str) -> list[Value]:
        """The values of a column after the changes, or before a deletion."""
        return (self.after or self.before or [])[self.columns.index(name)]

    def between(self, start: int, end: int) -> Run:
        before, after = (
            values and [column[start:end] for column in values]
            for values in (self.before, self.after)
        )
        return Run(self.table, self.rows[start:end], self.columns, before, after)


def runs_of(changes: Iterable[RowChange]) -> Iterator[Run]:
    """Consecutive changes of the same columns of different rows, together."""
    for _, same in groupby(changes, _columns_of):
        found = list(same)
        distinct = len({change.row for change in found}) == len(found)
        for run in [found] if distinct else [[change] for change in found]:
            yield Run(
                run[0].table,
                [change.row for change in run],
                [*(run[0].before or run[0].after or {})],
                _by_column([change.before for change in run]),
                _by_column([change.after for change in run]),
            )


def _columns_of(change: RowChange) -> tuple[object, ...]:
    before, after = change.before, change.after
    return change.table, before and tuple(before), after and tuple(after)


def _by_column(images: Sequence[Image | None]) -> list[list[Value]] | None:
    if images[0] is None:
        return None
    rows = (image.values() for image in images if image is not None)
    return [list(column) for column in zip(*rows, strict=True)]


class _Part(Struct, frozen=True):
    runs: Annotated[list[Run], Meta(max_length=PART)]


_encoder = msgspec.msgpack.Encoder()
_decoder: msgspec.msgpack.Decoder[_Part | list[RowChange]] = msgspec.msgpack.Decoder(
    _Part | Annotated[list[RowChange], Meta(max_length=PART)]  # of earlier versions
)


class Packed:
    """Consecutive changes in the format of the ledger: MessagePack, deflated."""

    def __init__(self) -> None:
        self._open: list[Run] = []
        self._waiting = 0
        self._parts: IO[bytes] = BytesIO()
        self._number = 0

    def __len__(self) -> int:
        return self._number

    def add(self, run: Run) -> None:
        for start in range(0, len(run.rows), PART):
            some = run.between(start, start + PART) if len(run.rows) > PART else run
            if self._waiting + len(some.rows) > PART:
                self._deflate()
            self._open.append(some)
            self._waiting += len(some.rows)
        self._number += len(run.rows)

    def _deflate(self) -> None:
        """Write the open changes as a part."""
        deflated = _deflated(self._open)
        self._open, self._waiting = [], 0
        try:
            self._parts.write(b"".join(deflated))
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
        self._deflate()
        return self._parts.tell()

    def pieces(self) -> Iterator[bytes]:
        """All bytes, once closed."""
        return pieces(self._parts)


def pieces(file: IO[bytes] | Blob) -> Iterator[bytes]:
    file.seek(0)
    while piece := file.read(PIECE):
        yield piece


def pack(changes: Iterable[RowChange]) -> bytes:
    """Changes in the format of the ledger."""
    packed = Packed()
    for run in runs_of(changes):
        packed.add(run)
    packed.close()
    return b"".join(packed.pieces())


def _deflated(runs: Sequence[Run]) -> list[bytes]:
    """One part, or several if one would be too large."""
    encoded = _encoder.encode(_Part(list(runs)))
    if len(encoded) > PART_BYTES:
        if len(runs) > 1:
            half = len(runs) // 2
            return _deflated(runs[:half]) + _deflated(runs[half:])
        if (half := len(runs[0].rows) // 2) > 0:
            first, second = runs[0].between(0, half), runs[0].between(half, 2 * half + 1)
            return _deflated([first]) + _deflated([second])
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
    for part in parts(BytesIO(blob)):
        yield from unpack_part(part)


def parts(blob: BytesIO | Blob) -> Iterator[bytes]:
    """The parts of a ledger row's changes, still packed. Raises ValueError if they are damaged."""
    for place in places(blob):
        yield part_at(blob, place)


def part_at(blob: BytesIO | Blob, place: slice) -> bytes:
    blob.seek(place.start)
    return blob.read(place.stop - place.start)


def places(blob: BytesIO | Blob) -> Iterator[slice]:
    """The position of each part. Raises ValueError as `parts` does."""
    blob.seek(0, SEEK_END)
    at, size = 0, blob.tell()
    while at < size or not at:
        end = _end_of_part(blob, at)
        yield slice(at, end)
        at = end


def _end_of_part(blob: BytesIO | Blob, at: int) -> int:
    inflater = zlib.decompressobj()
    blob.seek(at)
    while not inflater.eof:
        rest = blob.read(PIECE)
        if not rest:
            raise ValueError("unreadable changes: they end too early")
        at += len(rest)
        try:
            inflater.decompress(rest)
        except zlib.error as problem:
            raise ValueError(f"unreadable changes: {problem}") from problem
    return at - len(inflater.unused_data)


def unpack_runs(part: bytes) -> list[Run]:
    """The changes of one of the `parts`, those of the same columns together. Raises ValueError if
    it is damaged.
    """
    try:
        found = _decoder.decode(zlib.decompress(part))
    except (zlib.error, msgspec.DecodeError) as problem:
        raise ValueError(f"unreadable changes: {problem}") from problem
    return found.runs if isinstance(found, _Part) else list(runs_of(found))


def unpack_part(part: bytes) -> list[RowChange]:
    """The changes of a part one by one; raises ValueError as `unpack_runs` does."""
    return [change for run in unpack_runs(part) for change in run.changes()]


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
