"""From the parts of a job to the candidates that are worth a person's time, in DuckDB.

The order of the work keeps it small: what is compared and counted are keys; the texts of the first
N alone are fetched in the end.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from reviewer.extraction.similarity import NEAR, similarity
from reviewer.files import private_opener, reason_of
from reviewer.fleet.part import COLUMNS
from reviewer.fleet.places import Folder
from reviewer.fleet.values import (
    BOOT,
    EVIDENCE,
    FILES,
    LAYOUT,
    FleetError,
    Settings,
    extra,
    table_name,
)
from reviewer.sources.elsewhere import file_system

ROWS_AT_ONCE = 10_000
MEMORY_LIMIT = "2GB"

ADDED = {"seen": "int64", "sessions": "int64", "authors": "int64", "leader": "string"}
"""Columns of a candidate besides those of its best place. `leader`: the `fact` of the candidate
that says the same in other words and is shown before it."""
CANDIDATE = {
    **{name: kind for name, kind in COLUMNS[EVIDENCE].items() if name not in ("part", "sentence")},
    **ADDED,
}


class CollapseReport(Struct, frozen=True, kw_only=True):
    """What became of the places that a job found."""

    file: str
    parts: int
    files: int
    failed: int
    found: int
    superseded: int
    """Places in files that were read again later, because they had changed."""
    boot: int
    """Places that restate what sessions are told at the start."""
    copies: int
    """Places that a resumed or copied session has again."""
    facts: int
    written: int
    near: int
    """Of those written: shown behind another that says the same."""
    seconds: float


def collapse(
    parts: str,
    out: Path,
    *,
    top: int,
    project: str | None = None,
    excerpts: bool = True,
    memory_limit: str = MEMORY_LIMIT,
    threads: int | None = None,
) -> CollapseReport:
    """Write the `top` candidates of a job's folder to a Parquet file, the best first.

    `project`: only what was said in working folders of that name. `excerpts`: with sentences of
    dialogue. The same parts give the same
    bytes. Raises FleetError when the parts cannot be used together or the file cannot be written.
    """
    began = time.monotonic()
    folder = Folder(parts)
    numbers = _whole_parts(folder)
    settings = _common_settings(folder, numbers)
    scratch_folder = folder.place if folder.is_local else None
    with tempfile.TemporaryDirectory(prefix=".collapse-", dir=scratch_folder) as scratch:
        database = _Database(folder, numbers, scratch, memory_limit, threads)
        try:
            counts = database.count(project, excerpts)
            written, near = database.write(out, top, settings)
        except database.errors as problem:
            raise FleetError(_sentence(problem, memory_limit)) from problem
        finally:
            database.close()
    return CollapseReport(
        file=str(out),
        parts=len(numbers),
        written=written,
        near=near,
        seconds=round(time.monotonic() - began, 3),
        **counts,
    )


def _whole_parts(folder: Folder) -> list[int]:
    names = folder.names()
    ending = f".{FILES}.parquet"
    found = sorted(
        int(name.removeprefix("part-").removesuffix(ending))
        for name in names
        if name.startswith("part-") and name.endswith(ending) and name[5:12].isdigit()
    )
    if not found:
        raise FleetError(
            f"{folder.place} has no parts. Write them first: reviewer fleet run SOURCE --out DIR"
        )
    return found


def _common_settings(folder: Folder, numbers: list[int]) -> Settings:
    """The settings that all parts were written with. Raises FleetError naming one that differs."""
    pq = extra("pyarrow.parquet")
    first: Settings | None = None
    for number in numbers:
        name = table_name(number, FILES)
        data = folder.read(name)
        try:
            meta = pq.read_schema(extra("pyarrow").BufferReader(data)).metadata or {}
            found = msgspec.json.decode(meta[b"reviewer"], type=Settings)
        except (ValueError, KeyError, OSError, msgspec.DecodeError) as problem:
            raise FleetError(f"{folder.path(name)} is not a part of a job: {problem}.") from problem
        if found.layout != LAYOUT:
            raise FleetError(
                f"{folder.path(name)} was written by another version of reviewer (layout "
                f"{found.layout}, this one reads {LAYOUT}). Collapse it with that version, or run "
                "the job again into a new folder."
            )
        if first is not None and found != first:
            raise FleetError(
                f"{folder.path(name)} was written with other settings than the part before it "
                f"({found.extractors}, {found.now}; {first.extractors}, {first.now}). Parts of two "
                "jobs cannot be collapsed together: use a folder for each."
            )
        first = found
    assert first is not None
    return first


def files_of(parts: str, *, everything: bool) -> Iterator[dict[str, Any]]:
    """The files of a job by name, with what became of each; without `everything`, those that
    could not be read. A file that was read again counts as it was last.
    """
    pq, pa = extra("pyarrow.parquet"), extra("pyarrow")
    folder = Folder(parts)
    found: dict[str, dict[str, Any]] = {}
    for number in _whole_parts(folder):
        data = folder.read(table_name(number, FILES))
        table = pq.read_table(pa.BufferReader(data))
        found.update((row["path"], row) for row in table.to_pylist())
    for name in sorted(found):
        row = found[name]
        if everything or (row["problem"] and not row["other_kind"]):
            yield row


class _Database:
    """The queries over the parts. Every choice among equals is by key, never by row number."""

    def __init__(
        self,
        folder: Folder,
        numbers: list[int],
        scratch: str,
        memory_limit: str,
        threads: int | None,
    ) -> None:
        duckdb = extra("duckdb")
        self.errors: tuple[type[Exception], ...] = (duckdb.Error,)
        self._connection = duckdb.connect(os.path.join(scratch, "work.duckdb"))
        try:
            self._connection.execute("SET memory_limit = ?", [memory_limit])
            if threads is not None:
                self._connection.execute("SET threads = ?", [threads])
        except duckdb.Error as problem:
            self._connection.close()
            raise FleetError(f"DuckDB refuses this setting: {problem}") from problem
        self._connection.execute("SET temp_directory = ?", [scratch])
        self._connection.execute("SET preserve_insertion_order = false")
        if not folder.is_local:
            self._connection.register_filesystem(file_system(folder.place))
        self._files = {
            table: [folder.path(table_name(number, table)) for number in numbers]
            for table in (EVIDENCE, BOOT, FILES)
        }

    def close(self) -> None:
        self._connection.close()

    def _sql(self, sql: str, **values: Any) -> Any:
        return self._connection.execute(sql, values or None)

    def _one(self, sql: str) -> tuple[Any, ...]:
        row: tuple[Any, ...] = self._sql(sql).fetchone()
        return row

    def count(self, project: str | None, excerpts: bool) -> dict[str, int]:
        """Make the tables of places and facts; returns the counts for the report."""
        self._sql(
            "CREATE TABLE latest AS SELECT path, max(part) AS part, arg_max(problem, part) AS"
            " problem, arg_max(other_kind, part) AS other_kind"
            " FROM read_parquet($files) GROUP BY path",
            files=self._files[FILES],
        )
        files, failed = self._one(
            "SELECT count(*), count(*) FILTER (problem <> '' AND NOT other_kind) FROM latest"
        )
        self._sql(
            "CREATE TABLE boot AS SELECT DISTINCT sentence FROM read_parquet($files)",
            files=self._files[BOOT],
        )
        self._sql(
            "CREATE VIEW evidence AS SELECT * FROM read_parquet("
            + repr(self._files[EVIDENCE])
            + ")"
        )
        found = self._one("SELECT count(*) FROM evidence")[0]
        # A place is counted once, however many files have it: of those the first by name.
        self._sql(
            """
            CREATE TABLE place AS
            SELECT fact, record, span_start, span_end, count(*) AS times,
                min({'path': path, 'session': session, 'author': author, 'wording': wording,
                     'excerpt': proposer = 'excerpt', 'score': -score}) AS first
            FROM evidence e SEMI JOIN latest USING (path, part)
            WHERE (sentence IS NULL OR sentence NOT IN (SELECT sentence FROM boot))
                AND ($project IS NULL OR project = $project)
                AND ($excerpts OR proposer <> 'excerpt')
            GROUP BY fact, record, span_start, span_end
            """,
            project=project,
            excerpts=excerpts,
        )
        current, boot = self._one(
            "SELECT count(*), count(*) FILTER (sentence IN (SELECT sentence FROM boot))"
            " FROM evidence SEMI JOIN latest USING (path, part)"
        )
        places, times = self._one("SELECT count(*), coalesce(sum(times), 0) FROM place")
        self._sql(
            """
            CREATE TABLE fact AS
            SELECT fact, count(*) AS seen, count(DISTINCT first.session) AS sessions,
                count(DISTINCT nullif(first.author, '')) AS authors,
                min(first.wording) AS wording, bool_and(first.excerpt) AS excerpt,
                min({'score': first.score, 'path': first.path, 'record': record,
                     'start': span_start, 'end': span_end}) AS best
            FROM place GROUP BY fact
            """
        )
        facts = self._one("SELECT count(*) FROM fact")[0]
        return {
            "files": files,
            "failed": failed,
            "found": found,
            "superseded": found - current,
            "boot": boot,
            "copies": int(times) - places,
            "facts": facts,
        }

    def write(self, out: Path, top: int, settings: Settings) -> tuple[int, int]:
        """Write the best facts; returns how many, and how many of them are behind another."""
        # Facts in other words are ranked together, by the sessions and authors of all of them.
        self._sql(
            """
            CREATE TABLE wording AS
            SELECT f.wording, count(DISTINCT f.fact) AS facts,
                count(DISTINCT p.first.session) AS sessions,
                count(DISTINCT nullif(p.first.author, '')) AS authors,
                bool_and(f.excerpt) AS excerpt, min(f.best.score) AS score
            FROM fact f JOIN place p USING (fact) GROUP BY f.wording
            """
        )
        self._sql(
            """
            CREATE TABLE head AS
            SELECT row_number() OVER (ORDER BY w.sessions DESC, w.authors DESC, w.excerpt,
                    w.score, w.wording, f.excerpt, f.sessions DESC, f.authors DESC, f.best.score,
                    f.fact) AS position,
                f.*, w.facts AS alike
            FROM fact f JOIN wording w USING (wording)
            ORDER BY position LIMIT $top
            """,
            top=top,
        )
        columns = ", ".join(f"e.{name}" for name in CANDIDATE if name not in ADDED)
        rows = self._sql(
            f"""
            SELECT {columns}, h.seen, h.sessions, h.authors, h.alike
            FROM head h JOIN evidence e ON e.fact = h.fact AND e.record = h.best.record
                AND e.path = h.best.path AND e.span_start = h.best.start
                AND e.span_end = h.best.end
            SEMI JOIN latest l ON l.path = e.path AND l.part = e.part
            QUALIFY row_number() OVER (PARTITION BY h.position ORDER BY e.score DESC, e.key,
                e.content, e.rule, e.place) = 1
            ORDER BY h.position
            """
        )
        return _write(rows, out, settings)


def _write(rows: Any, out: Path, settings: Settings) -> tuple[int, int]:
    pa, pq = extra("pyarrow"), extra("pyarrow.parquet")
    kinds = {"string": pa.string(), "int64": pa.int64(), "double": pa.float64(), "bool": pa.bool_()}
    schema = pa.schema(
        [(name, kinds[kind]) for name, kind in CANDIDATE.items()],
        metadata={b"reviewer": msgspec.json.encode(settings)},
    )
    fresh = out.with_name(f".{out.name}-{os.urandom(6).hex()}.tmp")
    written = near = 0
    groups = _Alike()
    try:
        with open(fresh, "xb", opener=private_opener) as file:
            with pq.ParquetWriter(file, schema, compression="zstd") as writer:
                for batch in _batches(rows):
                    for row in batch:
                        row["leader"] = groups.leader(row) if row.pop("alike") > 1 else ""
                        near += bool(row["leader"])
                    written += len(batch)
                    writer.write_table(pa.Table.from_pylist(batch, schema=schema))
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, out)
    except OSError as problem:
        raise FleetError(f"{out} cannot be written: {reason_of(problem)}.") from problem
    finally:
        fresh.unlink(missing_ok=True)
    return written, near


def _batches(rows: Any) -> Iterator[list[dict[str, Any]]]:
    names = [column[0] for column in rows.description]
    while found := rows.fetchmany(ROWS_AT_ONCE):
        yield [dict(zip(names, row, strict=True)) for row in found]


class _Alike:
    """Facts of one wording come one after another; the first that says the same leads a fact."""

    def __init__(self) -> None:
        self._wording: object = None
        self._leaders: list[tuple[str, str, str, str]] = []

    def leader(self, row: dict[str, Any]) -> str:
        """The fact of the candidate before which a person sees this one; empty for a leader."""
        if row["kind"] == "entity":
            return ""  # entities of like words may contradict each other
        if row["wording"] != self._wording:
            self._wording, self._leaders = row["wording"], []
        kind, type_, content = row["kind"], row["type"], row["content"]
        for fact, *leads in self._leaders:
            if leads[:2] == [kind, type_] and similarity(leads[2], content) >= NEAR:
                return fact
        self._leaders.append((row["fact"], kind, type_, content))
        return ""


def _sentence(problem: Exception, memory_limit: str) -> str:
    said = " ".join(str(problem).split())[:300]
    if "Out of Memory" in said or "out of memory" in said:
        return (
            f"The parts do not fit into the memory limit of {memory_limit}: give more with "
            f"--memory-limit, or fewer threads with --threads. DuckDB: {said}"
        )
    return f"The parts cannot be collapsed: {said}"
