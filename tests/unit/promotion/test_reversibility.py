"""Whether each act can be undone; the verbs are in tests/cli/test_promotion_graph.py."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from reviewer.engine import Engine
from reviewer.errors import ConflictError, UnknownIdError
from reviewer.store.acts import LEDGERED
from tests.unit.promotion.conftest import StatusOf
from tests.unit.promotion.graph import (
    act_titled,
    an_active_memory,
    dump,
    entity_of,
    ids,
    two_rivals,
    write_adr,
)

FACTS = tuple(table for table in LEDGERED if table not in ("project", "wave", "source", "record"))


def rows(engine: Engine) -> dict[str, list[tuple[object, ...]]]:
    """Every row of the promotion graph."""
    return {table: dump(engine, table) for table in FACTS}


@pytest.fixture
def ingested(engine: Engine, tmp_path: Path) -> list[int]:
    """A store with a candidate of each kind."""
    folder = tmp_path / "adr"
    write_adr(folder, "PostgreSQL")
    (folder / "retries.md").write_text("# Retries\n\nWe never retry a booking without a key.\n")
    engine.intake.ingest([folder], project="acme")
    assert ids(engine, "kind:memory")
    assert ids(engine, "kind:entity")
    return ids(engine)


def there_and_back(engine: Engine, act: Callable[[], object]) -> None:
    """Do, undo, redo and undo again: each leads exactly where it should."""
    before = rows(engine)
    act()
    after = rows(engine)
    assert after != before
    for there in (False, True, False):
        (engine.history.redo if there else engine.history.undo)()
        assert rows(engine) == (after if there else before)
    assert engine.history.verify().ok


def test_a_candidate_that_was_written_is_deleted_by_undoing_its_wave(
    engine: Engine, ingested: list[int], status: StatusOf
) -> None:
    engine.history.undo_act(act_titled(engine, "Ingested"))
    assert rows(engine) == {table: [] for table in FACTS}
    for number in ingested:
        with pytest.raises(UnknownIdError):
            status(number)
    assert dump(engine, "record"), "what was read stays (L0)"
    engine.history.redo()
    assert ids(engine) == ingested


def test_a_candidate_that_was_written_by_hand_is_deleted_by_undo(engine: Engine) -> None:
    there_and_back(engine, lambda: engine.entities.author("acme", "decision", "Ship on Mondays"))


def test_a_wave_of_which_something_was_decided_is_not_undone(
    engine: Engine, ingested: list[int]
) -> None:
    engine.triage.promote(ingested[:1])
    before = rows(engine)
    with pytest.raises(ConflictError, match=f"status of memory {ingested[0]} has changed"):
        engine.history.undo_act(act_titled(engine, "Ingested"))
    assert rows(engine) == before


@pytest.mark.parametrize("kind", ["memory", "entity"])
@pytest.mark.parametrize("decision", ["promote", "reject", "defer"])
def test_what_was_decided_is_put_back_by_undo(
    engine: Engine, ingested: list[int], kind: str, decision: str
) -> None:
    there_and_back(engine, lambda: getattr(engine.triage, decision)(ids(engine, f"kind:{kind}")))


@pytest.mark.parametrize("kind", ["memory", "entity"])
@pytest.mark.parametrize("decision", ["promote", "reject"])
def test_what_was_decided_is_put_back_into_the_queue(
    engine: Engine, ingested: list[int], status: StatusOf, kind: str, decision: str
) -> None:
    found = ids(engine, f"kind:{kind}")
    waiting = rows(engine)
    getattr(engine.triage, decision)(found)
    assert not {status(n) for n in found} & {"candidate"}
    engine.triage.restore(found)
    assert {status(n) for n in found} == {"candidate"}
    assert rows(engine) == waiting


def test_undoing_a_graduation_deletes_only_the_entity_candidate(
    engine: Engine, ingested: list[int], status: StatusOf
) -> None:
    memory = ids(engine, "kind:memory")[0]
    engine.triage.promote([memory])
    before = rows(engine)
    entity, _ = engine.entities.graduate(memory, "result").ids
    assert (status(memory), status(entity)) == ("graduated", "candidate")
    engine.history.undo()
    assert rows(engine) == before
    assert status(memory) == "active"
    with pytest.raises(UnknownIdError):
        status(entity)


def test_a_graduated_memory_is_frozen(engine: Engine, status: StatusOf) -> None:
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


def test_a_graduation_is_undone_after_its_entity_was_put_back(
    engine: Engine, status: StatusOf
) -> None:
    memory = an_active_memory(engine)
    done = engine.entities.graduate(memory, "decision")
    entity = done.ids[0]
    engine.triage.promote([entity])
    with pytest.raises(ConflictError, match=f"memory {entity}"):
        engine.history.undo_act(done.act)
    engine.triage.restore([entity])
    engine.history.undo_act(done.act)
    assert status(memory) == "active"
    assert engine.entities.graduated_to(memory) is None


def test_an_active_entity_is_superseded_by_a_new_active_one(
    engine: Engine, ingested: list[int], status: StatusOf
) -> None:
    old = entity_of(engine, "postgresql")
    engine.triage.promote([old])
    (new,) = engine.entities.author("acme", "decision", "We will use MariaDB from March on").ids
    there_and_back(engine, lambda: engine.triage.supersede(old, new))
    engine.triage.supersede(old, new)
    assert (status(old), status(new)) == ("superseded", "active")
    assert engine.queue.candidate(old).superseded_by == new
    engine.triage.restore([old])
    assert status(old) == "candidate"


def test_an_active_entity_is_superseded_by_settling_a_conflict(
    engine: Engine, tmp_path: Path, status: StatusOf
) -> None:
    _, right, conflict = two_rivals(engine, tmp_path / "adr")
    there_and_back(engine, lambda: engine.conflicts.supersede(conflict, right))
    there_and_back(engine, lambda: engine.conflicts.keep_both(conflict))
    there_and_back(engine, lambda: engine.conflicts.dismiss(conflict))


def test_only_what_holds_is_superseded_and_only_by_its_like(
    engine: Engine, ingested: list[int], status: StatusOf
) -> None:
    entity, memory = entity_of(engine, "postgresql"), ids(engine, "kind:memory")[0]
    active = an_active_memory(engine)
    acts = engine.history.acts_total()
    for number, by, words in [
        (entity, entity, "itself"),
        (memory, active, f"#{memory} is waiting"),
        (active, entity, "different kinds"),
    ]:
        with pytest.raises(ConflictError, match=words):
            engine.triage.supersede(number, by)
    with pytest.raises(UnknownIdError, match="#999"):
        engine.triage.supersede(active, 999)
    assert engine.history.acts_total() == acts
    engine.triage.reject([memory])
    with pytest.raises(ConflictError, match=f"#{memory} is already rejected"):
        engine.triage.supersede(active, memory)


def test_what_supersedes_may_contradict_others(engine: Engine, tmp_path: Path) -> None:
    left, right, conflict = two_rivals(engine, tmp_path / "adr")
    engine.conflicts.keep_both(conflict)
    (new,) = engine.entities.author(
        "acme", "decision", "Chosen option: MongoDB", name="Ledger database"
    ).ids
    assert len(ids(engine, "kind:conflict", "waiting")) == 1
    engine.triage.supersede(left, new)
    pairs = [
        {view.left.id, view.right.id}
        for view in map(engine.conflicts.get, ids(engine, "kind:conflict"))
    ]
    assert {new, right} in pairs


def test_relations_and_rewordings_of_entities_go_back_too(
    engine: Engine, ingested: list[int]
) -> None:
    entity = entity_of(engine, "postgresql")
    (other,) = engine.entities.author("acme", "system", "The ledger", name="ledger").ids
    there_and_back(engine, lambda: engine.entities.relate(entity, "part_of", other))
    there_and_back(engine, lambda: engine.triage.edit(entity, "We will use SQLite for it"))


def test_curating_trusted_state_keeps_every_earlier_row(engine: Engine) -> None:
    engine.state.set("acme", "db", "PostgreSQL")
    (old,) = dump(engine, "state")
    there_and_back(engine, lambda: engine.state.set("acme", "db", "MariaDB"))
    engine.state.set("acme", "db", "MariaDB")
    assert dump(engine, "state")[0][:7] == old[:7]
    there_and_back(engine, lambda: engine.state.unset("acme", "db"))
