"""Writes the records of a wave (L0) in batches, each record once in a project."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct, structs

from reviewer.clock import Clock, iso
from reviewer.promotion.rows.evidence_rows import record_ids, record_image, wave_row
from reviewer.promotion.rows.finding_rows import keep
from reviewer.sessions.findings import Finding
from reviewer.sources.events import Rewind
from reviewer.sources.records import Record, RecordUse, Shape
from reviewer.sources.walk import size_and_time
from reviewer.store.acts import Act, Scope, chunks
from reviewer.store.changes import Image, Value
from reviewer.store.database import Database, failures_as_sentences
from reviewer.store.ledger import Ledger
from reviewer.store.project_rows import project_row
from reviewer.store.service import Service
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
        """The stamp of a file. Raises OSError."""
        return cls(*size_and_time(path, path.stat()))

    def of_part(self) -> Stamp:
        """The stamp if only some sessions of the file were read."""
        return Stamp(-2 - self.bytes, self.modified_ns)


UNREAD = Stamp(-1, -1)
"""The stamp of a file that was not read to its end."""


class ExistingRecord(NamedTuple):
    id: int
    path: str
    line_start: int
    byte_start: int
    unread: bool
    """Its file was not read to its end, so nothing was proposed from it."""


class RecordWriter(Service):
    """Writes the records of one wave. `fresh`: the number of records new to the project."""

    def __init__(self, database: Database, ledger: Ledger, clock: Clock) -> None:
        super().__init__(database, ledger, clock)
        self.project_id = 0
        self.wave_id = 0
        self.first_finding = 0
        """From this id on, findings are those of this wave."""
        self.fresh = 0
        self._pending: dict[Path, FileRecords] = {}
        """Files with something to write in the next batch."""
        self._keys: dict[str, Path] = {}
        """The keys of its new records, each with its file."""
        self._characters = 0

    def start(self, project: str, roots: list[str]) -> int:
        """Begin a wave, creating the project if it is new; returns the wave's id."""
        with self._ledger.act("wave", f"Started reading for {project}", scope=Scope.INTAKE) as act:
            self.project_id = project_row(act, project)
            now = iso(self._clock())
            self.wave_id = wave_row(act, self.project_id, roots, now, reading=True)
            self.first_finding = act.next_id("finding")
        return self.wave_id

    def known_stamp(self, path: Path) -> Stamp | None:
        """The stamp of a stored file: UNREAD until a finished wave has read all of it."""
        with failures_as_sentences(self._database.path):
            row = self._database.writer.execute(
                "SELECT s.bytes, s.modified_ns, w.state = 'reading' FROM source s"
                " LEFT JOIN wave w ON w.id = s.wave_id WHERE s.project_id = ? AND s.path = ?",
                (self.project_id, str(path)),
            ).fetchone()
        if row is None:
            return None
        return UNREAD if row[0] == UNREAD.bytes or row[2] else Stamp(row[0], row[1])

    def pending(self, file: FileRecords) -> None:
        """Write a file's changes with the next batch."""
        self._pending[file.path] = file

    def enqueue(self, file: FileRecords, record: Record) -> None:
        """Count a new record of the next batch."""
        self.pending(file)
        self._keys[record.key] = file.path
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
        """Write everything pending as one act."""
        if not self._pending:
            return
        files = list(self._pending.values())
        title = f"Read {count(len(self._keys), 'record')} of {count(len(files), 'file')}"
        with self._ledger.act("read", title, scope=Scope.INTAKE) as act:
            records = [record for file in files for record in file.rows(act)]
            # Another process may have written some meanwhile.
            there = record_ids(act, self.project_id, self._keys)
            act.insert_many("record", [each for each in records if each["key"] not in there])
            for file in files:
                file.write_changes(act)
        self._pending.clear()
        self._keys.clear()
        self._characters = 0

    def existing(self, keys: list[str]) -> dict[str, ExistingRecord]:
        """The project's records with these keys."""
        found: dict[str, ExistingRecord] = {}
        with failures_as_sentences(self._database.path):
            for chunk in chunks(keys):
                sql = (
                    "SELECT r.key, r.id, s.path, r.line_start, r.byte_start,"
                    f" s.bytes = {UNREAD.bytes} OR coalesce(w.state = 'reading' AND w.id <> ?, 0)"
                    " FROM record r JOIN source s ON s.id = r.source_id"
                    " LEFT JOIN wave w ON w.id = s.wave_id"
                    f" WHERE r.project_id = ? AND r.key IN ({','.join('?' * len(chunk))})"
                )
                given = (self.wave_id, self.project_id, *chunk)
                for key, *rest in self._database.writer.execute(sql, given):
                    found[key] = ExistingRecord(*rest)
        return found


class FileRecords:
    """The records of one file on their way into the store.

    Until `finish`, the file's row says that it was not read to its end, so that the next ingestion
    reads it again. Everything that a file's content can break is done in `take`, so that `flush`,
    which writes several files, cannot fail because of one.
    """

    def __init__(
        self, writer: RecordWriter, path: Path, format_: str, *, again: bool = False
    ) -> None:
        """`again`: all records of the file count as fresh."""
        self._writer = writer
        self.path = path
        self._again = again or writer.known_stamp(path) == UNREAD
        """Or an earlier wave has records of the file, but did not finish reading it."""
        self._new: list[Image] = []
        self._moved: list[tuple[int, Image]] = []
        self._rewinds: list[Rewind] = []
        self._findings: Sequence[Finding] | None = None
        self._sessions: frozenset[str] | None = None
        self._columns: dict[str, Value] = {
            "format": format_, "bytes": UNREAD.bytes, "modified_ns": UNREAD.modified_ns,
            "tally": "{}", "wave_id": writer.wave_id,
        }  # fmt: skip
        self._source = 0
        """The id of the file's row, known once it has been written."""

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
                again = known.unread or (self._again and known.path == str(self.path))
                fresh.append(record.key if again else "")
                if self._has_moved(record, known):
                    self._moved.append((known.id, self._image(record, _PLACE)))
                    self._writer.pending(self)
            elif self._writer.queued_from(record.key) is not None:
                fresh.append("")
            else:
                self._new.append(self._image(record))
                self._writer.enqueue(self, record)
                fresh.append(record.key)
        self._writer.flush_when_full()
        return fresh

    def rewind(self, rewind: Rewind) -> None:
        """The person took these messages back."""
        self._rewinds.append(rewind)
        self._writer.pending(self)

    def finish(
        self,
        stamp: Stamp,
        tally: Mapping[str, int],
        findings: Sequence[Finding],
        sessions: frozenset[str] | None,
    ) -> None:
        """Mark the file as read to its end, or those `sessions` of it."""
        self._findings, self._sessions = findings, sessions
        self._columns |= {
            "bytes": stamp.bytes,
            "modified_ns": stamp.modified_ns,
            "tally": msgspec.json.encode(tally).decode(),
        }
        self._writer.pending(self)
        self._writer.flush_when_full()

    def rows(self, act: Act) -> Iterator[Image]:
        """Write the file's row; returns the rows of its new records."""
        project_id, path = self._writer.project_id, str(self.path)
        # Looked up each time: another process may have written it.
        known = act.query(
            "SELECT id FROM source WHERE project_id = ? AND path = ?", (project_id, path)
        )
        if known:
            self._source = int(known[0][0])
            act.update("source", self._source, **self._columns)
        else:
            self._source = act.insert("source", project_id=project_id, path=path, **self._columns)
        return ({**image, "source_id": self._source} for image in self._new)

    def write_changes(self, act: Act) -> None:
        """Write changes of stored records, and the findings of a file read to its end."""
        moved = [(row, {**place, "source_id": self._source}) for row, place in self._moved]
        act.update_each("record", moved)
        for rewind in self._rewinds:
            rows = act.query(
                "SELECT id FROM record WHERE source_id = ? AND use = ?"
                " AND line_start >= ? AND line_start < ?",
                (self._source, str(RecordUse.MESSAGE), rewind.first, rewind.end),
            )
            act.update_many("record", [row for (row,) in rows], use=str(RecordUse.REWOUND))
        if self._findings is not None:
            keep(act, self._writer.project_id, self._source, self._findings, self._sessions)
        self._new.clear()
        self._moved.clear()
        self._rewinds.clear()

    def _image(self, record: Record, columns: Sequence[str] = ()) -> Image:
        """A record's row, or some columns of it."""
        image = record_image(
            record, project_id=self._writer.project_id, source_id=0, wave_id=self._writer.wave_id
        )
        return {name: image[name] for name in columns} if columns else image

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


_PLACE = ("line_start", "line_end", "byte_start", "byte_end", "sha256")
"""The columns of a record's place."""
