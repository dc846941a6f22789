"""A database never yields more than its file can hold."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from reviewer.errors import SourceError
from reviewer.sources import stream
from reviewer.sources.events import Call, Message, Result
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
TEXT = json.dumps([{"type": "text", "text": "Feed the geese. " * 300}])


def read(path: Path) -> int:
    """The characters that a file yields."""
    events = (each for each in stream.read(path) if isinstance(each, (Message, Call, Result)))
    return sum(len(each.text) for each in (*Scanned(path), *events))


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
        read(path)


def goose(path: Path, *statements: str) -> Path:
    with closing(sqlite3.connect(path)) as database, database:
        for statement in (
            "CREATE TABLE schema_version (version INTEGER)",
            "CREATE TABLE sessions (id TEXT, working_dir TEXT, session_type TEXT, created_at TEXT)",
            *statements,
        ):
            database.execute(statement)
    return path


def with_a_long_default(path: Path) -> Path:
    """Thousands of short rows, and a column with a long default, which is stored once."""
    return goose(
        path,
        "CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT,"
        " created_timestamp INTEGER)",
        "INSERT INTO sessions VALUES ('s', '/work', 'user', '2026-03-01')",
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 3000)"
        " INSERT INTO messages SELECT x, 's', 'user', 1772355601 FROM n",
        f"ALTER TABLE messages ADD COLUMN content_json TEXT DEFAULT '{TEXT}'",
    )


def with_repeated_sessions(path: Path) -> Path:
    """A session that is listed thousands of times, with all its messages each time."""
    return goose(
        path,
        "CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT,"
        " content_json TEXT, created_timestamp INTEGER)",
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 3000)"
        " INSERT INTO sessions SELECT 's', '/work', 'user', '' FROM n",
        f"INSERT INTO messages VALUES (1, 's', 'user', '{TEXT}', 1772355601)",
    )


@pytest.mark.parametrize("make", [with_a_long_default, with_repeated_sessions])
def test_no_more_is_read_than_a_file_can_hold(make: Callable[[Path], Path], tmp_path: Path) -> None:
    path = make(tmp_path / "sessions.db")
    assert path.stat().st_size < 200_000
    with pytest.raises(SourceError, match="yields more data than its file can contain"):
        read(path)


def test_a_search_without_end_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reviewer.sources.databases.SPARE_STEPS", 0)
    monkeypatch.setattr("reviewer.sources.databases.STEPS_A_BYTE", 0)
    monkeypatch.setattr("reviewer.sources.databases.STEPS_AT_ONCE", 100)
    path = with_repeated_sessions(tmp_path / "sessions.db")
    with pytest.raises(SourceError, match="takes far longer than it should for its size"):
        read(path)
