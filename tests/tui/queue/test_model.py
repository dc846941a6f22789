"""The list as values: where the cursor goes after each thing a person can do."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

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


def row(number: int, status: str = "candidate") -> QueueRow:
    return QueueRow(
        id=number, kind=RowKind.MEMORY, status=Status(status), deferred=False, edited=False,
        type="project",
        content=f"content {number}", confidence=0.5, rank=0.5, members=0, seen=1, flags=(),
        project="acme", rule="decided", leader_id=None, pending_since="2026-01-01T00:00:00.000Z",
    )  # fmt: skip


def model_of(count: int, *, cursor: int = 0) -> tuple[QueueModel, Rows]:
    """A list of ids 1..count."""
    store = Rows(count)
    model = QueueModel(store.fetch)
    model.load(array("q", range(1, count + 1)))
    model.cursor = cursor
    return model, store


def test_the_rest_of_a_snapshot_moves_no_row() -> None:
    model, store = model_of(3, cursor=1)
    store.rows[2] = row(2, "active")
    model.reread([2])
    model.extend(array("q", [1, 3, 4, 5]))
    assert list(model.ids) == [1, 2, 3, 4, 5]
    assert model.current_id == 2
    assert model.is_dimmed(1)


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
