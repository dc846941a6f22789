"""Whole sessions: fitted, applied, verified, taken back."""

from __future__ import annotations

from pathlib import Path

from reviewer.compression.values import Level
from reviewer.engine import Engine


def test_a_session_is_compressed_and_taken_back(sessions: list[Path], tmp_path: Path) -> None:
    engine = Engine.open(tmp_path / "store.db")
    for path in [path for path in sessions if path.stat().st_size < 250_000][:4]:
        require_compressible(engine, path)
    engine.close()


def require_compressible(engine: Engine, path: Path) -> None:
    context = engine.contexts.import_file(path, project="real").context
    before = engine.contexts.compile(context.id)
    target = sum(message.tokens for message in before) // 4
    found = engine.compression.preview(engine.compression.fit(context.id, target))
    assert found.tokens_after <= target
    for each in found.segments:
        if each.level in (Level.DETAILED, Level.BRIEF) and not each.kept:
            assert each.fidelity.anchor_preservation == 1.0
    engine.compression.apply(context.id, found.plan)
    assert sum(message.tokens for message in engine.contexts.compile(context.id)) <= target
    assert engine.history.verify().ok
    engine.history.undo()
    assert engine.contexts.compile(context.id) == before
