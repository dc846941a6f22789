"""What holds, by type."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewer.engine import Engine
from reviewer.errors import FilterError
from tests.unit.promotion.graph import an_active_memory, two_rivals


def test_active_rows_are_grouped_entities_first_and_the_last_decided_on_top(
    engine: Engine, tmp_path: Path
) -> None:
    first = an_active_memory(engine, "Deploys need two approvals")
    second = an_active_memory(engine, "Tabs are used in Makefiles")
    left, _, conflict = two_rivals(engine, tmp_path / "adr")
    engine.conflicts.keep_both(conflict)
    groups = engine.active_facts.groups("acme")
    assert [(each.kind, each.type, list(each.ids)) for each in groups] == [
        ("entity", "decision", [left]),
        ("memory", "preference", [second, first]),
    ]
    assert engine.active_facts.groups("other") == ()


def test_the_filter_is_that_of_the_queue(engine: Engine) -> None:
    number = an_active_memory(engine, "Deploys need two approvals")
    an_active_memory(engine, "Tabs are used in Makefiles")
    (group,) = engine.active_facts.groups(filter="approv type:preference")
    assert list(group.ids) == [number]
    with pytest.raises(FilterError):
        engine.active_facts.groups(filter="conf>high")


def test_the_newest_are_a_part_of_them(engine: Engine) -> None:
    numbers = [an_active_memory(engine, f"Rule {name} holds") for name in ("one", "two", "three")]
    newest = engine.active_facts.newest
    assert newest("acme", filter="", limit=2) == numbers[:0:-1]
    assert newest("acme", filter="two", limit=2) == [numbers[1]]
    assert newest("other", filter="", limit=2) == []
