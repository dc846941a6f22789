"""Writes the records of a wave (L0) in batches, each record once in a project."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct, structs

from reviewer.clock import Clock, iso
from reviewer.errors import ReviewerError
from reviewer.promotion.rows.evidence_rows import record_ids, record_image, wave_row
from reviewer.sources.events import Rewind
from reviewer.sources.records import Record, RecordUse, Shape
from reviewer.sources.walk import read_with
from reviewer.store.acts import Act, Scope, chunks
from reviewer.store.changes import Image, Value
from reviewer.store.database import Database, failures_as_sentences
from reviewer.store.ledger import Ledger
from reviewer.store.project_rows import project_row
from reviewer.text.numerals import count

BATCH_RECORDS = 1_000
BATCH_CHARACTERS = 4_000_000
"""A batch is written when it reaches either: memory stays flat, and other processes get a turn."""
GIVEN_UP = -2
"""In place of the time of a file from which nothing was proposed since the wave in its row: reading
failed, and its records are to be extracted from when it succeeds.
"""


class Stamp(Struct, frozen=True):
    """Size and time of a file as it was read; a file with the same stamp is not read again."""

    bytes: int
    modified_ns: int

    @classmethod
    def of(cls, path: Path) -> Stamp:
        """The stamp of a file, and of the files that are read with it. Raises OSError."""
        stat = path.stat()
        size, modified = stat.st_size, stat.st_mtime_ns
        for beside in read_with(path):
            try:
                stat = beside.stat()
            except OSError:
                continue  # there is none, or it has just gone
            size, modified = size + stat.st_size, max(modified, stat.st_mtime_ns)
        return cls(size, modified)

    def of_part(self) -> Stamp:
        """The stamp for when only some sessions of the file were read."""
        return Stamp(-2 - self.bytes, self.modified_ns)


class ExistingRecord(NamedTuple):
    """A record that the store has: its wave, its source and position, and the waves' states."""

    id: int
    wave: int
    wave_state: str
    source: int
    source_wave_state: str
    path: str
    line_start: int
    byte_start: int
    given_up: bool
    """It was read from a file that was then given up."""


class RecordWriter:
    """Writes the records of one wave. `fresh` counts those that are new to the project."""

    def __init__(self, database: Database, ledger: Ledger, clock: Clock) -> None:
        self._database = database
        self._ledger = ledger
        self._clock = clock
        self.project_id = 0
        self.wave_id = 0
        self.fresh = 0
        self._pending: dict[Path, SourceWriter] = {}
        """Sources to be written with the next batch."""
        self._keys: dict[str, Path] = {}
        """The keys of its records, each with its file."""
        self._characters = 0
        self.faulty: dict[Path, Exception] = {}
        """Files whose records cannot be written."""

    def start(self, project: str, roots: list[str]) -> int:
        """Begin a wave, creating the project if it is new; returns the wave's id."""
        with self._ledger.act("wave", f"Started reading for {project}", scope=Scope.INTAKE) as act:
            self.project_id = project_row(act, project)
            now = iso(self._clock())
            self.wave_id = wave_row(act, self.project_id, roots, now, reading=True)
        return self.wave_id

    def unchanged(self, path: Path, stamp: Stamp) -> bool:
        """Whether a finished wave has read this very file to its end."""
        row = self._source_row(path)
        return row is not None and row[1:4] == (stamp.bytes, stamp.modified_ns, True)

    def open_source(self, path: Path, format_: str) -> SourceWriter:
        """Start writing a file's records."""
        row = self._source_row(path)
        source = SourceWriter(self, path, format_, row and row[0], row is not None and not row[3])
        if row is not None and row[2] == GIVEN_UP:
            source.give_up(row[4])
        return self.pending(source)

    def pending(self, source: SourceWriter) -> SourceWriter:
        """Write what a source has with the next batch."""
        self._pending[source.path] = source
        return source

    def enqueue(self, source: SourceWriter, record: Record) -> None:
        """Add a new record to the next batch."""
        self.pending(source).records.append(record)
        self._keys[record.key] = source.path
        self._characters += len(record.text)
        self.fresh += 1

    def queued_from(self, key: str) -> Path | None:
        """The file of the record of the next batch that has this key, if there is one."""
        return self._keys.get(key)

    def flush_when_full(self) -> None:
        """Write the batch if it is large enough."""
        size = max(len(self._keys), len(self._pending))
        if size >= BATCH_RECORDS or self._characters >= BATCH_CHARACTERS:
            self.flush()

    def flush(self) -> None:
        """Write everything pending as one act."""
        sources = list(self._pending.values())
        if not sources:
            return
        try:
            self._write(sources)
        except ReviewerError:
            raise
        except Exception:  # whatever one file has in it, the others are written
            for source in sources:
                try:
                    self._write([source])
                except ReviewerError:
                    raise
                except Exception as problem:
                    self.faulty[source.path] = problem
        for source in sources:
            source.written()
        self._pending.clear()
        self._keys.clear()
        self._characters = 0

    def _write(self, sources: list[SourceWriter]) -> None:
        """Write what is pending of some sources as one act."""
        records = [(source, record) for source in sources for record in source.records]
        title = f"Read {count(len(records), 'record')} of {count(len(sources), 'file')}"
        with self._ledger.act("read", title, scope=Scope.INTAKE) as act:
            numbers = {source.path: source.write(act) for source in sources}
            # Another process may have written some meanwhile.
            there = record_ids(act, self.project_id, (record.key for _, record in records))
            act.insert_many(
                "record",
                [
                    record_image(
                        record,
                        project_id=self.project_id,
                        source_id=numbers[source.path],
                        wave_id=self.wave_id,
                    )
                    for source, record in records
                    if record.key not in there
                ],
            )
            for source in sources:
                source.write_changes(act)

    def existing(self, keys: list[str]) -> dict[str, ExistingRecord]:
        """The project's records with these keys."""
        found: dict[str, ExistingRecord] = {}
        with failures_as_sentences(self._database.path):
            for chunk in chunks(keys):
                sql = (
                    "SELECT r.key, r.id, r.wave_id, w.state, r.source_id, v.state, s.path,"
                    f" r.line_start, r.byte_start, s.modified_ns = {GIVEN_UP}"
                    " AND r.wave_id >= s.wave_id FROM record r"
                    " JOIN wave w ON w.id = r.wave_id JOIN source s ON s.id = r.source_id"
                    " JOIN wave v ON v.id = s.wave_id WHERE r.project_id = ? AND r.key IN"
                    f" ({','.join('?' * len(chunk))})"
                )
                for key, *rest in self._database.writer.execute(sql, (self.project_id, *chunk)):
                    found[key] = ExistingRecord(*rest)
        return found

    def _source_row(self, path: Path) -> tuple[int, int, int, bool, int] | None:
        """Id, stamp, whether its wave has ended, and that wave."""
        with failures_as_sentences(self._database.path):
            row = self._database.writer.execute(
                "SELECT s.id, s.bytes, s.modified_ns, w.state <> 'reading', w.id FROM source s"
                " JOIN wave w ON w.id = s.wave_id WHERE s.project_id = ? AND s.path = ?",
                (self.project_id, str(path)),
            ).fetchone()
        return row and (row[0], row[1], row[2], bool(row[3]), row[4])


class SourceWriter:
    """Writes the records of one file, and says which of them extraction should look at.

    `id` is None until the file's row has been written. Until `finish`, the row says that the file
    was not read to its end, so that the next ingestion reads it again.
    """

    def __init__(
        self, writer: RecordWriter, path: Path, format_: str, number: int | None, unfinished: bool
    ) -> None:
        self._writer = writer
        self.path = path
        self.id = number
        self._unfinished = unfinished
        self._known = number is not None
        self._given_up_in: int | None = None
        """The first wave that read the file and gave it up."""
        self._is_read = False
        self.records: list[Record] = []
        """New records that wait to be written, as do the next two."""
        self._moved: list[tuple[int, Record]] = []
        self._rewinds: list[Rewind] = []
        self._columns: dict[str, Value] = {
            "format": format_,
            "bytes": -1,
            "modified_ns": -1,
            "tally": "{}",
        }

    def take(self, records: list[Record]) -> list[str]:
        """Enqueue new records; returns for each the key that it has in the store if it has yet to
        be extracted from, else an empty string.

        The same section in another note is a record of its own, with a key of its own: saying
        something in two notes is saying it twice. A killed wave left its records without their
        candidates, and so did a file that was given up: these count as fresh again.
        """
        existing = self._writer.existing(
            [key for each in records for key in (each.key, self._key_of_copy(each)) if key]
        )
        fresh: list[str] = []
        for read in records:
            record = self._as_stored(read, existing)
            known = existing.get(record.key)
            if known is None and self._writer.queued_from(record.key) is None:
                self._writer.enqueue(self, record)
                fresh.append(record.key)
            else:
                again = known is not None and self._is_left_over(known)
                fresh.append(record.key if again else "")
                if known is not None and self._has_moved(record, known):
                    self._moved.append((known.id, record))
                    self._writer.pending(self)
        self._writer.flush_when_full()
        return fresh

    def _as_stored(self, record: Record, existing: dict[str, ExistingRecord]) -> Record:
        """The record, with a key of its own if it is a copy of a section of another note."""
        copy = self._key_of_copy(record)
        if not copy:
            return record
        if copy not in existing and not self._another_note_has(record, existing.get(record.key)):
            return record
        return structs.replace(record, key=copy)

    def _another_note_has(self, record: Record, known: ExistingRecord | None) -> bool:
        if known is not None:
            return known.path != str(self.path) and Path(known.path).exists()
        return self._writer.queued_from(record.key) not in (None, self.path)

    def _key_of_copy(self, record: Record) -> str:
        """The key of a section of a note that another note has too; messages have none, because
        a session that was resumed or copied repeats its messages.
        """
        if record.shape is Shape.TURN:
            return ""
        return f"{record.key}:{hashlib.sha256(str(self.path).encode()).hexdigest()[:16]}"

    def rewind(self, rewind: Rewind) -> None:
        """The person took these messages back."""
        self._rewinds.append(rewind)
        self._writer.pending(self)

    def finish(self, stamp: Stamp, tally: dict[str, int]) -> None:
        """Mark the file as read to its end."""
        self._is_read = True
        self._columns |= {
            "bytes": stamp.bytes,
            "modified_ns": stamp.modified_ns,
            "tally": msgspec.json.encode(tally).decode(),
        }
        self._writer.pending(self)
        self._writer.flush_when_full()

    def give_up(self, wave: int) -> None:
        """Mark the file as one from which nothing was proposed since this wave."""
        if self._given_up_in is None:
            self._given_up_in = wave
        self._is_read = False
        self._columns |= {"bytes": -1, "modified_ns": GIVEN_UP, "tally": "{}"}
        self._writer.pending(self)

    def write(self, act: Act) -> int:
        """Insert or update the file's row; returns its id."""
        wave = None if self._is_read else self._given_up_in
        columns = {**self._columns, "wave_id": wave or self._writer.wave_id}
        # Looked up each time: another process may have written it, or the act was rolled back.
        row = act.query(
            "SELECT id FROM source WHERE project_id = ? AND path = ?",
            (self._writer.project_id, str(self.path)),
        )
        if row:
            self.id = int(row[0][0])
            act.update("source", self.id, **columns)
        else:
            self.id = act.insert(
                "source", project_id=self._writer.project_id, path=str(self.path), **columns
            )
        return self.id

    def write_changes(self, act: Act) -> None:
        """Write what has become of records that the store has."""
        act.update_each("record", [(row, self._place(record)) for row, record in self._moved])
        for rewind in self._rewinds:
            rows = act.query(
                "SELECT id FROM record WHERE source_id = ? AND use = ?"
                " AND line_start >= ? AND line_start < ?",
                (self.id, str(RecordUse.MESSAGE), rewind.first, rewind.end),
            )
            act.update_many("record", [row for (row,) in rows], use=str(RecordUse.REWOUND))

    def written(self) -> None:
        """Nothing of it waits any more."""
        self.records.clear()
        self._moved.clear()
        self._rewinds.clear()

    def _place(self, record: Record) -> Image:
        return {
            "source_id": self.id,
            "line_start": record.line_start,
            "line_end": record.line_end,
            "byte_start": record.byte_start,
            "byte_end": record.byte_end,
            "sha256": record.sha256,
        }

    def _has_moved(self, record: Record, existing: ExistingRecord) -> bool:
        """Whether a record moved within its file, or its file is gone and this one has it.

        A copy in another file moves nothing.
        """
        if existing.path == str(self.path):
            return (existing.line_start, existing.byte_start) != (
                record.line_start,
                record.byte_start,
            )
        return not Path(existing.path).exists()

    def _is_left_over(self, existing: ExistingRecord) -> bool:
        if existing.wave == self._writer.wave_id:
            return False
        if existing.given_up:
            return True
        if existing.wave_state != "reading":
            return False
        if self._known and existing.source == self.id:
            return self._unfinished
        return existing.source_wave_state == "reading"
