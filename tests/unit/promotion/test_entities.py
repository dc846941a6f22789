"""Entities: graduation and what is written by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewer.engine import Engine
from reviewer.errors import ConflictError, ReviewerError, UnknownIdError
from reviewer.recall.moments import read_moments
from tests.unit.promotion.conftest import QueueUp
from tests.unit.promotion.graph import an_active_memory, two_rivals


def test_an_unknown_type_is_refused_and_all_types_are_named(engine: Engine) -> None:
    memory = an_active_memory(engine)
    acts = len(engine.history.acts(limit=10_000))
    with pytest.raises(ReviewerError, match=r"no entity type.*validation_claim"):
        engine.entities.graduate(memory, "identity")
    with pytest.raises(ReviewerError, match="no type"):
        engine.entities.author("acme", "nonsense", "Some words of a fact")
    assert len(engine.history.acts(limit=10_000)) == acts


def test_only_an_active_memory_graduates_and_only_once(
    engine: Engine, queue_up: QueueUp, tmp_path: Path
) -> None:
    *_, conflict = two_rivals(engine, tmp_path / "adr")
    waiting, rejected = queue_up("a fact that waits", "a fact that nobody wants")
    engine.triage.reject([rejected])
    memory = an_active_memory(engine)
    entity, _ = engine.entities.graduate(memory, "decision").ids
    acts = len(engine.history.acts(limit=10_000))
    for number, words in [
        (memory, f"Only an active memory can graduate, and #{memory} is graduated"),
        (entity, "of kind entity"),
        (waiting, "waiting: promote it first"),
        (rejected, "already rejected"),
        (conflict, "of kind conflict"),
    ]:
        with pytest.raises(ConflictError, match=words):
            engine.entities.graduate(number, "decision")
    with pytest.raises(UnknownIdError, match="#999"):
        engine.entities.graduate(999, "decision")
    assert len(engine.history.acts(limit=10_000)) == acts


def test_an_entity_is_recalled_when_the_person_said_that_its_memory_is(engine: Engine) -> None:
    memory = an_active_memory(engine)
    chosen = read_moments("command git push\nonly")
    engine.recall.set_moments(memory, chosen)
    entity, _ = engine.entities.graduate(memory, "decision").ids
    assert engine.recall.moments(entity) == chosen


def test_what_an_entity_says_already_is_not_said_by_a_second_one(engine: Engine) -> None:
    engine.entities.author("acme", "decision", "Deploys need two approvals on Fridays")
    memory = an_active_memory(engine)
    with pytest.raises(ConflictError, match=r"\(decision\) already says the same"):
        engine.entities.graduate(memory, "decision")
    assert engine.queue.candidate(memory).status == "active"


def test_a_memory_that_may_contradict_another_names_it(engine: Engine) -> None:
    def written(text: str) -> str:
        return engine.entities.author("acme", "adaptation", text, promote=True).title

    assert "compare" not in written("Before a release, count the coins in every drawer.")
    said = written("Before a release, never count the coins in a drawer.")
    nearly = "compare #1, which says nearly the same"
    assert said == f"Wrote adaptation #2 by hand, and promoted it; {nearly}"
    assert "compare" not in written("Print the timetable in bold.")
    other = engine.entities.author("lab", "adaptation", "Before a release, count all the coins.")
    assert "compare" not in other.title
    engine.triage.retire([1, 2])
    assert "compare" not in written("Before a release, always count the coins of a drawer.")


def test_a_memory_and_an_entity_may_bear_the_same_type_name(engine: Engine) -> None:
    words = "The ledger moves to Europe"
    (memory,) = engine.entities.author("acme", "project", words).ids
    (entity,) = engine.entities.author("acme", "entity:project", words).ids
    assert [engine.queue.candidate(n).kind for n in (memory, entity)] == ["memory", "entity"]
