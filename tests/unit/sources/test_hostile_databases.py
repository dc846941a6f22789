"""A database yields what is stored in it, and never more than its file can hold."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from reviewer.errors import SourceError
from reviewer.sources.open import open_blocks
from tests.unit.sources.builders import Scanned

TEXT = json.dumps([{"type": "text", "text": "Feed the geese. " * 300}])


def read(path: Path) -> int:
    """The characters that a file yields."""
    return sum(len(record.text) for record in Scanned(path)) + sum(
        len(block.text) for block in open_blocks(path)
    )


def goose(path: Path, *statements: str) -> Path:
    with closing(sqlite3.connect(path)) as database, database:
        for statement in (
            "CREATE TABLE schema_version (version INTEGER)",
            "CREATE TABLE sessions (id TEXT, working_dir TEXT, session_type TEXT, created_at TEXT)",
            *statements,
        ):
            database.execute(statement)
    return path


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


def test_a_search_without_end_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reviewer.sources.databases.SPARE_STEPS", 0)
    monkeypatch.setattr("reviewer.sources.databases.STEPS_A_BYTE", 0)
    monkeypatch.setattr("reviewer.sources.databases.STEPS_AT_ONCE", 100)
    path = with_repeated_sessions(tmp_path / "sessions.db")
    with pytest.raises(SourceError, match="takes far longer than others of its size"):
        read(path)
