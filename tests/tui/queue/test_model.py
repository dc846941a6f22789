"""The list as values: where the cursor goes after each thing a person can do."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import pytest

from reviewer.promotion.views import QueueRow, RowKind, Status
from reviewer.tui.kit.row_model import CACHED_ROWS
from reviewer.tui.queue.model import QueueModel


class Rows:
    """A store of rows that can be decided, and that counts the rows read."""

    def __init__(self, count: int) -> None:
        self.rows = {number: row(number) for number in range(1, count + 1)}
        self.read = 0

    def fetch(self, ids: Sequence[int]) -> list[QueueRow]:
        self.read += len(ids)
        return [self.rows[number] for number in ids if number in self.rows]


def row(number: int, status: str = "candidate", deferred: bool = False) -> QueueRow:
    return QueueRow(
        id=number, kind=RowKind.MEMORY, status=Status(status), deferred=deferred, edited=False,
        type="project",
        content=f"content {number}", confidence=0.5, rank=0.5, members=0, seen=1, flags=(),
        project="acme", rule="decided", leader_id=None, pending_since="2026-01-01T00:00:00.000Z",
    )  # fmt: skip


def model_of(
    count: int, *, cursor: int = 0, decided: tuple[int, ...] = ()
) -> tuple[QueueModel, Rows]:
    """A list of ids 1..count; `decided` ids were rejected since the snapshot."""
    store = Rows(count)
    model = QueueModel(store.fetch)
    model.load(array("q", range(1, count + 1)))
    for number in decided:
        store.rows[number] = row(number, "invalid")
    model.reread(decided)
    model.cursor = cursor
    return model, store


@pytest.mark.parametrize(
    ("case", "count", "decided", "at", "goes_to"),
    [
        ("down to the next", 5, (1,), 0, 1),
        ("over rows that are decided", 5, (1, 2, 3), 0, 3),
        ("up when nothing waits below", 5, (5,), 4, 3),
        ("up over decided rows", 5, (3, 4, 5), 4, 1),
        ("below first, even when above is nearer", 5, (3, 4), 2, 4),
        ("stays on the last decision", 3, (1, 2, 3), 1, 1),
        ("stays in a list of one", 1, (1,), 0, 0),
    ],
)
def test_after_a_decision_the_cursor_goes(
    case: str, count: int, decided: tuple[int, ...], at: int, goes_to: int
) -> None:
    model, _ = model_of(count, cursor=at, decided=decided)
    assert model.after_decision(at) == goes_to, case


def test_a_deferred_row_is_passed_over_until_it_is_put_back() -> None:
    model, store = model_of(3)
    store.rows[2] = row(2, deferred=True)
    model.reread([2])
    assert model.after_decision(0) == 2
    store.rows[2] = row(2)
    model.reread([2])
    assert model.after_decision(0) == 1


def test_a_row_deferred_on_an_earlier_day_waits_like_any_other() -> None:
    store = Rows(2)
    store.rows[1] = row(1, deferred=True)
    model = QueueModel(store.fetch)
    model.load(array("q", [2, 1]))
    assert model.waiting(1)


def test_a_new_snapshot_keeps_the_cursor_on_its_row() -> None:
    model, _ = model_of(5, cursor=3)
    model.load(array("q", [5, 4, 3]), [4])
    assert model.current_id == 4


def test_a_new_snapshot_without_the_row_keeps_the_place() -> None:
    model, _ = model_of(5, cursor=3)
    model.load(array("q", [1, 2, 3]), [4])
    assert model.cursor == 2


def test_the_rest_of_a_snapshot_moves_no_row() -> None:
    model, store = model_of(3, cursor=1)
    store.rows[2] = row(2, "active")
    model.reread([2])
    model.extend(array("q", [1, 3, 4, 5]))
    assert list(model.ids) == [1, 2, 3, 4, 5]
    assert model.current_id == 2
    assert model.is_dimmed(1)


@pytest.mark.parametrize(("mark", "cursor"), [(1, 3), (3, 1)])
def test_rows_are_marked_from_the_last_mark_to_the_cursor(mark: int, cursor: int) -> None:
    model, _ = model_of(6, cursor=mark)
    model.marks = {6}
    model.toggle_mark()
    model.cursor = cursor
    model.mark_to_here()
    assert model.marked() == [2, 3, 4, 6]


def test_deciding_takes_the_mark_away() -> None:
    model, store = model_of(3)
    model.marks = {1, 2}
    store.rows[1] = row(1, "active")
    model.reread([1])
    assert model.marks == {2}


def test_an_open_cluster_is_below_its_row_and_closes_to_it() -> None:
    model, store = model_of(3, cursor=1)
    store.rows |= {7: row(7), 8: row(8)}
    model.open_cluster(1, [7, 8])
    assert list(model.ids) == [1, 2, 7, 8, 3]
    assert [model.is_open(at) for at in range(5)] == [False, True, True, True, False]
    model.cursor = 3
    model.close_cluster(3)
    assert list(model.ids) == [1, 2, 3]
    assert model.current_id == 2
    assert not model.is_open(1)


def test_a_window_reads_only_unread_rows() -> None:
    model, store = model_of(1_000)
    model.window(0, 40)
    model.window(1, 41)
    assert store.read == 41


def test_a_long_walk_keeps_a_bounded_number_of_rows() -> None:
    model, _ = model_of(3 * CACHED_ROWS)
    for start in range(0, 3 * CACHED_ROWS, 100):
        model.window(start, start + 100)
    assert sum(model.known(number) is not None for number in model.ids) <= CACHED_ROWS


def test_a_row_that_is_gone_is_none() -> None:
    model, store = model_of(3)
    del store.rows[2]
    assert [found and found.id for found in model.window(0, 3)] == [1, None, 3]


def test_an_empty_list_has_no_current_row() -> None:
    model, _ = model_of(0)
    assert model.current is None
    assert model.current_id is None
    assert model.marked() == []


def test_the_place_of_one_id_is_found_at_either_end() -> None:
    model, _ = model_of(5)
    assert [model.index_of([number]) for number in (1, 5, 6)] == [0, 4, None]
