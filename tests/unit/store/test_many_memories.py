"""Many memories of one act: their words go into the search index together, and out of it again."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime

from reviewer.engine import Engine
from reviewer.store.acts import MANY
from reviewer.store.database import Database
from reviewer.store.ledger import Ledger
from reviewer.store.undo import Undo
from tests.stored import rows_of

COUNT = MANY + 50
NOW = datetime(2026, 3, 1, tzinfo=UTC)


def in_search(engine: Engine) -> int:
    """Rows that the search index has; it has to agree with the memories and keep its triggers."""
    with sqlite3.connect(engine.path) as store:
        store.execute("INSERT INTO memory_text(memory_text, rank) VALUES ('integrity-check', 1)")
        triggers = store.execute(
            "SELECT count(*) FROM sqlite_master WHERE type = 'trigger'"
            " AND (name LIKE 'memory_text%' OR name LIKE 'recall%')"
        )
        assert triggers.fetchone() == (6,)
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


def test_the_index_merges_again_after_many(engine: Engine) -> None:
    engine.intake.seed(COUNT, project="kiosk")
    settings = dict(rows_of(engine.path, "SELECT k, v FROM memory_text_config"))
    assert (settings["automerge"], settings["hashsize"]) == (4, 1 << 20)


def test_active_ones_among_many_are_found_by_recall(engine: Engine) -> None:
    """Their own index leaves out all others, and costs an act nothing that has none of them."""
    seeded = engine.intake.seed(COUNT, project="kiosk")
    columns = [name for _, name, *_ in rows_of(engine.path, "PRAGMA table_info(memory)")][1:]
    rows = rows_of(engine.path, f"SELECT {', '.join(columns)} FROM memory")
    images = [
        {
            **dict(zip(columns, row, strict=True)),
            "key": f"again {number}",
            "status": "active" if number % 2 else "candidate",
        }
        for number, row in enumerate(rows)
    ]
    database = Database(engine.path)
    ledger = Ledger(database, actor="ann", clock=lambda: NOW)
    with ledger.act("kind") as act:
        act.insert_many("memory", images)
    recalled = "SELECT count(*) FROM recall_text_docsize"
    assert rows_of(engine.path, recalled) == [(len(images) // 2,)]
    Undo(database, ledger).undo_act(seeded.act + 1)
    assert rows_of(engine.path, recalled) == [(0,)]
    assert in_search(engine) == len(images)
    database.close()
