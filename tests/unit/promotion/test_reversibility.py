"""Whether each act can be undone; the verbs are in tests/cli/test_promotion_graph.py."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from reviewer.engine import Engine
from reviewer.errors import ConflictError, UnknownIdError
from reviewer.store.acts import LEDGERED
from tests.unit.promotion.graph import an_active_memory, dump, two_rivals

FACTS = tuple(table for table in LEDGERED if table not in ("project", "wave", "source", "record"))


def rows(engine: Engine) -> dict[str, list[tuple[object, ...]]]:
    """Every row of the promotion graph."""
    return {table: dump(engine, table) for table in FACTS}


class Graph(NamedTuple):
    """Rows by what they are; the two entities contradict each other."""

    memory: int
    entity: int
    active: int
    rival: int
    conflict: int


@pytest.fixture
def graph(engine: Engine, tmp_path: Path) -> Graph:
    entity, rival, conflict = two_rivals(engine, tmp_path / "adr")
    (memory,) = engine.entities.author("acme", "knowledge", "Retries need a key").ids
    engine.state.set("acme", "region", "eu-west-1")
    return Graph(memory, entity, an_active_memory(engine), rival, conflict)


ACTS: dict[str, Callable[[Engine, Graph], object]] = {
    "write a memory": lambda e, g: e.entities.author("acme", "identity", "Ann maintains it"),
    "write an entity": lambda e, g: e.entities.author("acme", "decision", "Ship on Mondays"),
    "promote a memory": lambda e, g: e.triage.promote([g.memory]),
    "promote an entity": lambda e, g: e.triage.promote([g.rival]),
    "reject a memory": lambda e, g: e.triage.reject([g.memory]),
    "reject an entity": lambda e, g: e.triage.reject([g.rival]),
    "defer": lambda e, g: e.triage.defer([g.memory, g.rival]),
    "put back": lambda e, g: e.triage.restore([g.active]),
    "reword a memory": lambda e, g: e.triage.edit(g.memory, "Retries carry a key"),
    "reword an entity": lambda e, g: e.triage.edit(g.entity, "We will use SQLite for it"),
    "merge": lambda e, g: e.triage.merge([g.memory], g.active),
    "graduate": lambda e, g: e.entities.graduate(g.active, "result"),
    "supersede": lambda e, g: e.triage.supersede(g.entity, g.rival),
    "settle for one side": lambda e, g: e.conflicts.supersede(g.conflict, g.rival),
    "dismiss": lambda e, g: e.conflicts.dismiss(g.conflict),
    "set another value": lambda e, g: e.state.set("acme", "region", "eu-west-2"),
    "end a key": lambda e, g: e.state.unset("acme", "region"),
}


def test_undo_and_redo_lead_exactly_where_they_should(engine: Engine, graph: Graph) -> None:
    before = rows(engine)
    for name, act in ACTS.items():
        act(engine, graph)
        after = rows(engine)
        assert after != before, name
        writes_state = name in ("set another value", "end a key")
        assert (after["state"] != before["state"]) == writes_state, name
        for there in (False, True, False):
            (engine.history.redo if there else engine.history.undo)()
            assert rows(engine) == (after if there else before), name
    assert engine.history.verify().ok


def test_a_graduated_memory_is_frozen(engine: Engine) -> None:
    memory = an_active_memory(engine)
    engine.entities.graduate(memory, "decision")
    before = rows(engine)
    acts: tuple[Callable[[], object], ...] = (
        lambda: engine.triage.promote([memory]),
        lambda: engine.triage.reject([memory]),
        lambda: engine.triage.defer([memory]),
        lambda: engine.triage.restore([memory]),
        lambda: engine.triage.edit(memory, "other words"),
        lambda: engine.triage.supersede(memory, an_active_memory(engine, "A newer fact")),
    )
    for act in acts:
        with pytest.raises(ConflictError, match="graduated"):
            act()
    assert rows(engine)["memory"][: len(before["memory"])] == before["memory"]


def test_a_retired_entity_comes_back_with_the_memory_it_was_graduated_from(engine: Engine) -> None:
    memory = an_active_memory(engine)
    entity, _ = engine.entities.graduate(memory, "decision").ids
    engine.triage.promote([entity])
    engine.triage.retire([entity])
    retired = rows(engine)
    assert {engine.queue.candidate(each).status for each in (memory, entity)} == {"invalid"}
    engine.triage.keep_again([entity])
    assert engine.queue.candidate(entity).status == "active"
    assert engine.queue.candidate(memory).status == "graduated"
    engine.history.undo()
    assert rows(engine) == retired


def test_only_what_holds_is_superseded_and_only_by_its_like(engine: Engine, graph: Graph) -> None:
    memory, entity, active, *_ = graph
    acts = len(engine.history.acts(limit=10_000))
    for number, by, words in [
        (entity, entity, "itself"),
        (memory, active, f"#{memory} is waiting"),
        (active, entity, "different kinds"),
    ]:
        with pytest.raises(ConflictError, match=words):
            engine.triage.supersede(number, by)
    with pytest.raises(UnknownIdError, match="#999"):
        engine.triage.supersede(active, 999)
    assert len(engine.history.acts(limit=10_000)) == acts
    engine.triage.reject([memory])
    with pytest.raises(ConflictError, match=f"#{memory} is already rejected"):
        engine.triage.supersede(active, memory)
