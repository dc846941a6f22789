"""Whatever is pressed, on whatever screen: the program lives, and the store is sound."""

from __future__ import annotations

from pathlib import Path

from reviewer.engine import Engine
from tests.terminal.random_keys import prepared, walk

EVERY_SCREEN = {
    f"{name}Screen"
    for name in ("Queue", "Context", "Packet", "State", "Pipelines", "Agents", "History")
}


def test_random_keys_neither_end_the_program_nor_harm_the_store(tmp_path: Path) -> None:
    store = prepared(tmp_path)
    found = walk(store, 300, seed=1)
    assert not found.died
    assert found.keys == 300
    assert found.late.screens.keys() >= EVERY_SCREEN
    assert len(found.late.actions) > len(EVERY_SCREEN)  # few on a machine that answers late
    assert max(found.late.screens.values()) < 0.8 * found.late.keys
    engine = Engine.open(store)
    verdict = engine.history.verify()
    engine.close()
    assert verdict.ok, verdict.problems
