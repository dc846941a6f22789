"""One part of a job: files in, Parquet tables out. A pure function that any executor may call."""

from __future__ import annotations

import gc
import hashlib
import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing
from typing import Any

import msgspec
from msgspec import Struct

from reviewer.clock import from_iso
from reviewer.errors import SourceError
from reviewer.extraction.candidates import Candidate
from reviewer.extraction.entities.entity import EntityCandidate
from reviewer.fleet.places import Folder, local_copy
from reviewer.fleet.values import (
    BOOT,
    EVIDENCE,
    FILES,
    LAYOUT,
    FilePart,
    FleetError,
    JobSettings,
    PartDone,
    SourceFile,
    extra,
    table_name,
)
from reviewer.promotion.rows.statement_rows import STATEMENTS_VERSION, PreparedStatement
from reviewer.promotion.waves.session_read import Excerpt, FoundStatement, SessionRead, read_session
from reviewer.sources.records import Record
from reviewer.text.normalise import duplicate_key
from reviewer.text.wording import wording_key

ROWS_AT_ONCE = 5_000
"""Rows that are kept before they are written."""
LONGEST_READ, LONGEST_READ_PER_MB = 60.0, 10.0
"""Seconds of the processor that a file may take, by its size on the disk: some 20 times what it
takes when it is compressed, and 200 times when it is not."""
OBJECTS_BETWEEN_COLLECTIONS = 50_000
_WORKTREE = re.compile(r"(?:/\.worktrees|/\.claude/worktrees)/.*")
"""Where agents put the work trees of a project: inside of it."""
_HOME = re.compile(r"(?:/home/|/Users/|[A-Za-z]:\\Users\\)([^/\\]+)")

_TEXT = "string"
COLUMNS: dict[str, dict[str, str]] = {
    EVIDENCE: {
        "part": "int64", "path": _TEXT, "project": _TEXT, "author": _TEXT, "kind": _TEXT,
        "type": _TEXT, "content": _TEXT, "fact": _TEXT, "wording": "int64",
        "sentence": "int64", "proposer": _TEXT, "rule": _TEXT, "extractor_version": _TEXT,
        "prior": "double", "signal": "double", "freshness": "double", "confidence": "double",
        "score": "double", "flags": _TEXT, "need": _TEXT, "scope": _TEXT,
        "proof": _TEXT, "name": _TEXT, "slot": _TEXT, "attributes": _TEXT,
        "record_line": "int64", "line_start": "int64", "line_end": "int64",
        "byte_start": "int64", "byte_end": "int64",
        "record": _TEXT, "sha256": _TEXT, "session": _TEXT, "at": _TEXT, "role": _TEXT,
        "use": _TEXT, "shape": _TEXT, "sidechain": "bool", "span_start": "int64",
        "span_end": "int64", "excerpt": _TEXT, "excerpt_start": "int64", "format": _TEXT,
        "place": "int64",
    },
    BOOT: {"part": "int64", "sentence": "int64"},
    FILES: {
        "part": "int64", "path": _TEXT, "bytes": "int64", "modified_ns": "int64", "etag": _TEXT,
        "format": _TEXT, "found": "int64", "problem": _TEXT, "other_kind": "bool",
    },
}  # fmt: skip
"""The columns of each table. `fact` is equal for all places that say the same; `place` counts the
quotes of one statement from 0."""

Row = dict[str, Any]


class Job(Struct, frozen=True):
    """What a worker gets: one part, where to write it, and how.

    `killers`: names of files that ended the process that read them, each with a sentence.
    """

    part: FilePart
    out: str
    settings: JobSettings
    killers: dict[str, str] = {}


def write_part(job: Job) -> PartDone:
    """Read the files of a part and write its tables; one that is there already is left as it is.

    Never raises for a file: each has a row in the table of files, with its problem. Raises
    FleetError when the part cannot be written, or this machine has another version of reviewer.
    """
    ours = JobSettings(now=job.settings.now)
    if job.settings != ours:
        raise FleetError(
            f"A worker has another version of reviewer (layout {LAYOUT}, extractors "
            f"{ours.extractors}) than the job ({job.settings.layout}, {job.settings.extractors}). "
            "Install the same version on every machine."
        )
    threshold = gc.get_threshold()
    gc.set_threshold(max(OBJECTS_BETWEEN_COLLECTIONS, threshold[0]), *threshold[1:])
    try:
        return _Writer(job).done()
    finally:
        gc.set_threshold(*threshold)


class _Table:
    """Collects rows and writes them in groups to a Parquet file."""

    def __init__(self, table: str, path: str, settings: JobSettings) -> None:
        pa, pq = extra("pyarrow"), extra("pyarrow.parquet")
        self._schema = schema(COLUMNS[table], settings)
        self._writer = pq.ParquetWriter(path, self._schema, compression="zstd")
        self._pa = pa
        self._rows: list[Row] = []

    def add(self, row: Row) -> None:
        self._rows.append(row)
        if len(self._rows) >= ROWS_AT_ONCE:
            self._flush()

    def _flush(self) -> None:
        columns = [
            self._pa.array([row.get(field.name) for row in self._rows], field.type)
            for field in self._schema
        ]
        self._writer.write_table(self._pa.Table.from_arrays(columns, schema=self._schema))
        self._rows.clear()

    def close(self) -> None:
        self._flush()
        self._writer.close()


def schema(columns: Mapping[str, str], settings: JobSettings) -> Any:
    """The schema of a table of these columns, with the settings of the job in its metadata."""
    pa = extra("pyarrow")
    kinds = {"string": pa.string(), "int64": pa.int64(), "double": pa.float64(), "bool": pa.bool_()}
    fields = [(name, kinds[kind]) for name, kind in columns.items()]
    return pa.schema(fields, metadata={b"reviewer": msgspec.json.encode(settings)})


class _Writer:
    def __init__(self, job: Job) -> None:
        self._job = job
        self._out = Folder(job.out)
        self._tables: dict[str, _Table] = {}
        self._boot: set[int] = set()
        self._failed = self._other_kind = self._found = 0

    def done(self) -> PartDone:
        """Write the part. The table of files comes last: with it the part is whole."""
        part = self._job.part
        if self._out.read(table_name(part.number, FILES)) is not None:
            return PartDone(len(part.files), part.bytes, *already_there(self._out, part.number))
        with ExitStack() as stack:
            for table in (FILES, BOOT, EVIDENCE):  # put in place from the last to the first
                path = stack.enter_context(self._out.writing(table_name(part.number, table)))
                made = _Table(table, path, self._job.settings)
                self._tables[table] = stack.enter_context(closing(made))
            self._read_all()
        return PartDone(len(part.files), part.bytes, self._found, self._failed, self._other_kind)

    def _read_all(self) -> None:
        number = self._job.part.number
        for file in self._job.part.files:
            problem = file.problem or self._job.killers.get(file.name)
            read = SessionRead(problem=problem) if problem else read_file(file, self._job.settings)
            rows = 0
            for row in evidence_rows(read, file, number):
                self._tables[EVIDENCE].add(row)
                rows += 1
            self._boot.update(read.boot)
            self._add_file(file, read, rows)
        for sentence in sorted(self._boot):
            self._tables[BOOT].add({"part": number, "sentence": sentence})

    def _add_file(self, file: SourceFile, read: SessionRead, rows: int) -> None:
        self._found += rows
        self._other_kind += read.other_kind
        self._failed += bool(read.problem) and not read.other_kind
        self._tables[FILES].add(
            {
                "part": self._job.part.number,
                "path": file.name,
                "bytes": file.bytes,
                "modified_ns": file.modified_ns,
                "etag": file.etag,
                "format": read.format,
                "found": rows,
                "problem": read.problem,
                "other_kind": read.other_kind,
            }
        )


def already_there(out: Folder, number: int) -> tuple[int, int, int]:
    """What a part that is whole has: rows of evidence, failed files, files of another kind."""
    pq = extra("pyarrow.parquet")
    data = out.read(table_name(number, FILES))
    assert data is not None
    table = pq.read_table(
        extra("pyarrow").BufferReader(data), columns=["found", "problem", "other_kind"]
    )
    found, problems, others = (table.column(name).to_pylist() for name in table.column_names)
    failed = sum(bool(p) and not o for p, o in zip(problems, others, strict=True))
    return sum(found), failed, sum(others)


def read_file(file: SourceFile, settings: JobSettings) -> SessionRead:
    """Read one file wherever it is; never raises for it."""
    now = from_iso(settings.now)
    assert now is not None
    try:
        with local_copy(file.name) as path:
            return read_session(
                path,
                name=file.name,
                modified_ns=file.modified_ns,
                now=now,
                seconds=LONGEST_READ + path.stat().st_size / 1e6 * LONGEST_READ_PER_MB,
            )
    except SourceError as problem:
        return SessionRead(problem=str(problem))
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        return SessionRead(problem=f"{file.name} cannot be read: {reason}.")


def evidence_rows(read: SessionRead, file: SourceFile, part: int) -> Iterator[Row]:
    """A row for each place at which a file says something that may be remembered."""
    common = {
        "part": part,
        "path": file.name,
        "format": read.format,
    }
    for found in read.found:
        yield {**common, **_of_found(found, file)}
    for statement, score in read.statements:
        yield from ({**common, **row} for row in _of_statement(statement, score, read, file))


def _of_found(found: FoundStatement, file: SourceFile) -> Row:
    candidate = found.candidate
    entity = isinstance(candidate, EntityCandidate)
    kind = "entity" if entity else "memory"
    content = candidate.content
    row: Row = {
        **_worth(candidate),
        "record_line": found.record_line,
        "kind": kind,
        "type": str(candidate.type),
        "content": content,
        "fact": _fact(kind, str(candidate.type), content),
        "wording": _wording(content),
        "sentence": found.sentence,
        "proposer": "notes",
        "rule": candidate.rule,
        "extractor_version": candidate.extractor_version,
        "score": found.score,
        "flags": " ".join(candidate.flags),
        "need": "",
        "scope": "project",
        "proof": "{}",
        "place": 0,
        **_place(candidate.record, candidate.span_start, candidate.span_end, found.excerpt),
        **_whose(found.cwd, candidate.record, file),
    }
    if isinstance(candidate, EntityCandidate):
        row |= {
            "name": candidate.structure.name,
            "slot": candidate.structure.slot,
            "attributes": _json(candidate.structure.attributes),
        }
    return row


def _of_statement(
    statement: PreparedStatement, score: float, read: SessionRead, file: SourceFile
) -> Iterator[Row]:
    proposal = statement.proved.proposal
    content = statement.content
    for place, cited in enumerate(statement.cited):
        record = cited.record
        excerpt = Excerpt.of(record.text, cited.start, cited.end)
        yield {
            **_worth(statement),
            "record_line": record.line_start,
            "kind": "memory",
            "type": str(proposal.type),
            "content": content,
            "fact": _fact("memory", str(proposal.type), content),
            "wording": _wording(content),
            "proposer": str(proposal.proposer),
            "rule": proposal.rule,
            "extractor_version": STATEMENTS_VERSION,
            "score": score,
            "flags": " ".join(statement.flags),
            "need": proposal.kind,
            "scope": proposal.scope,
            "proof": _json(statement.proved.proof),
            "place": place,
            **_place(record, cited.start, cited.end, excerpt),
            **_whose(record.meta.get("cwd") or read.cwd, record, file),
        }


def _worth(of: Candidate | PreparedStatement) -> Row:
    return {
        "prior": of.prior,
        "signal": of.signal,
        "freshness": of.freshness,
        "confidence": of.confidence,
    }


def _place(record: Record, start: int, end: int, excerpt: Excerpt) -> Row:
    return {
        "line_start": record.line_start,
        "line_end": record.line_end,
        "byte_start": record.byte_start,
        "byte_end": record.byte_end,
        "record": record.key,
        "sha256": record.sha256,
        "at": record.at,
        "role": str(record.role),
        "use": str(record.use),
        "shape": str(record.shape),
        "sidechain": record.sidechain,
        "span_start": start,
        "span_end": end,
        "excerpt": excerpt.text.encode("utf-8", "replace").decode(),
        "excerpt_start": excerpt.start,
    }


def _whose(cwd: str, record: Record, file: SourceFile) -> Row:
    """The session, its project and its author, as far as the working folder tells them."""
    home = _HOME.match(cwd) or _HOME.search(file.name)
    return {
        "session": record.session or file.name,
        "project": _WORKTREE.sub("", cwd.replace("\\", "/")).rstrip("/").rpartition("/")[2],
        "author": home[1] if home else "",
    }


def _fact(kind: str, type_: str, wording: str) -> str:
    text = f"{kind}\0{type_}\0{duplicate_key(wording)}"
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).hexdigest()


def _wording(text: str) -> int:
    """Equal for texts that differ in function words, inflection and punctuation only."""
    words = "\0".join(wording_key(text)) or duplicate_key(text)
    digest = hashlib.blake2b(words.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def _json(value: Mapping[str, Any] | tuple[Any, ...] | Struct) -> str:
    return msgspec.json.encode(value).decode()
