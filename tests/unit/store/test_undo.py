"""Undo is refused, with nothing changed, once rows are no longer as the act left them."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewer.errors import ConflictError, StoreError
from reviewer.store.acts import Scope
from reviewer.store.database import Database
from reviewer.store.ledger import Ledger
from reviewer.store.undo import Undo
from reviewer.store.verify import verify


@pytest.fixture
def undo(database: Database, ledger: Ledger) -> Undo:
    return Undo(database, ledger)


def rename(ledger: Ledger, row: int, name: str, scope: Scope = Scope.DECISION) -> int:
    with ledger.act("rename", f"to {name}", scope=scope) as act:
        act.update("project", row, name=name)
    return act.id


def make(ledger: Ledger, name: str) -> int:
    with ledger.act("make", scope=Scope.INTAKE) as act:
        return act.insert("project", name=name)


def name_of(database: Database, row: int) -> str:
    (name,) = database.reader().execute("SELECT name FROM project WHERE id = ?", (row,)).fetchone()
    return str(name)


def test_a_later_change_of_the_same_column_stands_in_the_way(
    database: Database, ledger: Ledger, undo: Undo
) -> None:
    row = make(ledger, "a")
    first = rename(ledger, row, "b")
    rename(ledger, row, "c")

    with pytest.raises(ConflictError, match=f"project {row} has changed since"):
        undo.undo_act(first)

    assert name_of(database, row) == "c"


def test_undo_walks_decisions_and_leaves_ingestions_alone(
    database: Database, ledger: Ledger, undo: Undo
) -> None:
    row = make(ledger, "a")
    rename(ledger, row, "b")
    other = make(ledger, "x")

    assert undo.undo().title == "to b"

    assert name_of(database, row) == "a"
    assert name_of(database, other) == "x"
    with pytest.raises(ConflictError, match="Nothing to undo"):
        undo.undo()


def test_a_new_decision_ends_redo(ledger: Ledger, undo: Undo) -> None:
    row = make(ledger, "a")
    rename(ledger, row, "b")
    undo.undo()
    rename(ledger, row, "c")
    with pytest.raises(ConflictError, match="Nothing to redo"):
        undo.redo()


def test_what_was_redone_elsewhere_is_not_redone_again(
    ledger: Ledger, undo: Undo, database: Database
) -> None:
    act = rename(ledger, make(ledger, "a"), "b")
    here = undo.undo().act
    undo.redo()
    with pytest.raises(ConflictError, match='Act 2 "to b" is already redone'):
        undo.redo_act(here)
    undo.undo()
    undo.redo_act(here)
    assert not undo.is_undone(act)
    assert verify(database).ok


def test_an_act_that_changes_nothing_leaves_no_entry(ledger: Ledger, database: Database) -> None:
    row = make(ledger, "a")
    assert rename(ledger, row, "a") == 0
    assert database.reader().execute("SELECT count(*) FROM ledger").fetchone()[0] == 1


@pytest.mark.parametrize(
    ("tamper", "says"),
    [
        ("UPDATE project SET name = 'z'", "project 1"),
        ("DELETE FROM project", "project 1"),
        ("INSERT INTO project (name) VALUES ('z')", "project 2"),
        ("UPDATE ledger SET title = 'z' WHERE id = 2", "act 2 was changed"),
        ("DELETE FROM ledger WHERE id = 2", "project 1: not as the ledger left it"),
        ("UPDATE ledger SET changes = x'00' WHERE id = 2", "act 2"),
        ("UPDATE ledger SET previous = 'z' WHERE id = 2", "does not follow"),
    ],
)
def test_verify_names_what_was_tampered_with(
    database: Database, ledger: Ledger, tamper: str, says: str
) -> None:
    row = make(ledger, "a")
    rename(ledger, row, "b")
    assert verify(database).ok

    database.writer.execute("PRAGMA foreign_keys = OFF")
    database.writer.execute(tamper)

    assert any(says in problem for problem in verify(database).problems)


def test_another_programs_database_is_refused_and_not_touched(tmp_path: Path) -> None:
    import sqlite3

    path = tmp_path / "other.db"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE notes (text)")
    other.commit()
    other.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="another program"):
        Database(path)
    assert path.read_bytes() == before
