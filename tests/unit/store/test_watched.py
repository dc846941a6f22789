"""An act on many rows shows how far it is, and is taken back when it is stopped."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from reviewer.engine import Engine
from reviewer.errors import ActStoppedError
from reviewer.promotion.views import QueueQuery
from reviewer.store import ledger

MANY = 3_000


@pytest.fixture(scope="module")
def seeded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("seeded") / "store.db"
    engine = Engine.open(path)
    engine.intake.seed(MANY, project="kiosk")
    engine.close()
    return path


@pytest.fixture
def engine(seeded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    monkeypatch.setattr(ledger, "WATCH_STEPS", 200)
    return Engine.open(Path(shutil.copy(seeded, tmp_path)))


def noting(seen: list[int]) -> Callable[[int], bool]:
    """Keeps every count of rows, and never stops an act."""

    def note(rows: int) -> bool:
        seen.append(rows)
        return False

    return note


def waiting(engine: Engine) -> int:
    return engine.queue.counts("kiosk").waiting


def test_the_rows_that_are_written_are_seen_to_grow(engine: Engine) -> None:
    seen: list[int] = []
    with engine.watched(noting(seen)):
        engine.triage.reject(list(engine.queue.ids(QueueQuery())))
    assert seen == sorted(seen)
    assert len(set(seen)) > 5
    assert seen[-1] >= MANY
    seen.clear()
    with engine.watched(noting(seen)):
        engine.history.undo()
    assert seen[-1] >= MANY
    assert waiting(engine) == MANY


@pytest.mark.parametrize("rows", [0, 1_000, MANY])
def test_stopped_at_any_row_nothing_stays_and_the_store_goes_on(engine: Engine, rows: int) -> None:
    ids, acts = list(engine.queue.ids(QueueQuery())), len(engine.history.acts(limit=10_000))
    with (
        pytest.raises(ActStoppedError, match="Nothing was changed"),
        engine.watched(lambda written: written >= rows),
    ):
        engine.triage.reject(ids)
    assert (waiting(engine), len(engine.history.acts(limit=10_000))) == (MANY, acts)
    engine.triage.reject(ids[:3])
    assert waiting(engine) == MANY - 3
    with pytest.raises(ActStoppedError), engine.watched(lambda written: True):
        engine.history.undo()
    assert waiting(engine) == MANY - 3
    engine.history.undo()
    assert (waiting(engine), engine.history.verify().ok) == (MANY, True)
