"""Many memories of one act: their words go into the search index together, and out of it again."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reviewer.engine import Engine
from reviewer.store.acts import MANY
from reviewer.store.changes import Change, Value, unpack
from reviewer.store.database import Database
from reviewer.store.ledger import Ledger
from reviewer.store.stored_text import Stored, StoredText
from reviewer.store.verify import verify
from tests.stored import rows_of

COUNT = MANY + 50


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    opened = Engine.open(tmp_path / "store.db")
    yield opened
    opened.close()


def in_search(engine: Engine) -> int:
    """Rows that the search index has; it has to agree with the memories and keep its triggers."""
    with sqlite3.connect(engine.path) as store:
        store.execute("INSERT INTO memory_text(memory_text, rank) VALUES ('integrity-check', 1)")
        triggers = store.execute(
            "SELECT count(*) FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'memory_text%'"
        )
        assert triggers.fetchone() == (3,)
        (count,) = store.execute("SELECT count(*) FROM memory_text_docsize").fetchone()
        return int(count)


def test_many_are_found_gone_after_undo_and_back_after_redo(engine: Engine) -> None:
    done = engine.intake.seed(COUNT, project="kiosk")
    there = in_search(engine)
    assert there >= COUNT
    engine.history.undo_act(done.act)
    assert in_search(engine) == 0
    engine.history.redo()
    assert in_search(engine) == there
    assert engine.history.verify().ok


def test_rows_as_values_leave_the_same_store_as_rows_as_images(tmp_path: Path) -> None:
    columns = (
        "project_id", "type", "content", "key", "status", "rule", "extractor_version", "prior",
        "signal", "freshness", "confidence", "rank", "first_seen", "last_seen", "pending_since",
    )  # fmt: skip
    moment = "2026-03-01T12:00:00.000Z"
    rows: list[tuple[Stored, ...]] = [
        tuple(
            StoredText(each) if isinstance(each, str) else each
            for each in (
                1, "decision", f"Fact {n}", f"fact {n}", "candidate", "by hand", "1", 0.5, 1.0,
                1.0, 0.5, 0.5, moment, moment, moment,
            )
        )
        for n in range(COUNT)
    ]  # fmt: skip
    for name in ("images", "values"):
        database = Database(tmp_path / f"{name}.db")
        ledger = Ledger(database, actor="tester", clock=lambda: datetime(2026, 3, 1, tzinfo=UTC))
        with ledger.act("make") as act:
            act.insert("project", name="kiosk")
            if name == "images":
                images: list[dict[str, Value]] = [
                    dict(zip(columns, row, strict=True)) for row in rows
                ]
                ids = act.insert_many("memory", images)
            else:
                ids = act.insert_rows("memory", columns, rows)
            assert ids == range(1, COUNT + 1)
        assert verify(database).ok
        database.close()
    assert unpacked(tmp_path / "images.db") == unpacked(tmp_path / "values.db")


def unpacked(path: Path) -> list[Change]:
    """The changes of the latest act."""
    ((blob,),) = rows_of(path, "SELECT changes FROM ledger ORDER BY id DESC LIMIT 1")
    return unpack(blob)


def test_the_index_merges_again_after_many(engine: Engine) -> None:
    engine.intake.seed(COUNT, project="kiosk")
    settings = dict(rows_of(engine.path, "SELECT k, v FROM memory_text_config"))
    assert (settings["automerge"], settings["hashsize"]) == (4, 1 << 20)
