"""From the parts of a job to the candidates that are worth a person's time, in DuckDB.

The order of the work keeps it small: what is compared and counted are keys; the texts of the first
N alone are fetched in the end.
"""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, structs

from reviewer.extraction.similarity import NEAR, similarity
from reviewer.files import private_opener, reason_of
from reviewer.fleet.candidate_row import ADDED, CANDIDATE, NAMES, CandidateRow, checked, clean
from reviewer.fleet.part import COLUMNS, schema
from reviewer.fleet.places import Folder
from reviewer.fleet.values import (
    BOOT,
    EVIDENCE,
    FILES,
    LAYOUT,
    FleetError,
    JobSettings,
    extra,
    table_name,
)
from reviewer.sources.elsewhere import file_system
from reviewer.text.secrets import mask

ROWS_AT_ONCE = 10_000
MEMORY_LIMIT = "2GB"
WORK = ".collapse-"
"""The beginning of the name of the folder for what does not fit into memory."""
SCHEMAS_AT_ONCE = 8
"""Parts whose columns are looked at together: in a bucket each takes a while to answer."""
_PLAIN = re.compile(r"[\w./ -]*")
"""Paths that DuckDB takes as they are: signs like `?`, `[` and `=` mean something to it."""


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
    masked: int
    """Secrets that were masked, which whoever wrote the parts had left."""
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
    step. The same parts give the same bytes. Raises FleetError when the parts cannot be used
    together or the file cannot be written.
    """
    began = time.monotonic()
    folder = Folder(parts)
    errors: type[Exception] = extra("duckdb").Error
    progress("looking at the parts")
    numbers = _whole_parts(folder)
    settings = _common_settings(folder, numbers)
    with _plainly_named(folder, out) as (place, scratch):
        try:
            database = _Database(folder, place, numbers, scratch, memory_limit)
            try:
                progress(f"counting what {len(numbers):,} parts say")
                counts = database.count(project)
                progress(f"ranking {counts['facts']:,} facts")
                written = database.write(out, top, settings)
            finally:
                database.close()
        except (errors, RuntimeError) as problem:
            if "interrupted" in str(problem).lower():  # what DuckDB makes of Ctrl-C
                raise KeyboardInterrupt from problem
            if not isinstance(problem, errors):
                raise
            said = _sentence(problem, memory_limit, place, folder.place, out)
            raise FleetError(said) from problem
    return CollapseReport(
        file=str(out),
        parts=len(numbers),
        written=written.rows,
        near=written.near,
        masked=written.masked,
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


def _common_settings(folder: Folder, numbers: list[int]) -> JobSettings:
    """The settings that all parts were written with. Raises FleetError naming a file with others,
    or with other columns than a part has.
    """
    first: JobSettings | None = None
    with ThreadPoolExecutor(SCHEMAS_AT_ONCE) as threads:
        for found in threads.map(lambda number: _settings_of(folder, number), numbers):
            for name, settings in found:
                if first is not None and settings != first:
                    raise FleetError(
                        f"{folder.path(name)} was written with other settings than the part before "
                        f"it ({settings.extractors}, {settings.now}; {first.extractors}, "
                        f"{first.now}). Parts of two jobs cannot be collapsed together: use a "
                        "folder for each."
                    )
                first = settings
    assert first is not None
    return first


def _settings_of(
    folder: Folder, number: int, tables: Sequence[str] = (FILES, EVIDENCE, BOOT)
) -> list[tuple[str, JobSettings]]:
    """The files of a part, each with the settings that it was written with."""
    pq = extra("pyarrow.parquet")
    found: list[tuple[str, JobSettings]] = []
    for table in tables:
        name = table_name(number, table)
        try:
            with folder.opened(name) as file:
                columns = pq.read_schema(file)
            noted = (columns.metadata or {}).get(b"reviewer")
            if noted is None:
                raise ValueError("reviewer has not written it")
            settings = msgspec.json.decode(noted, type=JobSettings)
        except (ValueError, OSError, msgspec.DecodeError) as problem:
            said = str(problem).rstrip(".")
            raise FleetError(f"{folder.path(name)} is not a part of a job: {said}.") from problem
        if settings.layout != LAYOUT:
            raise FleetError(
                f"{folder.path(name)} was written by another version of reviewer (layout "
                f"{settings.layout}, this one reads {LAYOUT}). Collapse it with that version, or "
                "run the job again into a new folder."
            )
        if not columns.equals(schema(COLUMNS[table], settings)):
            raise FleetError(
                f"{folder.path(name)} has other columns than a part of a job. {_again(number)}"
            )
        found.append((name, settings))
    return found


def _again(number: int) -> str:
    return (
        f"Somebody else wrote it, or it is damaged: delete {table_name(number, '*')}, and run the "
        "job again; what is missing is read once more."
    )


@contextmanager
def _plainly_named(folder: Folder, out: Path) -> Iterator[tuple[str, str]]:
    """Paths to the parts and to a folder to work in, which is made beside the output, because the
    system's folder for temporary files may be in memory. Those of this machine are links without
    the signs to which DuckDB gives a meaning.
    """
    try:
        made = tempfile.TemporaryDirectory(prefix=WORK, dir=out.parent)
    except OSError as problem:
        raise FleetError(f"{out} cannot be written: {reason_of(problem)}.") from problem
    with made as scratch, tempfile.TemporaryDirectory("-reviewer") as links:
        work, parts = os.path.join(links, "work"), folder.place
        os.symlink(scratch, work, target_is_directory=True)
        if folder.is_local:
            parts = os.path.join(links, "parts")
            os.symlink(folder.place, parts, target_is_directory=True)
        yield parts, work


def _escaped(path: str) -> str:
    """A path that DuckDB is not to take for a pattern."""
    return re.sub(r"([*?\[])", r"[\1]", path)


def _quoted(text: str) -> str:
    """A string of SQL."""
    return "'" + text.replace("'", "''") + "'"


def files_of(parts: str, *, everything: bool) -> Iterator[dict[str, Any]]:
    """The files of a job by name, with what became of each; without `everything`, those that
    could not be read. A file that was read again counts as it was last.
    """
    pq, pa = extra("pyarrow.parquet"), extra("pyarrow")
    folder = Folder(parts)
    found: dict[str, dict[str, Any]] = {}
    for number in _whole_parts(folder):
        _settings_of(folder, number, (FILES,))
        name = table_name(number, FILES)
        try:
            table = pq.read_table(pa.BufferReader(folder.read(name)))
        except (ValueError, OSError) as problem:
            raise FleetError(
                f"{folder.path(name)} is damaged: {problem}. {_again(number)}"
            ) from problem
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
        place: str,
        numbers: list[int],
        scratch: str,
        memory_limit: str,
    ) -> None:
        duckdb = extra("duckdb")
        # DuckDB follows a link, and its log cannot have every name. What is in memory goes to the
        # temporary directory when it grows, too, only larger.
        plain = _PLAIN.fullmatch(os.path.realpath(scratch))
        kept_in = os.path.join(scratch, "work.duckdb") if plain else ":memory:"
        self._connection = duckdb.connect(kept_in)
        try:
            self._connection.execute("SET memory_limit = ?", [memory_limit])
        except duckdb.Error as problem:
            self._connection.close()
            raise FleetError(f"DuckDB refuses this setting: {problem}") from problem
        self._connection.execute("SET temp_directory = ?", [scratch])
        self._connection.execute("SET preserve_insertion_order = false")
        if not folder.is_local:
            self._connection.register_filesystem(file_system(folder.place))
        self._tables = {
            table: "read_parquet(["
            + ", ".join(
                _quoted(_escaped(f"{place.rstrip('/')}/{table_name(number, table)}"))
                for number in numbers
            )
            + "], hive_partitioning = false)"
            for table in (EVIDENCE, BOOT, FILES)
        }

    def close(self) -> None:
        self._connection.close()

    def _sql(self, sql: str, **values: Any) -> Any:
        return self._connection.execute(sql, values or None)

    def _one(self, sql: str) -> tuple[Any, ...]:
        row: tuple[Any, ...] = self._sql(sql).fetchone()
        return row

    def count(self, project: str | None) -> dict[str, int]:
        """Make the tables of places and facts; returns the counts for the report."""
        self._sql(
            "CREATE TABLE latest AS SELECT path, max(part) AS part, arg_max(problem, part) AS"
            " problem, arg_max(other_kind, part) AS other_kind"
            f" FROM {self._tables[FILES]} GROUP BY path"
        )
        files, failed = self._one(
            "SELECT count(*), count(*) FILTER (problem <> '' AND NOT other_kind) FROM latest"
        )
        self._sql(f"CREATE TABLE boot AS SELECT DISTINCT sentence FROM {self._tables[BOOT]}")
        self._sql(f"CREATE VIEW evidence AS SELECT * FROM {self._tables[EVIDENCE]}")
        found = self._one("SELECT count(*) FROM evidence")[0]
        # A place is counted once, however many files have it: of those the first by name.
        self._sql(
            """
            CREATE TABLE place AS
            SELECT fact, record, span_start, span_end, count(*) AS times,
                min({'path': path, 'session': session, 'author': author, 'wording': wording,
                     'score': -score}) AS first
            FROM evidence e SEMI JOIN latest USING (path, part)
            WHERE (sentence IS NULL OR sentence NOT IN (SELECT sentence FROM boot))
                AND ($project IS NULL OR project = $project)
            GROUP BY fact, record, span_start, span_end
            """,
            project=project,
        )
        current, boot, strange = self._one(
            """
            SELECT count(*) FILTER (e.part = l.part),
                count(*) FILTER (e.part = l.part AND sentence IN (SELECT sentence FROM boot)),
                count(*) FILTER (l.path IS NULL OR e.part > l.part)
            FROM evidence e LEFT JOIN latest l ON l.path = e.path
            """
        )
        if strange:
            raise FleetError(self._strange())
        places, times = self._one("SELECT count(*), coalesce(sum(times), 0) FROM place")
        if project is not None and not places:
            raise FleetError(self._no_project(project))
        self._sql(
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

    def _strange(self) -> str:
        """That places are of files which are not in the table of files."""
        part, path = self._one(
            "SELECT e.part, e.path FROM evidence e LEFT JOIN latest l ON l.path = e.path"
            " WHERE l.path IS NULL OR e.part > l.part ORDER BY e.part, e.path LIMIT 1"
        )
        return (
            f"{table_name(part, EVIDENCE)} has places of {path}, which is not in "
            f"{table_name(part, FILES)}. {_again(part)}"
        )

    def _no_project(self, project: str) -> str:
        """That nothing was found in folders of a name, and in which ones most was."""
        rows = self._sql(
            "SELECT project, count(DISTINCT session) AS sessions FROM evidence WHERE project <> ''"
            " GROUP BY project ORDER BY sessions DESC, project LIMIT 8"
        ).fetchall()
        names = ", ".join(f"{mask(name).text} ({sessions:,})" for name, sessions in rows)
        return (
            f"Nothing was found in working folders called {project}. "
            f"Those of most sessions: {names or 'none'}."
        )

    def write(self, out: Path, top: int, settings: JobSettings) -> _Written:
        """Write the best facts."""
        # Facts in other words are ranked together, by the sessions and authors of all of them.
        self._sql(
            """
            CREATE TABLE wording AS
            SELECT f.wording, count(DISTINCT f.fact) AS facts,
                count(DISTINCT p.first.session) AS sessions,
                count(DISTINCT nullif(p.first.author, '')) AS authors,
                min(f.best.score) AS score
            FROM fact f JOIN place p USING (fact) GROUP BY f.wording
            """
        )
        self._sql(
            """
            CREATE TABLE head AS
            SELECT row_number() OVER (ORDER BY w.sessions DESC, w.authors DESC,
                    w.score, w.wording, f.sessions DESC, f.authors DESC, f.best.score,
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
            SELECT {columns}, h.seen, h.sessions, h.authors, h.alike, e.part
            FROM head h JOIN evidence e ON e.fact = h.fact AND e.record = h.best.record
                AND e.path = h.best.path AND e.span_start = h.best.start
                AND e.span_end = h.best.end
            SEMI JOIN latest l ON l.path = e.path AND l.part = e.part
            QUALIFY row_number() OVER (PARTITION BY h.position ORDER BY e.score DESC, e.key,
                e.content, e.rule, e.place) = 1
            ORDER BY h.position
            """
        )
        return _write(_checked(rows), out, settings)


class _Written(Struct):
    """What a file of candidates has."""

    rows: int = 0
    near: int = 0
    """Rows behind another."""
    masked: int = 0


def _write(
    batches: Iterator[list[tuple[dict[str, Any], int]]], out: Path, settings: JobSettings
) -> _Written:
    """Write the rows, each with the number of secrets that were masked in it."""
    pa, pq = extra("pyarrow"), extra("pyarrow.parquet")
    columns = schema(CANDIDATE, settings)
    fresh = out.with_name(f".{out.name}-{os.urandom(6).hex()}.tmp")
    written = _Written()
    groups = _Alike()
    try:
        with open(fresh, "xb", opener=private_opener) as file:
            with pq.ParquetWriter(file, columns, compression="zstd") as writer:
                for batch in batches:
                    for row, masked in batch:
                        row["leader"] = groups.leader(row) if row.pop("alike") > 1 else ""
                        written.near += bool(row["leader"])
                        written.masked += masked
                    written.rows += len(batch)
                    writer.write_table(
                        pa.Table.from_pylist([row for row, _ in batch], schema=columns)
                    )
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, out)
    except OSError as problem:
        raise FleetError(f"{out} cannot be written: {reason_of(problem)}.") from problem
    finally:
        fresh.unlink(missing_ok=True)
    return written


def _checked(rows: Any) -> Iterator[list[tuple[dict[str, Any], int]]]:
    """The rows without secrets and with their flags, each with the number of secrets that it had:
    anybody who may write to the folder may have written a part.
    """
    names = [column[0] for column in rows.description]

    @lru_cache(ROWS_AT_ONCE)
    def without_secrets(text: str) -> tuple[str, int]:
        found = mask(text)
        return found.text, len(found.kinds)

    while found := rows.fetchmany(ROWS_AT_ONCE):
        batch = [dict(zip(names, each, strict=True)) for each in found]
        checked_rows = [_row(row, row.pop("part")) for row in batch]
        cleaned: list[tuple[dict[str, Any], int]] = []
        for row, before, after in zip(batch, checked_rows, clean(checked_rows), strict=True):
            masked = after.masked
            for name in ("author", "project"):
                row[name], secrets = without_secrets(row[name])
                masked += secrets
            if after.row is not before:
                changed = structs.asdict(after.row).items()
                row.update((n, v) for n, v in changed if v != getattr(before, n))
            cleaned.append((row, masked))
        yield cleaned


def _row(values: dict[str, Any], part: int) -> CandidateRow:
    try:
        return checked([values.get(name, "") for name in NAMES])  # the leader is not known yet
    except ValueError as problem:
        raise FleetError(
            f"{table_name(part, EVIDENCE)} has a row that reviewer does not write: {problem}. "
            f"{_again(part)}"
        ) from problem


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


def _sentence(problem: Exception, memory_limit: str, place: str, folder: str, out: Path) -> str:
    said = " ".join(str(problem).replace(place, folder).split())[:300]
    if "No space left on device" in said:
        return (
            f"{out.parent} is full: collapsing keeps there what does not fit into memory. "
            "Make room, or choose another folder with --out FILE."
        )
    if "Out of Memory" in said or "out of memory" in said:
        return (
            f"The parts do not fit into the memory limit of {memory_limit}: give more with "
            f"--memory-limit. DuckDB: {said}"
        )
    return f"The parts cannot be collapsed: {said}"
