"""The rows of a list as plain values: a snapshot of ids, a cursor, marks, a window of rows.

No widget and no store: rows come from a function that reads a window of them. Only ids stay in
memory (8 bytes each), so a key takes the same time with a thousand rows as with a million.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import Generic, Protocol, TypeVar

CACHED_ROWS = 2_000


class HasId(Protocol):
    """A row of the store."""

    @property
    def id(self) -> int: ...


RowT = TypeVar("RowT", bound=HasId)


class RowModel(Generic[RowT]):
    """Ids in the order of the list, the cursor, the marked rows and the range in progress."""

    def __init__(self, fetch: Callable[[Sequence[int]], list[RowT]]) -> None:
        self._fetch = fetch
        self._rows: dict[int, RowT] = {}
        self.ids: array[int] = array("q")
        self.cursor = 0
        self.marks: set[int] = set()
        self.range_from: int | None = None
        """The index at which the range in progress began."""

    # rows

    def window(self, start: int, stop: int) -> list[RowT | None]:
        """The rows from `start` to `stop`; None for one that no longer exists."""
        wanted = self.ids[max(start, 0) : stop]
        missing = [number for number in wanted if number not in self._rows]
        if missing:
            self.read(missing)
        return [self._rows.get(number) for number in wanted]

    def row(self, index: int) -> RowT | None:
        """The row at an index; None outside the list."""
        return self.window(index, index + 1)[0] if 0 <= index < len(self.ids) else None

    def known(self, number: int) -> RowT | None:
        """A row if it has been read."""
        return self._rows.get(number)

    def read(self, ids: Sequence[int]) -> None:
        """Read rows into the cache, which drops the oldest."""
        excess = len(self._rows) + len(ids) - CACHED_ROWS
        for number in list(self._rows)[: max(excess, 0)]:
            del self._rows[number]
        self._rows.update((row.id, row) for row in self._fetch(ids))

    def forget(self, ids: Iterable[int] | None = None) -> None:
        """Drop these rows, or all, from the cache."""
        if ids is None:
            self._rows.clear()
            return
        for number in ids:
            self._rows.pop(number, None)

    @property
    def current_id(self) -> int | None:
        return self.ids[self.cursor] if 0 <= self.cursor < len(self.ids) else None

    @property
    def current(self) -> RowT | None:
        return self.row(self.cursor)

    def index_of(self, ids: Iterable[int]) -> int | None:
        """The first index whose id is among some ids."""
        wanted = set(ids)
        if not wanted:
            return None
        if len(wanted) == 1:
            if self.current_id in wanted:
                return self.cursor
            try:
                return self.ids.index(*wanted)
            except ValueError:
                return None
        return next((at for at, number in enumerate(self.ids) if number in wanted), None)

    # marks

    @property
    def has_marks(self) -> bool:
        """Whether a row is marked or a range is in progress."""
        return bool(self.marks) or self.range_from is not None

    def in_range(self, index: int) -> bool:
        if self.range_from is None:
            return False
        return min(self.range_from, self.cursor) <= index <= max(self.range_from, self.cursor)

    def is_marked(self, index: int) -> bool:
        """Whether a row is marked or in the range in progress."""
        return self.ids[index] in self.marks or self.in_range(index)

    def _chosen(self) -> set[int]:
        if self.range_from is None:
            return self.marks
        first, last = sorted((self.range_from, self.cursor))
        return self.marks.union(self.ids[first : last + 1])

    def marked(self) -> list[int]:
        """The marked ids in the order of the list."""
        chosen = self._chosen()
        return [number for number in self.ids if number in chosen] if chosen else []

    def count_marked(self) -> int:
        """How many rows are marked, the range included."""
        return len(self._chosen())

    def targets(self) -> list[int]:
        """The marked ids, or the one under the cursor when none is marked."""
        marked = self.marked()
        return marked if marked or self.current_id is None else [self.current_id]

    def toggle_mark(self) -> None:
        if self.current_id is not None:
            self.marks.symmetric_difference_update({self.current_id})

    def keep_range(self) -> None:
        """End the range; its rows stay marked."""
        self.marks = set(self._chosen())
        self.range_from = None

    def clear_marks(self) -> None:
        """Unmark every row and cancel the range."""
        self.marks.clear()
        self.range_from = None

    def markable(self) -> Iterable[int]:
        """The ids that "mark all" marks."""
        return self.ids
