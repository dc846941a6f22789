"""What holds, the last used or decided first."""

from __future__ import annotations

from pathlib import Path

from reviewer.engine import Engine
from reviewer.promotion.views import QueueQuery, Sort
from reviewer.recall.moments import Moment, MomentKind
from reviewer.recall.service import cue_of
from tests.unit.promotion.graph import an_active_memory, two_rivals


def test_the_last_used_or_decided_comes_first(engine: Engine, tmp_path: Path) -> None:
    first = an_active_memory(engine, "Deploys need two approvals")
    second = an_active_memory(engine, "Tabs are used in Makefiles")
    left, _, conflict = two_rivals(engine, tmp_path / "adr")
    engine.conflicts.dismiss(conflict)
    query = QueueQuery("acme", "active", "-kind:conflict", Sort.USED)
    assert list(engine.queue.ids(query)) == [left, second, first]
    engine.recall.note_start([second], "s1", "2100-01-01T00:00:00Z")
    assert list(engine.queue.ids(query)) == [left, second, first]
    engine.recall.set_moments(first, [Moment(MomentKind.COMMAND, "make deploy")])
    assert engine.recall.at("acme", cue_of("command", "make deploy"), session="s1")
    assert list(engine.queue.ids(query)) == [first, left, second]
