"""A store that an earlier reviewer made opens with everything in it, and goes on from there."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from reviewer.engine import Engine
from reviewer.errors import StoreError
from reviewer.store.database import Database
from reviewer.store.version import APPLICATION_ID, FIRST_VERSION, SCHEMA_VERSION
from tests.cli.conftest import Reviewer
from tests.stored import rows_of, write


@pytest.fixture
def earlier(reviewer: Reviewer) -> Path:
    """A store as the program of FIRST_VERSION wrote it, with rows."""
    connection = sqlite3.connect(reviewer.db)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.executescript(
        Path(__file__).with_name(f"store_version_{FIRST_VERSION}.sql").read_text("utf-8")
    )
    connection.execute(f"PRAGMA user_version = {FIRST_VERSION}")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.commit()
    connection.close()
    return reviewer.db


def rows_in(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table of the program."""
    names = rows_of(
        path,
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
        " AND name NOT LIKE '\\_sqlite%' ESCAPE '\\' AND name NOT LIKE 'memory_text%'",
    )
    return {name: rows_of(path, f"SELECT * FROM {name} ORDER BY 1") for (name,) in names}


def schema_of(path: Path) -> dict[str, str]:
    """Tables by their columns, indexes and triggers by their SQL without spaces."""
    columns = {
        name: rows_of(path, f"SELECT name, type, dflt_value FROM pragma_table_xinfo('{name}')")
        for (name,) in rows_of(path, "SELECT name FROM sqlite_master WHERE type = 'table'")
    }
    found = rows_of(path, "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
    return {
        name: str(sorted(columns[name])) if name in columns else re.sub(r"\s+", "", sql)
        for name, sql in found
        if "sqlite_migrations" not in name  # the list of migrations: the first stores have none
    }


def test_an_earlier_store_gets_the_tables_of_a_new_one(earlier: Path, tmp_path: Path) -> None:
    for path in (earlier, tmp_path / "new.db"):
        Database(path).close()
    assert schema_of(earlier) == schema_of(tmp_path / "new.db")
    assert rows_of(earlier, "PRAGMA user_version") == [(SCHEMA_VERSION,)]


def test_each_migration_makes_a_version_of_its_own(tmp_path: Path) -> None:
    Database(tmp_path / "new.db").close()
    applied = rows_of(tmp_path / "new.db", "SELECT count(*) FROM _sqlite_migrations")
    assert applied == [(SCHEMA_VERSION - FIRST_VERSION + 1,)]


def test_an_earlier_store_loses_nothing(earlier: Path) -> None:
    before = rows_in(earlier)
    Database(earlier).close()
    after = rows_in(earlier)
    for table, rows in before.items():
        width = len(rows[0]) if rows else 0
        assert [row[:width] for row in after[table][: len(rows)]] == rows


def test_the_command_line_goes_on_from_there(earlier: Path, reviewer: Reviewer) -> None:
    def statuses() -> list[tuple[int, str]]:
        rows = reviewer.rows("--project", "kiosk", "queue", "list", "--status", "all")
        return sorted((row["id"], row["status"]) for row in rows)

    was = [(1, "active"), (2, "invalid"), (3, "candidate"), (4, "candidate")]
    assert statuses() == was
    reviewer.succeeds("--project", "kiosk", "promote", 3)
    while reviewer("--project", "kiosk", "--actor", "dev", "undo").returncode == 0:
        pass
    assert [status for _, status in statuses()][:2] == ["candidate", "candidate"]
    reviewer.succeeds("verify")


def test_two_programs_may_arrive_at_an_earlier_store_at_once(
    earlier: Path, reviewer: Reviewer
) -> None:
    calls = [reviewer.start("history", "--json") for _ in range(3)]
    results = [(call.communicate(timeout=250), call.returncode) for call in calls]
    assert [code for _, code in results] == [0, 0, 0], results
    reviewer.succeeds("verify")


@pytest.mark.parametrize("version", [1, FIRST_VERSION - 1])
def test_a_version_from_before_the_first_release_is_refused(earlier: Path, version: int) -> None:
    write(earlier, f"PRAGMA user_version = {version}")
    before = rows_in(earlier)
    with pytest.raises(StoreError, match=f"version {version}, from before the first release"):
        Engine.open(earlier)
    assert rows_in(earlier) == before


def test_a_store_of_a_newer_program_is_refused(earlier: Path) -> None:
    write(earlier, f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    with pytest.raises(StoreError, match="written by a newer reviewer"):
        Engine.open(earlier)
