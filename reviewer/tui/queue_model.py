"""The list of the queue as values: where the cursor is, what is marked, what was decided.

No widget and no store: rows come from a function that reads a window of them. Ids stay in memory
(8 bytes each), rows are kept for a few pages only, so that a key costs the same with a thousand
candidates as with a million.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reviewer.engine import QueueRow

KEPT_ROWS = 2_000

Fetch = Callable[[Sequence[int]], "list[QueueRow]"]


class QueueModel:
    """A snapshot of ids, a cursor in it, marks, and open clusters."""

    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch
        self._rows: dict[int, QueueRow] = {}
        self.ids: array[int] = array("q")
        self.cursor = 0
        self.marks: set[int] = set()
        self.range_from: int | None = None
        self.settled: set[int] = set()
        """Rows that were decided or put off since the snapshot: dimmed, and passed over."""
        self.leader_of: dict[int, int] = {}
        """The members of open clusters, each with the row it stands under."""

    # snapshot

    def load(self, ids: array[int], here: int | None = None) -> None:
        """Take a new snapshot; the cursor goes to the row `here` if it is there."""
        self.ids = array("q", ids)
        self._rows.clear()
        self.settled.clear()
        self.leader_of.clear()
        self.range_from = None
        self.marks.clear()
        found = self.index_of([here]) if here is not None else None
        self.cursor = found if found is not None else min(self.cursor, max(len(self.ids) - 1, 0))

    def extend(self, ids: array[int]) -> None:
        """Take the rest of the snapshot after its first page; what is shown stays in place."""
        shown = len(self.ids)
        if ids[:shown] == self.ids:
            self.ids.extend(ids[shown:])
        else:
            known = set(self.ids)
            self.ids.extend(number for number in ids if number not in known)

    # rows

    def window(self, start: int, stop: int) -> list[QueueRow | None]:
        """The rows from `start` to `stop`; None for one that no longer exists."""
        wanted = self.ids[max(start, 0) : stop]
        missing = [number for number in wanted if number not in self._rows]
        if missing:
            self._read(missing)
        return [self._rows.get(number) for number in wanted]

    def row(self, index: int) -> QueueRow | None:
        """The row at an index."""
        if not 0 <= index < len(self.ids):
            return None
        return self.window(index, index + 1)[0]

    def _read(self, ids: Sequence[int]) -> None:
        for row in self._fetch(ids):
            self._rows[row.id] = row
        excess = len(self._rows) - KEPT_ROWS
        for number in list(self._rows)[: max(excess, 0)]:
            del self._rows[number]

    def forget(self) -> None:
        """Read rows again when they are next shown."""
        self._rows.clear()

    @property
    def current_id(self) -> int | None:
        """The id under the cursor."""
        return self.ids[self.cursor] if 0 <= self.cursor < len(self.ids) else None

    @property
    def current(self) -> QueueRow | None:
        """The row under the cursor."""
        return self.row(self.cursor)

    def index_of(self, ids: Iterable[int]) -> int | None:
        """The first place in the list that holds one of some ids."""
        wanted = set(ids)
        if not wanted:
            return None
        if self.current_id in wanted and len(wanted) == 1:
            return self.cursor
        if len(wanted) == 1:
            try:
                return self.ids.index(*wanted)
            except ValueError:
                return None
        return next((at for at, number in enumerate(self.ids) if number in wanted), None)

    # decisions

    def touched(self, ids: Sequence[int]) -> None:
        """Rows were decided, put off or put back: read them again and see what they are now."""
        known = set(ids)
        for number in known:
            self._rows.pop(number, None)
        self._read(list(known)[:KEPT_ROWS])
        for number in known:
            row = self._rows.get(number)
            if row is None or (row.status == "candidate" and not row.deferred):
                self.settled.discard(number)
            else:
                self.settled.add(number)
        self.marks -= known

    def waiting(self, index: int) -> bool:
        """Whether the row at an index still waits, as far as was read."""
        number = self.ids[index]
        if number in self.settled:
            return False
        row = self._rows.get(number)
        return row is None or row.status == "candidate"

    def decided(self, index: int) -> bool:
        """Whether the row at an index is shown dimmed."""
        row = self.row(index)
        return row is not None and (row.status != "candidate" or row.id in self.settled)

    def next_waiting(self, start: int, step: int = 1) -> int | None:
        """The nearest row from `start` on that still waits."""
        stop = len(self.ids) if step > 0 else -1
        return next((at for at in range(start, stop, step) if self.waiting(at)), None)

    def after_decision(self, index: int) -> int:
        """Where the cursor goes when the row at `index` was decided: down, else up, else stays."""
        for at in (self.next_waiting(index + 1), self.next_waiting(index - 1, -1)):
            if at is not None:
                return at
        return index

    # marks

    def in_range(self, index: int) -> bool:
        """Whether a row belongs to the range in progress."""
        if self.range_from is None:
            return False
        return min(self.range_from, self.cursor) <= index <= max(self.range_from, self.cursor)

    def is_marked(self, index: int) -> bool:
        """Whether a row is marked or in the range in progress."""
        return self.ids[index] in self.marks or self.in_range(index)

    def marked(self) -> list[int]:
        """The marked ids in the order of the list."""
        if self.range_from is None:
            if not self.marks:
                return []
            return [number for number in self.ids if number in self.marks]
        first, last = sorted((self.range_from, self.cursor))
        chosen = self.marks | set(self.ids[first : last + 1])
        return [number for number in self.ids if number in chosen]

    def count_marked(self) -> int:
        """How many rows are marked, the range included."""
        if self.range_from is None:
            return len(self.marks)
        first, last = sorted((self.range_from, self.cursor))
        return len(self.marks.union(self.ids[first : last + 1]))

    def keep_range(self) -> None:
        """End the range; its rows stay marked."""
        self.marks.update(self.marked())
        self.range_from = None

    # clusters

    def open_cluster(self, index: int, members: Sequence[int]) -> None:
        """Show the members of a cluster below its row."""
        leader = self.ids[index]
        fresh = [number for number in members if number not in self.leader_of]
        self.ids[index + 1 : index + 1] = array("q", fresh)
        self.leader_of.update(dict.fromkeys(fresh, leader))

    def close_cluster(self, index: int) -> None:
        """Hide the members again; the cursor goes to their row."""
        leader = self.leader_of.get(self.ids[index], self.ids[index])
        members = {number for number, above in self.leader_of.items() if above == leader}
        at = self.index_of([leader])
        if at is None or not members:
            return
        stop = at + 1
        while stop < len(self.ids) and self.ids[stop] in members:
            stop += 1
        del self.ids[at + 1 : stop]
        for number in members:
            del self.leader_of[number]
        self.marks -= members
        self.range_from = None
        self.cursor = at

    def is_open(self, index: int) -> bool:
        """Whether the row leads an open cluster or is a member of one."""
        number = self.ids[index]
        return number in self.leader_of or number in self.leader_of.values()
