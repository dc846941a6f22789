"""Writes the records of a wave (L0) in batches, each record once in a project."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
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
"""A batch is written at either limit, so that memory stays flat and other processes get a turn."""


class Stamp(Struct, frozen=True):
    """Size and time of a file when it was read; a file with the same stamp is not read again."""

    bytes: int
    modified_ns: int

    @classmethod
    def of(cls, path: Path) -> Stamp:
        """The stamp of a file and its companion files. Raises OSError."""
        stat = path.stat()
        size, modified = stat.st_size, stat.st_mtime_ns
        for beside in read_with(path):
            try:
                stat = beside.stat()
            except OSError:
                continue  # there is none, or it was just removed
            size, modified = size + stat.st_size, max(modified, stat.st_mtime_ns)
        return cls(size, modified)

    def of_part(self) -> Stamp:
        """The stamp if only some sessions of the file were read."""
        return Stamp(-2 - self.bytes, self.modified_ns)


UNREAD = Stamp(-1, -1)
"""The stamp of a file that was not read to its end."""


class ExistingRecord(NamedTuple):
    """A stored record and its position."""

    id: int
    path: str
    line_start: int
    byte_start: int


class RecordWriter:
    """Writes the records of one wave. `fresh`: the number of records new to the project."""

    def __init__(
        self,
        database: Database,
        ledger: Ledger,
        clock: Clock,
        give_up: Callable[[Path, Exception], None],
    ) -> None:
        """`give_up`: called with each file whose records cannot be written, and the error."""
        self._database = database
        self._ledger = ledger
        self._clock = clock
        self._give_up = give_up
        self.project_id = 0
        self.wave_id = 0
        self.fresh = 0
        self._pending: dict[Path, SourceWriter] = {}
        """Sources to be written with the next batch."""
        self._keys: dict[str, Path] = {}
        """The keys of its records, each with its file."""
        self._characters = 0

    def start(self, project: str, roots: list[str]) -> int:
        """Begin a wave, creating the project if it is new; returns the wave's id."""
        with self._ledger.act("wave", f"Started reading for {project}", scope=Scope.INTAKE) as act:
            self.project_id = project_row(act, project)
            now = iso(self._clock())
            self.wave_id = wave_row(act, self.project_id, roots, now, reading=True)
        return self.wave_id

    def unchanged(self, path: Path, stamp: Stamp) -> bool:
        """Whether a finished wave has read this very file to its end."""
        return self._known_stamp(path) == stamp

    def open_source(self, path: Path, format_: str) -> SourceWriter:
        """Start writing a file's records."""
        return SourceWriter(self, path, format_, self._known_stamp(path) == UNREAD)

    def give_up(self, path: Path) -> None:
        """Mark a file to be read again, if any of it has been written."""
        source = self._pending.get(path)
        if source is not None:
            source.give_up()
            return
        with failures_as_sentences(self._database.path):
            row = self._database.writer.execute(
                "SELECT format FROM source WHERE project_id = ? AND path = ?",
                (self.project_id, str(path)),
            ).fetchone()
        if row is not None:
            SourceWriter(self, path, row[0], unread=True)

    def _known_stamp(self, path: Path) -> Stamp | None:
        """The stamp of a stored file: UNREAD until a finished wave has read all of it."""
        with failures_as_sentences(self._database.path):
            row = self._database.writer.execute(
                "SELECT s.bytes, s.modified_ns, w.state = 'reading' FROM source s"
                " JOIN wave w ON w.id = s.wave_id WHERE s.project_id = ? AND s.path = ?",
                (self.project_id, str(path)),
            ).fetchone()
        if row is None:
            return None
        return UNREAD if row[0] == UNREAD.bytes or row[2] else Stamp(row[0], row[1])

    def pending(self, source: SourceWriter) -> None:
        """Write a source's records with the next batch."""
        self._pending[source.path] = source

    def enqueue(self, source: SourceWriter, record: Record) -> None:
        """Add a new record to the next batch."""
        self.pending(source)
        source.records.append(record)
        self._keys[record.key] = source.path
        self._characters += len(record.text)
        self.fresh += 1

    def queued_from(self, key: str) -> Path | None:
        """The file of the record with this key in the next batch, if any."""
        return self._keys.get(key)

    def flush_when_full(self) -> None:
        """Write the batch if it is large enough."""
        size = max(len(self._keys), len(self._pending))
        if size >= BATCH_RECORDS or self._characters >= BATCH_CHARACTERS:
            self.flush()

    def flush(self) -> None:
        """Write everything pending as one act; files that make it fail are left out."""
        sources = list(self._pending.values())
        self._pending.clear()
        if not sources:
            return
        faults: dict[Path, Exception] = {}
        try:
            self._write(sources)
        except ReviewerError:
            raise
        except Exception:  # one bad file must not stop the others
            for source in sources:
                try:
                    self._write([source])
                except ReviewerError:
                    raise
                except Exception as fault:
                    faults[source.path] = fault
        for source in sources:
            source.written()
        self._keys.clear()
        self._characters = 0
        for source in sources:
            if source.path in faults:
                source.give_up()
                self._give_up(source.path, faults[source.path])

    def _write(self, sources: list[SourceWriter]) -> None:
        """Write the pending records of some sources as one act."""
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
                    "SELECT r.key, r.id, s.path, r.line_start, r.byte_start FROM record r"
                    " JOIN source s ON s.id = r.source_id WHERE r.project_id = ? AND r.key IN"
                    f" ({','.join('?' * len(chunk))})"
                )
                for key, *rest in self._database.writer.execute(sql, (self.project_id, *chunk)):
                    found[key] = ExistingRecord(*rest)
        return found


class SourceWriter:
    """Writes the records of one file.

    `id` is None until the file's row has been written. Until `finish`, the row says that the file
    was not read to its end, so that the next ingestion reads it again.
    """

    def __init__(self, writer: RecordWriter, path: Path, format_: str, unread: bool) -> None:
        """`unread`: an earlier wave has records of the file, but did not finish reading it."""
        self._writer = writer
        self.path = path
        self._unread = unread
        self.id: int | None = None
        self.records: list[Record] = []
        """New records waiting to be written, like the next two."""
        self._moved: list[tuple[int, Record]] = []
        self._rewinds: list[Rewind] = []
        self._columns: dict[str, Value] = {"format": format_}
        self.give_up()

    def take(self, records: list[Record]) -> list[str]:
        """Enqueue new records; returns each one's key in the store if it has yet to be extracted
        from, else an empty string.

        The same section in another note is a separate record with its own key: saying something in
        two notes is saying it twice. Records of a file that was not read to its end before count as
        fresh.
        """
        existing = self._writer.existing(
            [key for each in records for key in (each.key, self._key_of_copy(each)) if key]
        )
        fresh: list[str] = []
        for read in records:
            record = self._as_stored(read, existing)
            known = existing.get(record.key)
            if known is not None:
                again = self._unread and known.path == str(self.path)
                fresh.append(record.key if again else "")
                if self._has_moved(record, known):
                    self._moved.append((known.id, record))
                    self._writer.pending(self)
            elif self._writer.queued_from(record.key) is not None:
                fresh.append("")
            else:
                self._writer.enqueue(self, record)
                fresh.append(record.key)
        self._writer.flush_when_full()
        return fresh

    def _as_stored(self, record: Record, existing: dict[str, ExistingRecord]) -> Record:
        """The record, with its own key if it is a copy of a section of another note."""
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
        """The key of a section of a note that another note has too; not for messages, because a
        resumed or copied session repeats its messages.
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
        self._mark(stamp, tally)
        self._writer.flush_when_full()

    def give_up(self) -> None:
        """Mark the file to be read again."""
        self._mark(UNREAD, {})

    def _mark(self, stamp: Stamp, tally: dict[str, int]) -> None:
        self._columns |= {
            "bytes": stamp.bytes,
            "modified_ns": stamp.modified_ns,
            "tally": msgspec.json.encode(tally).decode(),
        }
        self._writer.pending(self)

    def write(self, act: Act) -> int:
        """Insert or update the file's row; returns its id."""
        columns = {**self._columns, "wave_id": self._writer.wave_id}
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
        """Write changes of stored records."""
        act.update_each("record", [(row, self._place(record)) for row, record in self._moved])
        for rewind in self._rewinds:
            rows = act.query(
                "SELECT id FROM record WHERE source_id = ? AND use = ?"
                " AND line_start >= ? AND line_start < ?",
                (self.id, str(RecordUse.MESSAGE), rewind.first, rewind.end),
            )
            act.update_many("record", [row for (row,) in rows], use=str(RecordUse.REWOUND))

    def written(self) -> None:
        """Mark everything as written."""
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
        """Whether a record moved within its file, or from a deleted file into this one.

        A copy in another file moves nothing.
        """
        if existing.path == str(self.path):
            return (existing.line_start, existing.byte_start) != (
                record.line_start,
                record.byte_start,
            )
        return not Path(existing.path).exists()
