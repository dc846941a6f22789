"""What holds, newest first."""

from __future__ import annotations

from pathlib import Path

from reviewer.engine import Engine
from reviewer.recall.moments import Moment, MomentKind
from reviewer.recall.service import cue_of
from tests.unit.promotion.graph import an_active_memory, two_rivals


def test_the_last_used_or_decided_comes_first(engine: Engine, tmp_path: Path) -> None:
    first = an_active_memory(engine, "Deploys need two approvals")
    second = an_active_memory(engine, "Tabs are used in Makefiles")
    left, _, conflict = two_rivals(engine, tmp_path / "adr")
    engine.conflicts.keep_both(conflict)
    facts = engine.active_facts
    assert list(facts.ids("acme")) == [left, second, first]
    engine.recall.note_start([second], "s1", "2100-01-01T00:00:00Z")
    assert list(facts.ids("acme")) == [left, second, first]
    engine.recall.set_moments(first, [Moment(MomentKind.COMMAND, "make deploy")])
    assert engine.recall.at("acme", cue_of("command", "make deploy"), session="s1")
    assert list(facts.ids("acme")) == [first, left, second]
    assert not facts.ids("other")


def test_the_filter_is_that_of_the_queue(engine: Engine) -> None:
    number = an_active_memory(engine, "Deploys need two approvals")
    an_active_memory(engine, "Tabs are used in Makefiles")
    assert list(engine.active_facts.ids(filter="approv type:preference")) == [number]
