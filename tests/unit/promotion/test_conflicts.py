"""Conflicts: two entities with different values for one slot, settled by a person only."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from reviewer.engine import Engine
from reviewer.errors import ConflictError
from reviewer.promotion.decisions.triage import Seen
from tests.unit.promotion.conftest import QueueUp, StatusOf
from tests.unit.promotion.graph import entity_of, ids, two_rivals, write_adr

Rivals = tuple[int, int, int]


@pytest.fixture
def rivals(engine: Engine, tmp_path: Path) -> Rivals:
    return two_rivals(engine, tmp_path / "adr")


def test_words_that_look_alike_never_hide_one_side_behind_the_other(
    engine: Engine, tmp_path: Path, status: StatusOf
) -> None:
    """Promoting a row merges its near duplicates: a rival among them would be settled silently."""
    folder = tmp_path / "adr"
    write_adr(folder, "PostgreSQL", 1)
    write_adr(folder, "MariaDB", 2)
    engine.intake.ingest([folder], project="acme")
    write_adr(folder, "CockroachDB", 3)
    engine.intake.ingest([folder], project="acme")
    found = ids(engine, "kind:entity", "waiting")
    assert len(found) == 3
    engine.triage.promote(found[:1])
    assert [status(n) for n in found] == ["active", "candidate", "candidate"]
    assert len(ids(engine, "kind:conflict")) == 2


@pytest.mark.parametrize("settle", ["supersede", "dismiss"])
def test_a_settled_one_is_not_settled_again_and_not_queued_again(
    engine: Engine, rivals: Rivals, tmp_path: Path, settle: str, status: StatusOf
) -> None:
    left, right, conflict = rivals
    winner = (left,) if settle == "supersede" else ()
    getattr(engine.conflicts, settle)(conflict, *winner)
    with pytest.raises(ConflictError, match="already settled"):
        engine.conflicts.dismiss(conflict)
    path = write_adr(tmp_path / "adr", "SQLite", 3)
    engine.intake.ingest([path], project="acme")
    engine.intake.ingest([path], project="acme", again=True)
    if status(right) == "candidate":
        engine.triage.promote([right])
    assert ids(engine, "kind:conflict") == [conflict]


def test_a_settled_one_counts_neither_as_promoted_nor_as_rejected(
    engine: Engine, rivals: Rivals
) -> None:
    before = engine.queue.counts("acme")
    engine.conflicts.dismiss(rivals[2])
    after = engine.queue.counts("acme")
    assert (after.promoted, after.rejected) == (before.promoted, before.rejected)
    engine.triage.restore([rivals[2]])
    engine.conflicts.supersede(rivals[2], rivals[0])
    assert engine.queue.counts("acme").promoted_today == before.promoted_today


def test_the_winner_meets_the_other_rivals(engine: Engine, rivals: Rivals, tmp_path: Path) -> None:
    _, right, conflict = rivals
    engine.intake.ingest([write_adr(tmp_path / "adr", "MongoDB", 3)], project="acme")
    third = entity_of(engine, "mongodb")
    engine.conflicts.supersede(conflict, right)
    pairs = {
        frozenset((view.left.id, view.right.id))
        for view in map(engine.conflicts.get, ids(engine, "kind:conflict"))
    }
    assert frozenset((right, third)) in pairs


@pytest.mark.parametrize("choice", ["PostgreSQL", "PostgreSQL 16"])
def test_the_same_value_contradicts_nothing(engine: Engine, tmp_path: Path, choice: str) -> None:
    engine.intake.ingest([write_adr(tmp_path / "adr", "PostgreSQL", 1)], project="acme")
    engine.triage.promote([entity_of(engine, "postgresql")])
    engine.intake.ingest([write_adr(tmp_path / "adr", choice, 2)], project="acme")
    assert ids(engine, "kind:conflict") == []


def test_projects_do_not_contradict_each_other(engine: Engine, tmp_path: Path) -> None:
    engine.intake.ingest([write_adr(tmp_path / "a", "PostgreSQL", 1)], project="acme")
    engine.triage.promote([entity_of(engine, "postgresql")])
    engine.intake.ingest([write_adr(tmp_path / "b", "SQLite", 1)], project="other")
    assert ids(engine, "kind:conflict") == []


def test_no_act_of_triage_settles_one_by_accident(
    engine: Engine, rivals: Rivals, queue_up: QueueUp
) -> None:
    left, _, conflict = rivals
    (other,) = queue_up("an ordinary fact")
    acts: tuple[Callable[[], object], ...] = (
        lambda: engine.triage.promote([conflict]),
        lambda: engine.triage.promote([other, conflict]),
        lambda: engine.triage.edit(conflict, "other words", promote=False),
        lambda: engine.triage.edit(conflict, "other words", promote=True),
        lambda: engine.triage.merge([conflict], other),
        lambda: engine.triage.merge([other], conflict),
        lambda: engine.triage.supersede(left, conflict),
    )
    for act in acts:
        with pytest.raises(ConflictError, match=r"is a conflict: settle it"):
            act()
    assert engine.conflicts.get(conflict).resolution is None


def _contradicting(engine: Engine) -> tuple[int, int, int]:
    first = engine.entities.author("acme", "parameter", "lens mass = 1 kg", name="lens mass").ids[0]
    second = engine.entities.author("acme", "parameter", "lens mass = 2 kg", name="lens mass").ids[
        0
    ]
    engine.triage.promote([first])
    (conflict,) = ids(engine, "kind:conflict")
    return first, second, conflict


def test_a_loser_that_is_put_back_opens_its_conflict_again(engine: Engine) -> None:
    first, second, conflict = _contradicting(engine)
    engine.conflicts.supersede(conflict, first)
    assert ids(engine, "kind:conflict", "waiting") == []
    engine.triage.restore([second])
    assert ids(engine, "kind:conflict", "waiting") == [conflict]
    assert engine.conflicts.get(conflict).resolution is None
    assert engine.history.verify().ok


def test_the_words_of_a_conflict_follow_its_sides(engine: Engine) -> None:
    first, _, conflict = _contradicting(engine)
    engine.triage.edit(first, "lens mass = 9 kg")
    assert "9 kg" in engine.queue.candidate(conflict).content
    engine.triage.edit(first, "lens mass = 2000 g")
    assert "now agree" in engine.queue.candidate(conflict).content


def test_rewording_what_another_process_reworded_is_a_named_conflict(engine: Engine) -> None:
    (number,) = engine.entities.author("acme", "knowledge", "the lens has a mass of 1 kg").ids
    seen = Seen(engine.queue.candidate(number).status, engine.queue.candidate(number).content)
    engine.triage.edit(number, "the lens weighs 1 kg", promote=False)
    with pytest.raises(ConflictError, match="reworded meanwhile"):
        engine.triage.edit(number, "the lens is light", seen=seen)
    engine.triage.promote([number])
    with pytest.raises(ConflictError, match="already active"):
        engine.triage.edit(number, "the lens is light", seen=seen)
