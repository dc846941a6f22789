"""The tables of a job as Parquet files in its folder, here or in a bucket."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, get_origin, get_type_hints

import msgspec
from msgspec import Struct

from reviewer.errors import SourceError
from reviewer.files import make_private_folder, reason_of, write_atomic
from reviewer.fleet.places import require_no_password, url_problem
from reviewer.fleet.rows import FileRow
from reviewer.fleet.values import FleetError, JobSettings, extra
from reviewer.sources.elsewhere import file_system, is_url

EVIDENCE, FILES = ".evidence.parquet", ".files.parquet"
"""The tables of a part. The last one is written last and marks the part as complete: without it,
the other is a leftover of a killed run and is ignored."""
ROWS_AT_ONCE = 5_000


_NAME = re.compile(r"part-(\d{14})-\d{7}[ab]*")


def part_name(run: int, number: int) -> str:
    """The name of a part; names of later runs sort last."""
    return f"part-{run:014d}-{number:07d}"


def run_of(name: str) -> int:
    """The number of the run that wrote a part."""
    found = _NAME.fullmatch(name)
    assert found is not None
    return int(found[1])


class Folder:
    """The folder of a job. Files are written completely or not at all."""

    def __init__(self, place: str) -> None:
        """Raises SourceError for an address that cannot be used."""
        self.is_local = not is_url(place)
        if not self.is_local:
            require_no_password(place)
        self.place = os.path.abspath(place) if self.is_local else place

    def path(self, name: str) -> str:
        return f"{self.place.rstrip('/')}/{name}"

    def make(self) -> None:
        """Make the folder, private to its owner. Raises FleetError."""
        try:
            if self.is_local:
                make_private_folder(Path(self.place))
        except OSError as problem:
            raise FleetError(f"{self.place} cannot be made: {reason_of(problem)}.") from problem

    def write(self, name: str, data: bytes) -> None:
        """Put a file in place, at once. Raises FleetError."""
        try:
            if self.is_local:
                write_atomic(Path(self.path(name)), data, durable=False)
            else:
                file_system(self.place).pipe_file(self.path(name), data)
        except SourceError:
            raise
        except Exception as problem:  # each file system raises errors of its own
            reason = reason_of(problem) if isinstance(problem, OSError) else str(problem)
            raise FleetError(f"{self.path(name)} cannot be written: {reason}.") from problem

    def complete_parts(self) -> list[str]:
        try:
            if self.is_local:
                names = os.listdir(self.place) if os.path.isdir(self.place) else []
            else:
                fs = file_system(self.place)
                fs.invalidate_cache()
                names = [str(path).rpartition("/")[2] for path in fs.find(self.place, maxdepth=1)]
        except SourceError:
            raise
        except Exception as problem:  # each file system raises errors of its own
            raise FleetError(url_problem(self.place, problem)) from problem
        parts = (name.removesuffix(FILES) for name in names if name.endswith(FILES))
        return sorted(name for name in parts if _NAME.fullmatch(name))


class Parts:
    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.names = folder.complete_parts()

    @cached_property
    def settings(self) -> JobSettings | None:
        """The settings of the job; None before its first part. Raises FleetError if they are of
        another version.
        """
        if not self.names:
            return None
        try:
            first = self._files()[0]
            schema = extra("pyarrow.parquet").read_schema(first, filesystem=self._file_system())
            found = msgspec.json.decode((schema.metadata or {})[b"reviewer"], type=JobSettings)
        except (extra("pyarrow").ArrowException, OSError, KeyError, ValueError) as problem:
            raise FleetError(
                f"{self.folder.path(self.names[0] + FILES)} cannot be read: {problem}. Delete it"
                " if it is damaged, and run the job again."
            ) from problem
        found.require_this_version(self.folder.place)
        return found

    def files(self) -> dict[str, FileRow]:
        """The latest row of each file, by name. Raises FleetError."""
        if self.settings is None:
            return {}
        dataset = extra("pyarrow.dataset").dataset
        paths, fs = self._files(), self._file_system()
        try:
            table = dataset(paths, _schema(FileRow), format="parquet", filesystem=fs).to_table()
            rows = table.to_pylist()
            found = msgspec.convert(rows, list[FileRow])
        except (extra("pyarrow").ArrowException, OSError, ValueError) as problem:
            raise FleetError(
                f"{self.folder.place} has a damaged part: {problem}. Delete it, and run the job"
                " again."
            ) from problem
        return {row.path: row for row in sorted(found, key=lambda row: row.part)}

    def add_views(self, connection: Any) -> None:
        """Give a DuckDB connection the tables of all parts, as `evidence` and `files`."""
        if not self.folder.is_local:
            connection.register_filesystem(file_system(self.folder.place))
        for view, table in (("evidence", EVIDENCE), ("files", FILES)):
            paths = [self.folder.path(name + table) for name in self.names]
            connection.read_parquet(paths, hive_partitioning=False).create_view(view)

    def _file_system(self) -> Any:
        if self.folder.is_local:
            return extra("pyarrow.fs").LocalFileSystem()
        return file_system(self.folder.place)

    def _files(self) -> list[str]:
        """The tables of files, as the file system names them."""
        paths = [self.folder.path(name + FILES) for name in self.names]
        if self.folder.is_local:
            return paths
        strip = file_system(self.folder.place)._strip_protocol
        return [strip(path) for path in paths]


def encoded(rows: Sequence[Struct], kind: type[Struct], settings: JobSettings) -> bytes:
    """Rows of one kind as a Parquet file, with the settings of the job in its metadata."""
    pa, pq = extra("pyarrow"), extra("pyarrow.parquet")
    schema = _schema(kind).with_metadata({b"reviewer": msgspec.json.encode(settings)})
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(sink, schema, compression="zstd") as writer:
        for start in range(0, len(rows), ROWS_AT_ONCE):
            some = msgspec.to_builtins(rows[start : start + ROWS_AT_ONCE])
            writer.write_table(pa.Table.from_pylist(some, schema=schema))
    return bytes(sink.getvalue())


def _schema(kind: type[Struct]) -> Any:
    """The columns of a table, as the fields of its rows."""
    pa = extra("pyarrow")
    types: dict[Any, Any] = {
        int: pa.int64(), float: pa.float64(), bool: pa.bool_(), tuple: pa.list_(pa.int64())
    }  # fmt: skip
    plain = {name: get_origin(hint) or hint for name, hint in get_type_hints(kind).items()}
    return pa.schema([(name, types.get(hint, pa.string())) for name, hint in plain.items()])
