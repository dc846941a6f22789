"""Many memories of one act: their words go into the search index together, and out of it again."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from reviewer.engine import Engine
from reviewer.store.acts import MANY
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


def test_the_index_merges_again_after_many(engine: Engine) -> None:
    engine.intake.seed(COUNT, project="kiosk")
    settings = dict(rows_of(engine.path, "SELECT k, v FROM memory_text_config"))
    assert (settings["automerge"], settings["hashsize"]) == (4, 1 << 20)
