"""Keeping L0: records go into the store in batches, each record once in a project."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct

from reviewer.clock import Clock, iso
from reviewer.sources.records import Record
from reviewer.store.changes import Image, Value
from reviewer.store.database import Database, failures_as_sentences
from reviewer.store.ledger import Act, Ledger, Scope, chunks
from reviewer.store.project_rows import project_row

BATCH_RECORDS = 1_000
BATCH_CHARACTERS = 4_000_000
"""A batch is written when it reaches either: memory stays flat, others get to write in between."""


class Stamp(Struct, frozen=True):
    """How a file looked when it was read: what tells an unchanged one at the next ingestion."""

    bytes: int
    modified_ns: int

    @classmethod
    def of(cls, path: Path) -> Stamp:
        """The stamp of a file. Raises OSError."""
        stat = path.stat()
        return cls(stat.st_size, stat.st_mtime_ns)


class Held(NamedTuple):
    """What the project holds of a record: its wave, its source and place, the waves' states."""

    id: int
    wave: int
    wave_state: str
    source: int
    source_wave_state: str
    path: str
    line_start: int
    byte_start: int


class Shelf:
    """Writes the records of one wave. `fresh` counts those that the project did not hold."""

    def __init__(self, database: Database, ledger: Ledger, clock: Clock) -> None:
        self._database = database
        self._ledger = ledger
        self._clock = clock
        self.project_id = 0
        self.wave_id = 0
        self.fresh = 0
        self._batch: list[tuple[ShelvedSource, Record]] = []
        self._keys: set[str] = set()
        self._moved: list[tuple[int, ShelvedSource, Record]] = []
        self._characters = 0
        self._sources: dict[Path, ShelvedSource] = {}
        """Sources to be written with the next batch."""

    def start(self, project: str, roots: list[str]) -> int:
        """Open a wave for a project (made if new); returns the wave's id."""
        with self._ledger.act("wave", f"Started reading for {project}", scope=Scope.INTAKE) as act:
            self.project_id = project_row(act, project)
            self.wave_id = act.insert(
                "wave",
                project_id=self.project_id,
                started_at=iso(self._clock()),
                state="reading",
                roots=msgspec.json.encode(roots).decode(),
            )
        return self.wave_id

    def unchanged(self, path: Path, stamp: Stamp) -> bool:
        """Whether this very file was read to its end by a wave that was finished."""
        row = self._source_row(path)
        return row is not None and row[1:] == (stamp.bytes, stamp.modified_ns, True)

    def open_source(self, path: Path, format_: str) -> ShelvedSource:
        """Begin a file."""
        row = self._source_row(path)
        source = ShelvedSource(self, path, format_, row and row[0], row is not None and not row[3])
        self._sources[path] = source
        return source

    def pile(self, source: ShelvedSource, record: Record) -> None:
        """Put a record that the project does not hold on the pile."""
        self._batch.append((source, record))
        self._keys.add(record.key)
        self._characters += len(record.text)
        self._sources[source.path] = source
        self.fresh += 1

    def move(self, record_id: int, source: ShelvedSource, record: Record) -> None:
        """Note that a record stands elsewhere by now: at other lines, or in another file."""
        self._moved.append((record_id, source, record))
        self._sources[source.path] = source

    def is_piled(self, key: str) -> bool:
        """Whether a record waits for the next batch already."""
        return key in self._keys

    def finish(self, source: ShelvedSource) -> None:
        """Note that a source's columns are final; they are written with the next batch."""
        self._sources[source.path] = source
        if len(self._sources) >= BATCH_RECORDS:
            self.flush()

    def flush_when_full(self) -> None:
        """Write the pile if it has reached the size of a batch."""
        if len(self._batch) >= BATCH_RECORDS or self._characters >= BATCH_CHARACTERS:
            self.flush()

    def flush(self) -> None:
        """Write what is pending, as one act."""
        if not self._batch and not self._sources and not self._moved:
            return
        title = f"Read {len(self._batch)} records of {len(self._sources)} files"
        with self._ledger.act("read", title, scope=Scope.INTAKE) as act:
            for source in self._sources.values():
                source.write(act)
            act.insert_many("record", self._images(act))
            act.update_each("record", [_place(*moved) for moved in self._moved])
        self._batch.clear()
        self._moved.clear()
        self._keys.clear()
        self._sources.clear()
        self._characters = 0

    def held(self, keys: list[str]) -> dict[str, Held]:
        """What the project holds of those keys."""
        found: dict[str, Held] = {}
        with failures_as_sentences(self._database.path):
            for chunk in chunks(keys):
                sql = (
                    "SELECT r.key, r.id, r.wave_id, w.state, r.source_id, v.state, s.path,"
                    " r.line_start, r.byte_start FROM record r"
                    " JOIN wave w ON w.id = r.wave_id JOIN source s ON s.id = r.source_id"
                    " JOIN wave v ON v.id = s.wave_id WHERE r.project_id = ? AND r.key IN"
                    f" ({','.join('?' * len(chunk))})"
                )
                for key, *rest in self._database.writer.execute(sql, (self.project_id, *chunk)):
                    found[key] = Held(*rest)
        return found

    def _images(self, act: Act) -> list[Image]:
        """The rows of the pile, without those that another process has written meanwhile."""
        there: set[str] = set()
        for chunk in chunks([record.key for _, record in self._batch]):
            sql = (
                "SELECT key FROM record WHERE project_id = ?"
                f" AND key IN ({','.join('?' * len(chunk))})"
            )
            there.update(row[0] for row in act.query(sql, (self.project_id, *chunk)))
        return [self._image(*item) for item in self._batch if item[1].key not in there]

    def _image(self, source: ShelvedSource, record: Record) -> Image:
        return {
            "project_id": self.project_id,
            "source_id": source.id,
            "wave_id": self.wave_id,
            "key": record.key,
            "line_start": record.line_start,
            "line_end": record.line_end,
            "byte_start": record.byte_start,
            "byte_end": record.byte_end,
            "sha256": record.sha256,
            "role": str(record.role),
            "use": str(record.use),
            "shape": str(record.shape),
            "at": record.at,
            "session": record.session,
            "sidechain": int(record.sidechain),
            "headings": msgspec.json.encode(record.headings).decode(),
            "meta": msgspec.json.encode(record.meta).decode(),
            "text": record.text,
        }

    def _source_row(self, path: Path) -> tuple[int, int, int, bool] | None:
        with failures_as_sentences(self._database.path):
            row = self._database.writer.execute(
                "SELECT s.id, s.bytes, s.modified_ns, w.state <> 'reading' FROM source s"
                " JOIN wave w ON w.id = s.wave_id WHERE s.project_id = ? AND s.path = ?",
                (self.project_id, str(path)),
            ).fetchone()
        return row and (row[0], row[1], row[2], bool(row[3]))


class ShelvedSource:
    """One file being shelved: tells for each record whether extraction should look at it.

    `id` is None until the file's row has been written. Until `finish`, the row says that the file
    was not read to its end, so that the next ingestion reads it again.
    """

    def __init__(
        self, shelf: Shelf, path: Path, format_: str, number: int | None, unfinished: bool
    ) -> None:
        self._shelf = shelf
        self.path = path
        self.id = number
        self._unfinished = unfinished
        self._known = number is not None
        self._columns: dict[str, Value] = {
            "format": format_,
            "bytes": -1,
            "modified_ns": -1,
            "tally": "{}",
        }

    def take(self, records: list[Record]) -> list[bool]:
        """Shelve records that are new; for each, whether no finished wave has extracted it yet.

        A wave that was killed left its records without their candidates, so they count as fresh
        once more.
        """
        held = self._shelf.held([record.key for record in records])
        fresh: list[bool] = []
        for record in records:
            known = held.get(record.key)
            if known is None and not self._shelf.is_piled(record.key):
                self._shelf.pile(self, record)
                fresh.append(True)
            else:
                fresh.append(known is not None and self._left_by_killed_wave(known))
                if known is not None and self._stands_elsewhere(record, known):
                    self._shelf.move(known.id, self, record)
        self._shelf.flush_when_full()
        return fresh

    def finish(self, stamp: Stamp, tally: dict[str, int]) -> None:
        """Note that the file was read to its end."""
        self._columns |= {
            "bytes": stamp.bytes,
            "modified_ns": stamp.modified_ns,
            "tally": msgspec.json.encode(tally).decode(),
        }
        self._shelf.finish(self)

    def write(self, act: Act) -> None:
        """Insert or update the file's row."""
        columns = {**self._columns, "wave_id": self._shelf.wave_id}
        if self.id is None:  # another process may have been quicker
            row = act.query(
                "SELECT id FROM source WHERE project_id = ? AND path = ?",
                (self._shelf.project_id, str(self.path)),
            )
            self.id = int(row[0][0]) if row else None
        if self.id is None:
            self.id = act.insert(
                "source", project_id=self._shelf.project_id, path=str(self.path), **columns
            )
        else:
            act.update("source", self.id, **columns)

    def _stands_elsewhere(self, record: Record, held: Held) -> bool:
        """Whether the store's place of a record is no longer right: it moved within its file, or
        its file is gone and this one has it. A copy in another file moves nothing.
        """
        if held.path == str(self.path):
            return (held.line_start, held.byte_start) != (record.line_start, record.byte_start)
        return not Path(held.path).exists()

    def _left_by_killed_wave(self, held: Held) -> bool:
        if held.wave == self._shelf.wave_id or held.wave_state != "reading":
            return False
        if self._known and held.source == self.id:
            return self._unfinished
        return held.source_wave_state == "reading"


def _place(number: int, source: ShelvedSource, record: Record) -> tuple[int, Image]:
    return number, {
        "source_id": source.id,
        "line_start": record.line_start,
        "line_end": record.line_end,
        "byte_start": record.byte_start,
        "byte_end": record.byte_end,
        "sha256": record.sha256,
    }
