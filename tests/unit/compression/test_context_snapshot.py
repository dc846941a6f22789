"""A context as it was read at one moment, and not kept when it changed."""

from __future__ import annotations

import gc
import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from reviewer.commits.values import CommitQuery
from reviewer.compression.context_snapshot import ContextSnapshot
from reviewer.engine import Engine
from reviewer.errors import ConflictError

PARTS = 6


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    """A context of six parts, an hour apart, four turns each."""
    engine = Engine.open(tmp_path / "store.db")
    turns = [
        {
            "role": "user" if minute % 2 == 0 else "assistant",
            "content": f"We decided to use lathe_{hour}_{minute} for part {hour}.",
            "timestamp": f"2026-02-01T1{hour}:0{minute}:00Z",
        }
        for hour in range(PARTS)
        for minute in range(4)
    ]
    path = tmp_path / "shop.jsonl"
    path.write_text("\n".join(map(json.dumps, turns)) + "\n")
    engine.contexts.import_file(path, project="shop")
    return engine


def test_earlier_versions_of_a_context_are_not_kept(engine: Engine) -> None:
    gc.collect()
    before = {id(each) for each in gc.get_objects() if isinstance(each, ContextSnapshot)}
    plan = engine.compression.plan(1, "brief")
    for number in engine.contexts.ids(CommitQuery(1))[:3]:
        engine.contexts.annotate(number, priority="important")
        engine.compression.segments(1)
        kept = {id(each) for each in gc.get_objects() if isinstance(each, ContextSnapshot)}
        assert len(kept - before) == 1
    engine.contexts.edit(number, "Something else was said.")
    with pytest.raises(ConflictError):
        engine.compression.preview(plan)


@pytest.mark.parametrize("change", [{"sources": (999,)}, {"segment": "s999"}])
def test_a_choice_for_other_commits_is_a_conflict(engine: Engine, change: dict[str, Any]) -> None:
    plan = engine.compression.plan(1, "brief")
    choices = (structs.replace(plan.choices[0], **change), *plan.choices[1:])
    with pytest.raises(ConflictError):
        engine.compression.preview(structs.replace(plan, choices=choices))
