"""Entities: graduation, what is written by hand, relations."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewer.engine import Engine
from reviewer.errors import ConflictError, ReviewerError, UnknownIdError
from tests.unit.promotion.conftest import QueueUp
from tests.unit.promotion.graph import an_active_memory, dump, two_rivals


@pytest.mark.parametrize("type_", ["foo", "", "memory", "identity", "decisions"])
def test_an_unknown_type_is_refused_and_all_types_are_named(engine: Engine, type_: str) -> None:
    memory = an_active_memory(engine)
    acts = engine.history.acts_total()
    with pytest.raises(ReviewerError, match=r"no entity type.*validation_claim"):
        engine.entities.graduate(memory, type_)
    with pytest.raises(ReviewerError, match="no type"):
        engine.entities.author("acme", "nonsense", "Some words of a fact")
    assert engine.history.acts_total() == acts


def test_only_an_active_memory_graduates_and_only_once(
    engine: Engine, queue_up: QueueUp, tmp_path: Path
) -> None:
    *_, conflict = two_rivals(engine, tmp_path / "adr")
    waiting, rejected = queue_up("a fact that waits", "a fact that nobody wants")
    engine.triage.reject([rejected])
    memory = an_active_memory(engine)
    entity, _ = engine.entities.graduate(memory, "decision").ids
    acts = engine.history.acts_total()
    for number, words in [
        (memory, f"#{memory} is graduated already"),
        (entity, f"#{entity} is not a memory but an entity"),
        (waiting, "promote it first"),
        (rejected, r"not an active memory \(invalid\)"),
        (conflict, "not a memory but a conflict"),
    ]:
        with pytest.raises(ConflictError, match=words):
            engine.entities.graduate(number, "decision")
    with pytest.raises(UnknownIdError, match="#999"):
        engine.entities.graduate(999, "decision")
    assert engine.history.acts_total() == acts


def test_what_an_entity_says_already_is_not_said_by_a_second_one(engine: Engine) -> None:
    engine.entities.author("acme", "decision", "Deploys need two approvals on Fridays")
    memory = an_active_memory(engine)
    with pytest.raises(ConflictError, match=r"\(decision\) says the same already"):
        engine.entities.graduate(memory, "decision")
    assert engine.queue.candidate(memory).status == "active"


class TestByHand:
    def test_a_memory_and_an_entity_may_bear_the_same_type_name(self, engine: Engine) -> None:
        (memory,) = engine.entities.author("acme", "project", "The ledger moves to Europe").ids
        (entity,) = engine.entities.author(
            "acme", "entity:project", "The ledger moves to Europe"
        ).ids
        assert [engine.queue.candidate(n).kind for n in (memory, entity)] == ["memory", "entity"]

    def test_the_same_words_are_not_queued_twice(self, engine: Engine) -> None:
        for type_ in ("knowledge", "decision"):
            engine.entities.author("acme", type_, "Backups are tested on Mondays")
            with pytest.raises(ConflictError, match="says the same already"):
                engine.entities.author("acme", type_, "backups are tested on   Mondays.")


class TestRelations:
    @pytest.fixture
    def parts(self, engine: Engine) -> list[int]:
        return [
            engine.entities.author("acme", "component", f"The {name} does its work", name=name).ids[
                0
            ]
            for name in ("poller", "sender", "ledger")
        ]

    @pytest.mark.parametrize("kind", ["part_of", "depends_on", "supersedes"])
    def test_what_cannot_go_round_never_does(
        self, engine: Engine, parts: list[int], kind: str
    ) -> None:
        first, second, third = parts
        engine.entities.relate(first, kind, second)
        engine.entities.relate(second, kind, third)
        for number, target in ((second, first), (third, first)):
            with pytest.raises(ConflictError, match="circle"):
                engine.entities.relate(number, kind, target)
        assert len(dump(engine, "relation")) == 2

    def test_two_may_use_each_other(self, engine: Engine, parts: list[int]) -> None:
        first, second, _ = parts
        engine.entities.relate(first, "uses", second)
        engine.entities.relate(second, "uses", first)
        with pytest.raises(ConflictError, match="stated already"):
            engine.entities.relate(second, "uses", first)

    def test_two_targets_of_one_name_are_told_apart(self, engine: Engine, parts: list[int]) -> None:
        (twin,) = engine.entities.author("acme", "system", "Another sender", name="sender").ids
        engine.entities.relate(parts[0], "uses", parts[1])
        engine.entities.relate(parts[0], "uses", twin)
        assert [r.target_id for r in engine.entities.get(parts[0]).relations] == [parts[1], twin]
