"""The best candidates of a job's parts, chosen in DuckDB.

Only keys and 64-bit hashes are compared and counted; texts are fetched at the end, for the first N.
Ties are broken by key, never by row number, so that the same parts give the same candidates.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import msgspec

from reviewer.fleet.places import masked_place
from reviewer.fleet.rows import CandidateRow, CitedStatement
from reviewer.fleet.tables import Folder, Parts
from reviewer.fleet.values import FleetError, extra, line

ROWS_AT_ONCE = 2_500
MEMORY_LIMIT = "220MB"
"""Limit for DuckDB; the rest is spilled to disk."""
PAGES_LIMIT = "50MB"
"""The same while the best are read, page by page."""
SETTINGS = {
    # Each thread needs memory, and finding the rows takes less time than writing them.
    "threads": 1,
    # It would keep the texts in memory for a join, not the keys.
    "disabled_optimizers": "build_side_probe_side",
}


_CITED, _COLUMNS = CitedStatement.__struct_fields__, CandidateRow.__struct_fields__


class Best:
    """The best candidates of a job. `found`: number of places; `facts`: of distinct statements."""

    def __init__(self, place: str, connection: Any, *, top: int, project: str | None) -> None:
        self._place = place
        self._connection = connection
        self._count(project)
        (self.found,) = self._one("SELECT count(*) FROM evidence")
        (self.facts,) = self._one("SELECT count(*) FROM fact")
        self._rank(top)
        (self.count,) = self._one("SELECT count(*) FROM head")
        connection.execute("SET memory_limit = ?", [PAGES_LIMIT])

    def batches(self) -> Iterator[list[CandidateRow]]:
        """The candidates in the order of the parts, so that those of a file are stored together;
        near duplicates after their leaders. Raises FleetError naming the first invalid one.
        """
        for follows in (False, True):
            page = self._connection.execute(
                "SELECT * EXCLUDE (follows, score, place) FROM best WHERE follows = ?", [follows]
            )
            while rows := page.fetchmany(ROWS_AT_ONCE):
                yield [self._checked(row) for row in rows]

    def _checked(self, row: tuple[Any, ...]) -> CandidateRow:
        """A valid row. The parts are untrusted: anybody may have written them."""
        try:
            return msgspec.convert(row, CandidateRow)
        except ValueError as problem:
            path, number = (row[_COLUMNS.index(name)] for name in ("path", "position"))
            reason = re.sub(r"\$\[(\d+)\]", lambda at: _COLUMNS[int(at[1])], str(problem))
            raise FleetError(
                f"Candidate {number} of {self._place} cannot be imported: {reason}. It was found"
                f" in {masked_place(str(path))[:200]}."
            ) from problem

    def _one(self, sql: str) -> tuple[int, ...]:
        row: tuple[int, ...] = self._connection.execute(sql).fetchone()
        return row

    def _count(self, project: str | None) -> None:
        """Make the tables of places and facts."""
        self._connection.execute(
            "CREATE TABLE latest AS SELECT path, max(part) AS part FROM files GROUP BY path"
        )
        # A place that several files have is counted once, in the first file by name.
        self._connection.execute(
            """
            CREATE TABLE place AS
            SELECT fact, record, span_start, span_end,
                min({'path': path, 'session': hash(session),
                     'author': nullif(hash(author), hash('')), 'wording': wording,
                     'score': -score, 'kind': kind, 'type': type}) AS first
            FROM evidence e SEMI JOIN latest USING (path, part)
            WHERE sentence NOT IN (SELECT unnest(boot) FROM files)
                AND ($project IS NULL OR project = $project)
            GROUP BY fact, record, span_start, span_end
            """,
            {"project": project},
        )
        if project is not None and self._one("SELECT count(*) FROM place") == (0,):
            raise FleetError(
                f"Nothing was found in working folders called {project}. "
                f"Those of most sessions: {self._projects() or 'none'}."
            )
        self._connection.execute(
            """
            CREATE TABLE fact AS
            SELECT * EXCLUDE best, best.score,
                hash(fact, best.path, best.record, best.start, best.end) AS place_key
            FROM (
                SELECT fact, count(*) AS seen, count(DISTINCT first.session) AS sessions,
                    count(DISTINCT first.author) AS authors, min(first.wording) AS wording,
                    min(first.kind) AS kind, min(first.type) AS type,
                    min({'score': first.score, 'path': first.path, 'record': record,
                         'start': span_start, 'end': span_end}) AS best
                FROM place GROUP BY fact
            )
            """
        )

    def _projects(self) -> str:
        rows = self._connection.execute(
            "SELECT project, count(DISTINCT session) AS sessions FROM evidence WHERE project <> ''"
            " GROUP BY project ORDER BY sessions DESC, project LIMIT 8"
        ).fetchall()
        return ", ".join(f"{masked_place(name)} ({sessions:,})" for name, sessions in rows)

    def _rank(self, top: int) -> None:
        """Make the tables of the best facts and of their places. Facts that differ only in function
        words and endings share the rank of all their sessions and authors, and the first one leads
        the others; entities have no leaders, because they may contradict each other.
        """
        self._connection.execute(
            """
            CREATE TABLE head AS
            WITH alike AS (
                SELECT f.wording, count(DISTINCT p.first.session) AS sessions,
                    count(DISTINCT p.first.author) AS authors, min(f.score) AS score
                FROM fact f JOIN place p USING (fact) GROUP BY f.wording
            ), ordered AS (
                SELECT row_number() OVER (ORDER BY w.sessions DESC, w.authors DESC, w.score,
                    w.wording, f.sessions DESC, f.authors DESC, f.score, f.fact) AS position,
                    f.*
                FROM fact f JOIN alike w USING (wording)
                ORDER BY position LIMIT $top
            )
            SELECT position, fact, place_key, seen, sessions, authors,
                CASE WHEN kind = 'memory' AND count(*) OVER alike > 1
                    THEN first_value(fact) OVER (alike ORDER BY position) ELSE '' END AS leader
            FROM ordered WINDOW alike AS (PARTITION BY kind, type, wording)
            """,
            {"top": top},
        )
        columns = ", ".join(f"{'e' if name in _CITED else 'h'}.{name}" for name in _COLUMNS)
        self._connection.execute(
            f"""
            CREATE TABLE best AS
            SELECT {columns}, leader NOT IN ('', h.fact) AS follows, e.score, e.place
            FROM evidence e JOIN head h
                ON h.place_key = hash(e.fact, e.path, e.record, e.span_start, e.span_end)
            SEMI JOIN latest l ON l.path = e.path AND l.part = e.part
            """
        )
        # Several statements may be at one place: the first one is the best.
        self._connection.execute(
            """
            DELETE FROM best WHERE rowid IN (
                SELECT rowid FROM best
                WHERE position IN (
                    SELECT position FROM best GROUP BY position HAVING count(*) > 1
                )
                QUALIFY row_number() OVER (
                    PARTITION BY position ORDER BY score DESC, content, rule, place
                ) > 1
            )
            """
        )


@contextmanager
def best(place: str, *, top: int, project: str | None = None) -> Iterator[Best]:
    """The `top` candidates of a job's folder, readable until the end of the block.

    `project`: only those from working folders of that name. Raises FleetError if there are no
    parts, or they cannot be read.
    """
    duckdb = extra("duckdb")
    folder = Folder(place)
    parts = Parts(folder)
    if parts.settings is None:
        raise FleetError(
            f"{folder.place} has no parts. Write them first: reviewer fleet run SOURCE --out DIR"
        )
    # Beside the parts, because the system's temporary folder may be in memory.
    beside = folder.place if folder.is_local and os.access(folder.place, os.W_OK) else None
    try:
        with (
            tempfile.TemporaryDirectory(prefix=".reviewer-", dir=beside) as scratch,
            closing(duckdb.connect(config={"temp_directory": scratch, **SETTINGS})) as connection,
        ):
            connection.execute("SET memory_limit = ?", [MEMORY_LIMIT])
            parts.add_views(connection)
            yield Best(folder.place, connection, top=top, project=project)
    except (duckdb.Error, OSError, RuntimeError) as problem:
        if isinstance(problem, duckdb.OutOfMemoryException):
            raise FleetError(
                f"{folder.place} has too much for {MEMORY_LIMIT} of memory. Import fewer: --top N"
            ) from problem
        said = line(problem)
        if "interrupted" in said.lower():  # what DuckDB makes of Ctrl-C
            raise KeyboardInterrupt from problem
        raise FleetError(
            f"The parts in {folder.place} cannot be read: {said}. Delete those that are damaged,"
            " and run the job again."
        ) from problem
