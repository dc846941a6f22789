"""A real session, where the shared data is there: fitted, applied, verified, taken back."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewer.compression.values import Level
from reviewer.engine import Engine

SESSIONS = sorted(Path("/work/shared/data/transcripts/claude-code").rglob("*.jsonl"))
SMALL = [path for path in SESSIONS if 100_000 < path.stat().st_size < 250_000][:2]


@pytest.mark.skipif(not SMALL, reason="the shared data is not here")
@pytest.mark.parametrize("path", SMALL, ids=range(len(SMALL)))
def test_a_real_session_is_compressed_and_taken_back(path: Path, tmp_path: Path) -> None:
    engine = Engine.open(tmp_path / "store.db")
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
    engine.close()
