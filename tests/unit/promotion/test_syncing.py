"""Stores that sync through one folder: memories that come to one wording, and that leave it."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from reviewer.engine import Engine
from reviewer.errors import ConflictError
from reviewer.promotion.exchange.syncing import Synced
from reviewer.promotion.views import QueueQuery, QueueRow

NOW = datetime(2026, 11, 24, tzinfo=UTC)


class Machine:
    """A store, and what a person does there to the memory with a wording."""

    def __init__(self, folder: Path, days: int) -> None:
        folder.mkdir()
        self._shared = folder.parent / "shared"
        now = NOW + timedelta(days=days)
        self.engine = Engine.open(folder / "store.db", clock=lambda: now)

    def rows(self) -> Sequence[QueueRow]:
        return self.engine.queue.rows(
            self.engine.queue.ids(QueueQuery("p", "all", "-kind:conflict"))
        )

    def state(self) -> dict[tuple[str, str], str]:
        """What is decided: the status by type and wording."""
        return {
            (each.type, each.content): str(each.status)
            for each in self.rows()
            if each.status in ("active", "invalid")
        }

    def active(self) -> set[str]:
        return {content for (_, content), status in self.state().items() if status == "active"}

    def waiting(self) -> dict[str, bool]:
        """The wordings that wait, and whether in conflict."""
        return {
            each.content: "concurrent" in each.flags
            for each in self.rows()
            if each.status == "candidate"
        }

    def number(self, content: str) -> int:
        found = {each.id: each.status for each in self.rows() if each.content == content}
        return min(found, key=lambda number: (found[number] == "superseded", number))

    def write(self, content: str) -> None:
        self.engine.entities.author("p", "knowledge", content, promote=True)

    def reword(self, content: str, new: str) -> None:
        self.engine.triage.edit(self.number(content), new)

    def reject(self, content: str) -> None:
        self.engine.triage.restore([self.number(content)])
        self.engine.triage.reject(ids := [self.number(content)], alone=ids)

    def forget(self, content: str) -> None:
        self.engine.forgetting.erase(self.engine.forgetting.memories([self.number(content)]))

    def wordings(self) -> set[str]:
        """All wordings of now and before."""
        rows = self.rows()
        earlier = [each for row in rows for _, each in self.engine.queue.wordings(row.id)]
        return {*earlier, *(row.content for row in rows)}

    def sync(self) -> Synced:
        return self.engine.syncing.sync(self._shared, "p")


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[list[Machine]]:
    """Three, whose clocks are months apart."""
    (tmp_path / "shared").mkdir()
    found = [Machine(tmp_path / str(number), 100 * number) for number in range(3)]
    yield found
    for each in found:
        each.engine.close()


def settle(machines: Sequence[Machine]) -> None:
    """Sync until nobody has anything to send or to take."""
    for _ in range(7):
        done = [each.sync() for each in machines]
        if not any(each.act or each.sent for each in done):
            return
    pytest.fail("the machines send lines to and fro")


def same(machines: Sequence[Machine]) -> bool:
    return all(each.state() == machines[0].state() for each in machines)


FIRST, SECOND, SHARED = "The first of the facts", "The second of the facts", "What both facts say"


@pytest.fixture
def agreed(machines: list[Machine]) -> list[Machine]:
    """Machines that all have two memories."""
    machines[0].write(FIRST)
    machines[0].write(SECOND)
    settle(machines)
    return machines


@pytest.fixture
def joined(agreed: list[Machine]) -> list[Machine]:
    """Two memories that two machines have given one wording."""
    left, right, _ = agreed
    left.reword(FIRST, SHARED)
    right.reword(SECOND, SHARED)
    settle(agreed)
    return agreed


def test_two_memories_that_come_to_one_wording_are_one(joined: list[Machine]) -> None:
    for each in joined:
        assert (each.active(), each.waiting()) == ({SHARED}, {})
        assert {FIRST, SECOND} <= each.wordings()
        assert each.engine.history.verify().ok


def test_what_is_decided_on_a_shared_row_holds_for_both_memories(joined: list[Machine]) -> None:
    _, right, third = joined
    third.reword(SHARED, "What a third machine says")
    settle(joined)
    assert [each.active() for each in joined] == [{"What a third machine says"}] * 3
    right.reject("What a third machine says")
    settle(joined)
    assert [each.active() for each in joined] == [set()] * 3
    assert same(joined)


def test_two_that_shared_a_row_differ_again(agreed: list[Machine]) -> None:
    left, right, third = agreed
    right.reword(SECOND, SHARED)
    right.sync()
    third.sync()
    right.reword(SHARED, "The second once more")
    left.reword(FIRST, SHARED)
    left.sync()  # has both as one
    assert left.active() == {SHARED}
    settle(agreed)
    assert [each.active() for each in agreed] == [{SHARED, "The second once more"}] * 3
    assert sum(row.status == "superseded" for row in left.rows()) == 0  # woken, not added


def test_undoing_a_sync_parts_what_it_joined(agreed: list[Machine]) -> None:
    left, right, _ = agreed
    left.reword(FIRST, SHARED)
    left.sync()
    right.reword(SECOND, SHARED)
    right.engine.history.undo_act(right.sync().act)
    assert right.active() == {FIRST, SHARED}
    settle(agreed)
    assert [each.active() for each in agreed] == [{FIRST, SHARED}] * 3


def test_what_was_forgotten_does_not_come_again_as_another_memory(
    machines: list[Machine],
) -> None:
    left, right, third = machines
    left.write(FIRST)
    settle(machines[:2])
    left.forget(FIRST)
    third.write(SECOND)
    third.reword(SECOND, FIRST)
    settle(machines)
    assert left.wordings() == set()
    assert right.active() == third.active() == {FIRST}


def test_another_type_travels(machines: list[Machine]) -> None:
    left, right, _ = machines
    left.write(FIRST)
    settle(machines)
    right.engine.triage.restore([right.number(FIRST)])
    right.engine.triage.edit(right.number(FIRST), type_="decision")
    settle(machines)
    assert [each.state() for each in machines] == [{("decision", FIRST): "active"}] * 3
    left.engine.triage.edit(left.number(FIRST), SECOND, type_="requirement")
    settle(machines)
    assert [each.state() for each in machines] == [{("requirement", SECOND): "active"}] * 3


def test_a_merge_travels_and_so_does_its_end(agreed: list[Machine]) -> None:
    left, right, _ = agreed
    left.engine.triage.supersede(left.number(FIRST), left.number(SECOND))
    settle(agreed)
    assert [each.active() for each in agreed] == [{SECOND}] * 3
    right.engine.triage.restore([right.number(FIRST)])
    right.engine.triage.promote(ids := [right.number(FIRST)], alone=ids)
    settle(agreed)
    assert [each.active() for each in agreed] == [{FIRST, SECOND}] * 3


def test_a_wording_that_cannot_be_sent_is_named_and_nothing_grows(
    machines: list[Machine],
) -> None:
    left, right, _ = machines
    left.write(f"{FIRST} \N{RIGHT-TO-LEFT OVERRIDE}")
    left.write(SECOND)
    for _ in range(2):
        done = left.sync()
        assert "is not sent: the wording has control characters" in done.problems[0]
    assert done.sent == 0
    right.sync()
    assert right.active() == {SECOND}


def act(shuffled: random.Random, machine: Machine) -> None:
    """Whatever a person does next."""
    dice = shuffled.random()
    row = shuffled.choice(machine.rows())
    triage = machine.engine.triage
    if dice < 0.1:
        machine.sync()
    elif dice < 0.15 and machine.engine.history.next_undo():
        machine.engine.history.undo()
    elif row.status == "candidate":
        shuffled.choice((triage.promote, triage.reject))([row.id], alone=[row.id])
    elif row.status == "active" and dice < 0.7:
        triage.edit(row.id, f"Wording {shuffled.randrange(5)} of a few")
    elif row.status != "superseded":
        triage.restore([row.id])


@pytest.mark.parametrize("seed", range(8))
def test_colliding_wordings_settle_the_same_everywhere(machines: list[Machine], seed: int) -> None:
    """Decisions, wordings out of a few, undo and syncs, all at random."""
    shuffled = random.Random(seed)
    machines = machines[: 2 + seed % 2]
    for each in machines:
        for number in range(6):
            each.engine.entities.author("p", "knowledge", f"Fact {number} of the shuffled ones")
    for _ in range(60):
        with suppress(ConflictError):  # another row says so already, or a sync came between
            act(shuffled, shuffled.choice(machines))
    settle(machines)
    assert same(machines)
    assert all(each.engine.history.verify().ok for each in machines)
