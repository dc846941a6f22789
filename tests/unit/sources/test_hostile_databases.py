"""A database never yields a value that its file cannot hold."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from reviewer.errors import SourceError
from reviewer.sources import stream
from tests.unit.sources import families
from tests.unit.sources.builders import Scanned
from tests.unit.sources.families import Family

COMPUTED = [
    (families.GOOSE, "messages", "content_json"),
    (families.CRUSH, "messages", "parts"),
    (families.OPENCODE_DATABASE, "message", "data"),
    (families.OPENCODE_DATABASE, "part", "data"),
    (families.HERMES, "messages", "content"),
]
MEGABYTES = "replace(hex(zeroblob(2000000)), '00', 'word ')"


def make_computed(path: Path, table: str, column: str, expression: str) -> None:
    """Turn a column of a table into a generated one."""
    with closing(sqlite3.connect(path)) as database, database:
        rows = database.execute(f"PRAGMA table_info({table})").fetchall()
        others = ", ".join(row[1] for row in rows if row[1] != column)
        database.execute(f"ALTER TABLE {table} RENAME TO stored")
        database.execute(
            f"CREATE TABLE {table} ({others}, {column} TEXT GENERATED ALWAYS AS ({expression}))"
        )
        database.execute(f"INSERT INTO {table} ({others}) SELECT {others} FROM stored")
        database.execute("DROP TABLE stored")
        database.commit()
        database.execute("VACUUM")


@pytest.mark.parametrize(("family", "table", "column"), COMPUTED)
def test_a_generated_column_gives_no_more_than_the_file_can_hold(
    family: Family, table: str, column: str, tmp_path: Path
) -> None:
    path = family.write(tmp_path)
    make_computed(path, table, column, MEGABYTES)
    assert path.stat().st_size < 100_000
    with pytest.raises(SourceError, match="string or blob too big"):
        [*Scanned(path), *stream.read(path)]
