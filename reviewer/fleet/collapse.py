"""From the parts of a job to the candidates that are worth a person's time, in DuckDB.

The order of the work keeps it small: what is compared and counted are keys; the texts of the first
N alone are fetched in the end.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from msgspec import Struct

from reviewer.files import private_opener, reason_of
from reviewer.fleet.candidate_row import ADDED, CANDIDATE
from reviewer.fleet.part import COLUMNS, schema
from reviewer.fleet.places import Folder, without_secrets
from reviewer.fleet.run import read_plan
from reviewer.fleet.values import BOOT, EVIDENCE, FILES, FleetError, JobSettings, extra, table_name
from reviewer.sources.elsewhere import file_system

ROWS_AT_ONCE = 10_000
MEMORY_LIMIT = "2GB"


class CollapseReport(Struct, frozen=True, kw_only=True):
    """What became of the places that a job found."""

    file: str
    parts: int
    files: int
    failed: int
    found: int
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
    memory_limit: str = MEMORY_LIMIT,
    progress: Callable[[str], None] = lambda step: None,
) -> CollapseReport:
    """Write the `top` candidates of a job's folder to a Parquet file, the best first.

    `project`: only what was said in working folders of that name. `progress` is called with each
    step. The same parts give the same bytes. Raises FleetError when the parts cannot be read or the
    file cannot be written.
    """
    began = time.monotonic()
    duckdb, arrow_errors = extra("duckdb"), extra("pyarrow").ArrowException
    job = _Parts(parts)
    try:
        with (
            # Beside the output: the system's folder for temporary files may be in memory.
            tempfile.TemporaryDirectory(prefix=".collapse-", dir=out.parent) as scratch,
            closing(duckdb.connect(config={"temp_directory": scratch})) as connection,
        ):
            connection.execute("SET memory_limit = ?", [memory_limit])
            for table in (EVIDENCE, BOOT, FILES):
                connection.register(table, job.table(table))
            progress(f"counting what {len(job.numbers):,} parts say")
            counts = _count(connection, project)
            progress(f"ranking {counts['facts']:,} facts")
            written, near = _write(_best(connection, top), out, job.settings)
    except OSError as problem:
        raise FleetError(f"{out} cannot be written: {reason_of(problem)}.") from problem
    except (duckdb.Error, arrow_errors, RuntimeError) as problem:
        said = " ".join(str(problem).split())[:300]
        if "interrupted" in said.lower():  # what DuckDB makes of Ctrl-C
            raise KeyboardInterrupt from problem
        raise FleetError(
            f"The parts in {job.folder.place} cannot be collapsed: {said}. Damaged parts: delete "
            "them, and run the job again. Too little memory: give more with --memory-limit."
        ) from problem
    return CollapseReport(
        file=str(out),
        parts=len(job.numbers),
        written=written,
        near=near,
        seconds=round(time.monotonic() - began, 3),
        **counts,
    )


class _Parts:
    """The parts of a job that are whole. Raises FleetError where there are none."""

    def __init__(self, place: str) -> None:
        self.folder = Folder(place)
        plan = read_plan(self.folder)
        there = self.folder.names()
        numbers = [part.number for part in plan[1]] if plan else []
        self.numbers = [number for number in numbers if table_name(number, FILES) in there]
        if plan is None or not self.numbers:
            raise FleetError(
                f"{self.folder.place} has no parts. Write them first: reviewer fleet run SOURCE "
                "--out DIR"
            )
        self.settings = plan[0]

    def table(self, table: str) -> Any:
        """One table of all parts. A dataset takes every path as it is: DuckDB would take some for
        patterns.
        """
        fs = extra("pyarrow.fs").LocalFileSystem()
        paths = [self.folder.path(table_name(number, table)) for number in self.numbers]
        if not self.folder.is_local:
            fs = file_system(self.folder.place)
            paths = [fs._strip_protocol(path) for path in paths]
        return extra("pyarrow.dataset").dataset(
            paths, schema(COLUMNS[table], self.settings), format="parquet", filesystem=fs
        )


def files_of(parts: str, *, everything: bool) -> Iterator[dict[str, Any]]:
    """The files of a job by name, with what became of each; without `everything`, those that
    could not be read. A file that was read again counts as it was last. Raises FleetError.
    """
    job = _Parts(parts)
    try:
        rows = job.table(FILES).to_table().to_pylist()
    except (extra("pyarrow").ArrowException, OSError) as problem:
        raise FleetError(f"{job.folder.place} has a damaged part: {problem}.") from problem
    found = {row["path"]: row for row in sorted(rows, key=lambda row: row["part"])}
    for name in sorted(found):
        row = found[name]
        if everything or (row["problem"] and not row["other_kind"]):
            yield row


# Every choice among equals is by key, never by row number.


def _count(connection: Any, project: str | None) -> dict[str, int]:
    """Make the tables of places and facts; returns the counts for the report."""

    def one(sql: str) -> tuple[int, ...]:
        row: tuple[int, ...] = connection.execute(sql).fetchone()
        return row

    connection.execute(
        "CREATE TABLE latest AS SELECT path, max(part) AS part, arg_max(problem, part) AS"
        " problem, arg_max(other_kind, part) AS other_kind FROM files GROUP BY path"
    )
    # A place is counted once, however many files have it: of those the first by name.
    connection.execute(
        """
        CREATE TABLE place AS
        SELECT fact, record, span_start, span_end,
            min({'path': path, 'session': session, 'author': author, 'wording': wording,
                 'score': -score}) AS first
        FROM evidence e SEMI JOIN latest USING (path, part)
        WHERE (sentence IS NULL OR sentence NOT IN (SELECT sentence FROM boot))
            AND ($project IS NULL OR project = $project)
        GROUP BY fact, record, span_start, span_end
        """,
        {"project": project},
    )
    if project is not None and one("SELECT count(*) FROM place") == (0,):
        rows = connection.execute(
            "SELECT project, count(DISTINCT session) AS sessions FROM evidence WHERE project <> ''"
            " GROUP BY project ORDER BY sessions DESC, project LIMIT 8"
        ).fetchall()
        names = ", ".join(f"{without_secrets(name)} ({sessions:,})" for name, sessions in rows)
        raise FleetError(
            f"Nothing was found in working folders called {project}. "
            f"Those of most sessions: {names or 'none'}."
        )
    connection.execute(
        """
        CREATE TABLE fact AS
        SELECT fact, count(*) AS seen, count(DISTINCT first.session) AS sessions,
            count(DISTINCT nullif(first.author, '')) AS authors,
            min(first.wording) AS wording,
            min({'score': first.score, 'path': first.path, 'record': record,
                 'start': span_start, 'end': span_end}) AS best
        FROM place GROUP BY fact
        """
    )
    files, failed = one(
        "SELECT count(*), count(*) FILTER (problem <> '' AND NOT other_kind) FROM latest"
    )
    (found,), (facts,) = one("SELECT count(*) FROM evidence"), one("SELECT count(*) FROM fact")
    return {"files": files, "failed": failed, "found": found, "facts": facts}


def _best(connection: Any, top: int) -> Any:
    """The best facts. Those that differ in function words and endings only are ranked together, by
    the sessions and authors of all of them; the first one leads the others, except for entities,
    which may contradict each other.
    """
    columns = ", ".join(f"e.{name}" for name in CANDIDATE if name not in ADDED)
    connection.execute(
        """
        CREATE TABLE head AS
        WITH alike AS (
            SELECT f.wording, count(DISTINCT p.first.session) AS sessions,
                count(DISTINCT nullif(p.first.author, '')) AS authors, min(f.best.score) AS score
            FROM fact f JOIN place p USING (fact) GROUP BY f.wording
        )
        SELECT row_number() OVER (ORDER BY w.sessions DESC, w.authors DESC, w.score, w.wording,
            f.sessions DESC, f.authors DESC, f.best.score, f.fact) AS position, f.*
        FROM fact f JOIN alike w USING (wording)
        ORDER BY position LIMIT $top
        """,
        {"top": top},
    )
    return connection.execute(
        f"""
        SELECT * EXCLUDE (position), CASE WHEN kind = 'memory' AND leads <> fact THEN leads
            ELSE '' END AS leader
        FROM (
            SELECT *, first_value(fact) OVER (PARTITION BY kind, type, wording ORDER BY position)
                AS leads
            FROM (
                SELECT {columns}, h.seen, h.sessions, h.authors, h.position
                FROM head h JOIN evidence e ON e.fact = h.fact AND e.record = h.best.record
                    AND e.path = h.best.path AND e.span_start = h.best.start
                    AND e.span_end = h.best.end
                SEMI JOIN latest l ON l.path = e.path AND l.part = e.part
                QUALIFY row_number() OVER (PARTITION BY h.position ORDER BY e.score DESC,
                    e.content, e.rule, e.place) = 1
            )
        )
        ORDER BY position
        """
    )


def _write(rows: Any, out: Path, settings: JobSettings) -> tuple[int, int]:
    """Write the rows; returns how many there are, and how many of them are behind another."""
    pa, pq = extra("pyarrow"), extra("pyarrow.parquet")
    columns = schema(CANDIDATE, settings)
    names = [column[0] for column in rows.description]
    fresh = out.with_name(f".{out.name}-{os.urandom(6).hex()}.tmp")
    written = near = 0
    try:
        with (
            open(fresh, "xb", opener=private_opener) as file,
            pq.ParquetWriter(file, columns, compression="zstd") as writer,
        ):
            while found := rows.fetchmany(ROWS_AT_ONCE):
                batch = [dict(zip(names, each, strict=True)) for each in found]
                writer.write_table(pa.Table.from_pylist(batch, schema=columns))
                written += len(batch)
                near += sum(bool(row["leader"]) for row in batch)
        os.replace(fresh, out)
    finally:
        fresh.unlink(missing_ok=True)
    return written, near
