"""A store that an earlier reviewer made opens with everything in it, and goes on from there."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from reviewer.clock import iso
from reviewer.commits.values import CommitQuery
from reviewer.engine import Engine
from reviewer.errors import StoreError
from reviewer.store import acts, database
from reviewer.store.acts import Scope
from reviewer.store.database import Database
from reviewer.store.ledger import Ledger
from reviewer.store.migrations import APPLICATION_ID, SCHEMA_VERSION
from tests.cli.conftest import Reviewer
from tests.stored import rows_of

MOMENT = datetime(2026, 2, 1, 9, tzinfo=UTC)


def make_tables(path: Path, version: int = 7) -> None:
    """The tables as the program of that version made them."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.executescript(
        Path(__file__).with_name(f"store_version_{version}.sql").read_text(encoding="utf-8")
    )
    connection.execute(f"PRAGMA user_version = {version}")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.commit()
    connection.close()


@contextmanager
def version_7(path: Path, patch: pytest.MonkeyPatch) -> Iterator[Ledger]:
    """The ledger of that version's program on a new store."""
    make_tables(path)
    with patch.context() as earlier:
        earlier.setattr(database, "bring_up_to_date", lambda *_, **__: None)
        earlier.setattr(acts, "_write_owners", lambda *_: None)  # version 8 began with it
        opened = Database(path)
        yield Ledger(opened, actor="you", clock=lambda: MOMENT)
        opened.close()


@contextmanager
def version_8(path: Path, patch: pytest.MonkeyPatch) -> Iterator[Ledger]:
    """The same of version 8."""
    make_tables(path, 8)
    with patch.context() as earlier:
        earlier.setattr(database, "bring_up_to_date", lambda *_, **__: None)
        opened = Database(path)
        yield Ledger(opened, actor="you", clock=lambda: MOMENT)
        opened.close()


def sightings(ledger: Ledger) -> None:
    """A note and a dialogue with a candidate each, and one that a person wrote."""
    with ledger.act("ingest", "Ingested 2 files", scope=Scope.INTAKE) as act:
        project = act.insert("project", name="kiosk")
        wave = act.insert(
            "wave", project_id=project, started_at=iso(MOMENT), state="done", roots="[]"
        )
        for number, role in enumerate(("assistant", "note", "by hand"), 1):
            memory = act.insert(
                "memory", project_id=project, type="knowledge", content=f"Fact {number}",
                key=f"fact {number}", status="candidate", rule="decision", extractor_version="1",
                prior=0.5, signal=1.0, freshness=1.0, confidence=0.5, rank=1 - number / 10,
                first_seen=iso(MOMENT), last_seen=iso(MOMENT), pending_since=iso(MOMENT),
            )  # fmt: skip
            if role == "by hand":
                continue
            source = act.insert(
                "source", project_id=project, path=f"/talk/{role}", format="seed", bytes=0,
                modified_ns=0, wave_id=wave, tally="{}",
            )  # fmt: skip
            record = act.insert(
                "record", project_id=project, source_id=source, wave_id=wave, key=role,
                line_start=0, line_end=1, byte_start=0, byte_end=0, sha256="", role=role,
                use="said", shape="turn", text=f"Fact {number}",
            )  # fmt: skip
            act.insert(
                "evidence", memory_id=memory, record_id=record, span_start=0, span_end=6,
                rule="decision", extractor_version="1",
            )  # fmt: skip


def memories(ledger: Ledger) -> None:
    """A wave, decisions, and trusted state."""
    with ledger.act("ingest", "Ingested notes", scope=Scope.INTAKE) as act:
        project = act.insert("project", name="kiosk")
        for number in range(6):
            act.insert(
                "memory", project_id=project, type="decision", content=f"Fact {number}",
                key=f"fact {number}", status="candidate", rule="by hand", extractor_version="1",
                prior=0.5, signal=1.0, freshness=1.0, confidence=0.5, rank=0.5,
                first_seen=iso(MOMENT), last_seen=iso(MOMENT), pending_since=iso(MOMENT),
            )  # fmt: skip
    with ledger.act("promote", "Promoted 2") as act:
        act.update_many("memory", [1, 2], status="active", decided_at=iso(MOMENT))
    with ledger.act("reject", "Rejected #3") as act:
        act.update("memory", 3, status="invalid", decided_at=iso(MOMENT))
    with ledger.act("state set", "Set region") as act:
        act.insert("state", project_id=1, key="region", value="north", set_at=iso(MOMENT))


def commits(ledger: Ledger, count: int) -> None:
    """A context with annotations."""
    with ledger.act("import", "Imported talk", scope=Scope.INTAKE) as act:
        context = act.insert(
            "context", project_id=1, name="talk", created_at=iso(MOMENT), changed_at=iso(MOMENT)
        )
        for number in range(count):
            text = act.insert("content", sha256=f"{number}", text=f"Line {number}.", tokens=3)
            act.insert(
                "commit_", context_id=context, parent_id=number or None, hash=f"{number:064x}",
                position=number, role="user", type="dialogue", content_id=text,
            )  # fmt: skip
        act.update("context", context, head_id=count)
    with ledger.act("annotate", "Pinned 2 commits") as act:
        for number in (1, 3):
            act.insert(
                "annotation", commit_id=number, priority="pinned", reason="by then",
                at=iso(MOMENT), actor="you",
            )  # fmt: skip


def as_before(
    tables: dict[str, list[tuple[Any, ...]]], before: dict[str, list[tuple[Any, ...]]]
) -> dict[str, list[tuple[Any, ...]]]:
    """The same with the columns that there were, and without the act that filled the new ones."""
    cut = {}
    for name, rows in before.items():
        columns = len(rows[0]) if rows else 0
        kept = [row for row in tables[name] if name != "ledger" or row[4] != "upkeep"]
        cut[name] = [row[:columns] for row in kept]
    return cut


def everything(path: Path, *, without: tuple[str, ...] = ()) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table that the program made, by the columns that it had."""
    connection = sqlite3.connect(path)
    tables = [
        name
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        if not name.startswith(("sqlite_", "_sqlite", "memory_text")) and name not in without
    ]
    found = {
        table: connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall()
        for table in tables
    }
    connection.close()
    return found


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def opened(path: Path) -> Iterator[Callable[[], Engine]]:
    """Opens the store with today's engine."""
    engines: list[Engine] = []

    def open_it() -> Engine:
        engines.append(Engine.open(path))
        return engines[-1]

    yield open_it
    for engine in engines:
        engine.close()


def schema_of(path: Path) -> dict[str, str]:
    """Tables by their columns, indexes and triggers by their SQL without spaces."""
    connection = sqlite3.connect(path)
    rows = connection.execute(
        "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"
    ).fetchall()
    columns = {
        name: [row[1:] for row in connection.execute(f"PRAGMA table_info({name})")]
        for name, sql in rows
        if sql.startswith("CREATE TABLE")
    }
    connection.close()
    return {
        name: str(columns.get(name) or re.sub(r"\s+", "", sql))
        for name, sql in rows
        if "sqlite_migrations" not in name  # version 7 kept a list there
    }


@pytest.mark.parametrize("version", [7, 8, 9])
def test_a_migrated_store_has_the_tables_of_a_new_one(tmp_path: Path, version: int) -> None:
    make_tables(tmp_path / "old.db", version)
    for name in ("old.db", "new.db"):
        Database(tmp_path / name).close()
    assert schema_of(tmp_path / "old.db") == schema_of(tmp_path / "new.db")


@pytest.mark.parametrize("version", [1, 6])
def test_a_version_that_was_never_released_is_refused(path: Path, version: int) -> None:
    make_tables(path)
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    before = everything(path)
    with pytest.raises(StoreError, match=f"version {version}, which was never released"):
        Engine.open(path)
    assert everything(path) == before


def test_an_earlier_store_loses_nothing(
    path: Path, opened: Callable[[], Engine], monkeypatch: pytest.MonkeyPatch
) -> None:
    with version_7(path, monkeypatch) as ledger:
        memories(ledger)
    before = everything(path)
    engine = opened()
    after = everything(path)
    assert as_before(after, before) == before
    assert sum(map(len, before.values())) >= 12
    assert engine.history.verify().problems == ()
    assert rows_of(path, "PRAGMA user_version") == [(SCHEMA_VERSION,)]
    assert [row.status for row in engine.queue.rows([1, 3, 4])] == [
        "active", "invalid", "candidate",
    ]  # fmt: skip


def test_it_goes_on_from_there(
    path: Path, opened: Callable[[], Engine], monkeypatch: pytest.MonkeyPatch
) -> None:
    with version_7(path, monkeypatch) as ledger:
        memories(ledger)
    engine = opened()
    context = engine.contexts.create("kiosk", "talk").id
    view = engine.contexts.add(context, role="user", text="The budget is $50k.")
    engine.contexts.annotate(view.row.id, retain_match=["$50k"])
    engine.triage.promote([4])
    assert engine.contexts.commit(view.row.id).row.criteria == 1
    for title in ("Promoted #4", "Set what to retain of", "Committed", "Created", "Set region",
                  "Rejected #3", "Promoted 2"):  # fmt: skip
        assert engine.history.undo().title.startswith(title)
    assert engine.history.verify().problems == ()
    assert engine.queue.rows([1, 3])[1].status == "candidate"


def test_contexts_of_an_earlier_store_go_on(
    path: Path, opened: Callable[[], Engine], monkeypatch: pytest.MonkeyPatch
) -> None:
    with version_7(path, monkeypatch) as ledger:
        memories(ledger)
        commits(ledger, 4)
    engine = opened()
    rows = engine.contexts.rows(engine.contexts.ids(CommitQuery(1)))
    assert [(row.priority, row.criteria) for row in rows] == [
        ("pinned", 0), ("normal", 0), ("pinned", 0), ("normal", 0),
    ]  # fmt: skip
    engine.contexts.annotate(1, priority="important", retain="the line", retain_match=["Line"])
    assert [each.reason for each in engine.contexts.commit(1).annotations] == ["", "by then"]
    engine.history.undo()
    assert engine.history.undo().title == "Pinned 2 commits"
    assert engine.history.redo().title == "Pinned 2 commits"
    assert engine.contexts.rows([3])[0].priority == "pinned"
    assert engine.history.verify().problems == ()


def test_the_command_line_opens_it(reviewer: Reviewer, monkeypatch: pytest.MonkeyPatch) -> None:
    with version_7(reviewer.db, monkeypatch) as ledger:
        memories(ledger)
    assert len(reviewer.ids("--status", "all")) == 6
    assert reviewer("verify").returncode == 0
    assert reviewer("--project", "kiosk", "context", "create", "plan").returncode == 0


def test_two_programs_may_arrive_at_an_earlier_store_at_once(
    reviewer: Reviewer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with version_7(reviewer.db, monkeypatch) as ledger:
        memories(ledger)
    calls = [reviewer.start("history", "--json") for _ in range(3)]
    results = [(call.communicate(timeout=250), call.returncode) for call in calls]
    assert [code for _, code in results] == [0, 0, 0], results
    assert reviewer("verify").returncode == 0


def test_acts_and_projects_of_an_earlier_store_find_each_other(
    reviewer: Reviewer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with version_7(reviewer.db, monkeypatch) as ledger:
        memories(ledger)
        with ledger.act("state set", "Set port") as act:
            till = act.insert("project", name="till")
            act.insert("state", project_id=till, key="port", value="80", set_at=iso(MOMENT))
        with ledger.act("promote", "Promoted #4") as act:
            act.update("memory", 4, status="active", decided_at=iso(MOMENT))
    history = {name: reviewer.rows("--project", name, "history") for name in ("kiosk", "till")}
    titles = {name: [act["title"] for act in acts] for name, acts in history.items()}
    assert titles["till"] == ["Set port"]
    assert titles["kiosk"] == [
        "Ingested notes", "Promoted 2", "Rejected #3", "Set region", "Promoted #4",
        "Marked what earlier versions proposed from notes and by hand",
    ]  # fmt: skip
    assert "Set port" in reviewer("--project", "till", "undo").stderr
    assert "Promoted #4" in reviewer("--project", "kiosk", "undo").stderr
    assert reviewer("verify").returncode == 0


def test_a_project_of_an_earlier_store_is_bound_when_it_is_written_from_its_tree(
    reviewer: Reviewer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with version_7(reviewer.db, monkeypatch) as ledger:
        memories(ledger)
    trees = [reviewer.folder / place / "kiosk" for place in ("a", "b")]
    for tree in trees:
        (tree / ".git").mkdir(parents=True)
    for tree in trees:  # nobody has claimed it yet
        reviewer.folder = tree
        assert len(reviewer.ids("--status", "all")) == 6
    assert reviewer("promote", 4).returncode == 0
    assert reviewer("promote", 5).returncode == 0
    kinds = [act["kind"] for act in reviewer.rows("history")]
    assert kinds[-3:] == ["bind project", "promote", "promote"]
    reviewer.folder = trees[0]
    assert f"belongs to {trees[1]}" in reviewer.fails("queue", "list")
    reviewer.folder = trees[1]
    for title in ("Promoted #5", "Promoted #4", "Set region"):
        assert title in reviewer("undo").stderr
    assert len(reviewer.ids("--status", "all")) == 6
    reviewer.folder = trees[0]
    assert f"belongs to {trees[1]}" in reviewer.fails("queue", "list")
    assert reviewer("verify").returncode == 0


def test_dialogue_of_an_earlier_store_waits_behind_notes(
    reviewer: Reviewer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with version_8(reviewer.db, monkeypatch) as earlier:
        sightings(earlier)
    rows = reviewer.rows("queue", "list")
    assert [(row["content"], row["proposer"]) for row in rows] == [
        ("Fact 2", "notes"), ("Fact 3", "person"), ("Fact 1", "excerpt"),
    ]  # fmt: skip
    assert {row["proof"] for row in rows} == {None}
    assert reviewer("verify").returncode == 0


def test_what_an_earlier_store_ingested_can_still_be_undone(
    reviewer: Reviewer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with version_8(reviewer.db, monkeypatch) as earlier:
        sightings(earlier)
    assert reviewer("undo", 1).returncode == 0
    assert reviewer.ids("--status", "all") == []
    assert reviewer("redo").returncode == 0
    assert len(reviewer.ids()) == 3
    assert reviewer("verify").returncode == 0
