"""The rows of a list without widgets: a snapshot of ids, a cursor, marks, a window of rows.

Rows come from a function that reads a window of them. Only ids stay in memory (8 bytes each), so a
key takes the same time with a thousand rows as with a million.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import Generic, Protocol, TypeVar

from reviewer.errors import ConflictError

CACHED_ROWS = 2_000


class HasId(Protocol):
    """A row of the store."""

    @property
    def id(self) -> int: ...


RowT = TypeVar("RowT", bound=HasId)


class RowModel(Generic[RowT]):
    """Ids in list order, the cursor, and the marked rows."""

    def __init__(self, fetch: Callable[[Sequence[int]], list[RowT]]) -> None:
        self._fetch = fetch
        self._rows: dict[int, RowT] = {}
        self.ids: array[int] = array("q")
        self.cursor = 0
        self.marks: set[int] = set()

    # rows

    def window(self, start: int, stop: int) -> list[RowT | None]:
        """The rows from `start` to `stop`; None for a row that no longer exists."""
        wanted = self.ids[max(start, 0) : stop]
        missing = [number for number in wanted if number not in self._rows]
        if missing:
            self.read(missing)
        return [self._rows.get(number) for number in wanted]

    def row(self, index: int) -> RowT | None:
        """The row at an index; None outside the list."""
        return self.window(index, index + 1)[0] if 0 <= index < len(self.ids) else None

    def known(self, number: int) -> RowT | None:
        """A row if it is in the cache."""
        return self._rows.get(number)

    def read(self, ids: Sequence[int]) -> None:
        """Read rows into the cache, dropping the oldest."""
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

    @property
    def under_cursor(self) -> RowT:
        """The row under the cursor. Raises ConflictError without one."""
        if self.current is None:
            raise ConflictError("There is no row under the cursor.")
        return self.current

    def index_of(self, ids: Iterable[int]) -> int | None:
        """The index of the first listed id among `ids`."""
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

    def is_marked(self, index: int) -> bool:
        return self.ids[index] in self.marks

    def marked(self) -> list[int]:
        """The marked ids in list order."""
        return [number for number in self.ids if number in self.marks] if self.marks else []

    def targets(self) -> list[int]:
        """The marked ids, or the one under the cursor if none is marked."""
        marked = self.marked()
        return marked if marked or self.current_id is None else [self.current_id]

    def toggle_mark(self) -> None:
        if self.current_id is not None:
            self.marks.symmetric_difference_update({self.current_id})

    def markable(self) -> Iterable[int]:
        """The ids for "mark all"."""
        return self.ids


def has_words(text: str, line: str) -> bool:
    """Whether a text has all words of a filter line, and none of those after a minus."""
    words = line.casefold().split()
    text = text.casefold() if words else ""
    return all(
        word[1:] not in text if word.startswith("-") and len(word) > 1 else word in text
        for word in words
    )
