"""What a person may do to candidates: each row of the reviewer's actions, and its undo."""

from __future__ import annotations

import pytest

from reviewer.engine import Engine
from reviewer.errors import ConflictError
from reviewer.promotion.views import QueueQuery
from tests.stored import planted
from tests.unit.promotion.conftest import QueueUp, StatusOf


def waiting(engine: Engine) -> list[int]:
    return list(engine.queue.ids(QueueQuery()))


def test_promoting_a_row_merges_its_near_duplicates_and_keeps_all_sources(
    engine: Engine, queue_up: QueueUp, status: StatusOf
) -> None:
    leader, near, other = queue_up(
        "use httpx for calls", "we use httpx for our calls", "other", behind={
            "we use httpx for our calls": "use httpx for calls"
        }
    )  # fmt: skip
    assert waiting(engine) == [leader, other]

    done = engine.triage.promote([leader])

    assert done.title == f"Promoted #{leader}, merged 1 near duplicate"
    assert [status(leader), status(near)] == ["active", "superseded"]
    assert engine.queue.candidate(near).superseded_by == leader
    assert engine.queue.candidate(leader).seen == 2


def test_alone_leaves_the_near_duplicates_under_a_new_leader(
    engine: Engine, queue_up: QueueUp, status: StatusOf
) -> None:
    behind = {"b fact": "a fact", "c fact": "a fact"}
    a, b, c = queue_up("a fact", "b fact", "c fact", behind=behind)

    engine.triage.reject([a], alone=[a])

    assert [status(a), status(b), status(c)] == ["invalid", "candidate", "candidate"]
    assert waiting(engine) == [b]
    assert [member.id for member in engine.queue.members(b)] == [c]


@pytest.mark.parametrize("way", ["promoted", "in place of another", "by an earlier version"])
def test_a_row_promoted_from_behind_another_one_is_on_its_own(
    engine: Engine, queue_up: QueueUp, way: str
) -> None:
    leader, near, old = queue_up("a fact", "b fact", "c fact", behind={"b fact": "a fact"})
    if way == "in place of another":
        engine.triage.promote([old])
        engine.triage.supersede(old, near)
    else:
        engine.triage.promote([near])
    engine.triage.reject([leader])
    if way == "by an earlier version":
        with planted(engine.path, "leader") as act:
            act.update("memory", near, leader_id=leader)
        assert engine.forgetting.memories([leader]).memories == ((leader, "a fact"),)
        return

    assert f"#{near}" in [each.place for each in engine.proposals.known("acme").listed()]
    assert engine.forgetting.memories([leader]).memories == ((leader, "a fact"),)


def test_editing_into_what_another_memory_says_names_it(engine: Engine, queue_up: QueueUp) -> None:
    first, second = queue_up("one fact", "another fact")
    with pytest.raises(ConflictError, match=f"#{first}"):
        engine.triage.edit(second, "One fact.")
    assert engine.queue.candidate(second).content == "another fact"
