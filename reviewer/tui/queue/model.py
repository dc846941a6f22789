"""The state of the queue without widgets: decided rows, open clusters."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from reviewer.tui.kit.row_model import CACHED_ROWS, RowModel

if TYPE_CHECKING:
    from reviewer.promotion.views import QueueRow


class QueueModel(RowModel["QueueRow"]):
    """A snapshot of the queue. Decided rows stay, dimmed, until it is reloaded."""

    def __init__(self, fetch: Callable[[Sequence[int]], list[QueueRow]]) -> None:
        super().__init__(fetch)
        self.dimmed: set[int] = set()
        """Rows decided or deferred since the snapshot: dimmed and skipped."""
        self.leader_of: dict[int, int] = {}
        """Members of open clusters -> their leader."""

    # snapshot

    def load(self, ids: array[int], here: Iterable[int] = ()) -> None:
        """Take a new snapshot; the cursor goes to the first of the ids `here` in it."""
        self.ids = array("q", ids)
        self._rows.clear()
        self.dimmed.clear()
        self.leader_of.clear()
        if self.marks:
            self.marks.intersection_update(self.ids)
        found = self.index_of(here)
        self.cursor = found if found is not None else min(self.cursor, max(len(self.ids) - 1, 0))

    def extend(self, ids: array[int]) -> None:
        """Add the rest of the snapshot after its first page; the visible rows stay in place."""
        shown = len(self.ids)
        if ids[:shown] == self.ids:
            self.ids.extend(ids[shown:])
        else:
            known = set(self.ids)
            self.ids.extend(memory_id for memory_id in ids if memory_id not in known)

    def nearby(self, rows: int) -> list[int]:
        """Candidates for the cursor in the next snapshot, best first: the current row if it still
        waits, waiting rows below, waiting rows above, decided rows.

        Decided rows are last because a deferred row would move the cursor to the end.
        """
        below = self.ids[self.cursor : self.cursor + rows]
        above = self.ids[max(self.cursor - rows, 0) : self.cursor][::-1]
        around = [*below, *above]
        return sorted(around, key=self.dimmed.__contains__)

    # decisions

    def reread(self, ids: Sequence[int]) -> None:
        """Reload rows that were decided, deferred or restored; those hidden behind another row are
        not dimmed, because they are not in the list.
        """
        known = set(ids)
        self.forget(known)
        self.read(list(known)[:CACHED_ROWS])
        for memory_id in known:
            row = self.known(memory_id)
            if (
                row is None
                or (row.leader_id and memory_id not in self.leader_of)
                or (row.status == "candidate" and not row.deferred)
            ):
                self.dimmed.discard(memory_id)
            else:
                self.dimmed.add(memory_id)
        self.marks -= known

    def waiting(self, index: int) -> bool:
        """Whether the row at an index still waits; True if it is not loaded yet."""
        memory_id = self.ids[index]
        if memory_id in self.dimmed:
            return False
        row = self.known(memory_id)
        return row is None or row.status == "candidate"

    def waits_here(self, memory_id: int) -> bool:
        """Whether a row waits and is not deferred; False if it is not loaded yet."""
        row = self.known(memory_id)
        return row is not None and row.status == "candidate" and not row.deferred

    def is_dimmed(self, index: int) -> bool:
        row = self.row(index)
        return row is not None and (row.status != "candidate" or row.id in self.dimmed)

    def next_waiting(self, start: int, step: int = 1) -> int | None:
        """The first waiting row from `start` on."""
        stop = len(self.ids) if step > 0 else -1
        return next((at for at in range(start, stop, step) if self.waiting(at)), None)

    def after_decision(self, index: int) -> int:
        """The cursor after a decision at `index`: the next waiting row below, else above."""
        for at in (self.next_waiting(index + 1), self.next_waiting(index - 1, -1)):
            if at is not None:
                return at
        return index

    def markable(self) -> Iterable[int]:
        return set(self.ids) - self.dimmed

    # clusters

    def open_cluster(self, index: int, members: Sequence[int]) -> None:
        leader = self.ids[index]
        fresh = [memory_id for memory_id in members if memory_id not in self.leader_of]
        self.ids[index + 1 : index + 1] = array("q", fresh)
        self.leader_of.update(dict.fromkeys(fresh, leader))

    def close_cluster(self, index: int) -> None:
        """Hide the members; the cursor stays on its row, or goes from a member to the cluster's."""
        here = self.current_id
        leader = self.leader_of.get(self.ids[index], self.ids[index])
        members = {memory_id for memory_id, above in self.leader_of.items() if above == leader}
        at = self.index_of([leader])
        if at is None or not members:
            return
        stop = at + 1
        while stop < len(self.ids) and self.ids[stop] in members:
            stop += 1
        del self.ids[at + 1 : stop]
        for memory_id in members:
            del self.leader_of[memory_id]
        self.marks -= members
        found = self.index_of([here]) if here is not None else None
        self.cursor = at if found is None else found

    def is_open(self, index: int) -> bool:
        memory_id = self.ids[index]
        return memory_id in self.leader_of or memory_id in self.leader_of.values()


def count_new(shown: array[int], fresh: array[int]) -> int:
    """How many ids of `fresh` are not in `shown`. A byte map takes 1 % of a set's memory."""
    known = bytearray(max(shown, default=0) + 1)
    for memory_id in shown:
        known[memory_id] = 1
    return sum(memory_id >= len(known) or not known[memory_id] for memory_id in fresh)
