"""The list of the Commits screen as values: a snapshot of ids, a cursor in it, marks.

No widget and no store: rows come from a function that reads a window of them, so that a key costs
the same with two hundred commits as with twenty thousand.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reviewer.engine import CommitRow

KEPT_ROWS = 2_000

Fetch = Callable[[Sequence[int]], "list[CommitRow]"]


class CommitsModel:
    """The commits of one context that a filter lets through, in the order of the chain."""

    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch
        self._rows: dict[int, CommitRow] = {}
        self.ids: array[int] = array("q")
        self.cursor = 0
        self.marks: set[int] = set()
        self.range_from: int | None = None
        self._whole: array[int] = self.ids
        """The snapshot without a filter: it knows the neighbours of a row that one hides."""

    def load(self, ids: array[int], here: int | None = None, *, filtered: bool = False) -> None:
        """Take another snapshot. Marks stay on rows that are still there.

        The cursor goes to the row `here`, else it stays on its row; where that is not there, it
        goes to the nearest below it that is, or above it.
        """
        before, at = self.ids, self.cursor
        if here is not None and here not in before and here in self._whole:
            before = self._whole
        if here is not None and here in before:
            at = before.index(here)
        self.ids = array("q", ids)
        self._rows.clear()
        self.range_from = None
        held = set(self.ids)
        self.marks &= held
        wanted = [*([] if here is None else [here]), *before[at:], *reversed(before[:at])]
        place = next((number for number in wanted if number in held), None)
        self.cursor = 0 if place is None else self.ids.index(place)
        if not filtered:
            self._whole = self.ids

    # rows

    def window(self, start: int, stop: int) -> list[CommitRow | None]:
        """The rows from `start` to `stop`; None for one that no longer exists."""
        wanted = self.ids[max(start, 0) : stop]
        missing = [number for number in wanted if number not in self._rows]
        if missing:
            excess = len(self._rows) + len(missing) - KEPT_ROWS
            for number in list(self._rows)[: max(excess, 0)]:
                del self._rows[number]
            self._rows.update((row.id, row) for row in self._fetch(missing))
        return [self._rows.get(number) for number in wanted]

    def row(self, index: int) -> CommitRow | None:
        """The row at an index."""
        return self.window(index, index + 1)[0] if 0 <= index < len(self.ids) else None

    def forget(self, ids: Iterable[int]) -> None:
        """Read these rows again when they are next shown."""
        for number in ids:
            self._rows.pop(number, None)

    @property
    def current_id(self) -> int | None:
        """The id under the cursor."""
        return self.ids[self.cursor] if 0 <= self.cursor < len(self.ids) else None

    @property
    def current(self) -> CommitRow | None:
        """The row under the cursor."""
        return self.row(self.cursor)

    def index_of(self, ids: Iterable[int]) -> int | None:
        """The first place in the list that holds one of some ids."""
        wanted = set(ids)
        return next((at for at, number in enumerate(self.ids) if number in wanted), None)

    # marks

    def in_range(self, index: int) -> bool:
        """Whether a row belongs to the range in progress."""
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

    def keep_range(self) -> None:
        """End the range; its rows stay marked."""
        self.marks = set(self._chosen())
        self.range_from = None

    def clear_marks(self) -> None:
        """Nothing is marked."""
        self.marks.clear()
        self.range_from = None
