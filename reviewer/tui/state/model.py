"""The list of the State screen as values: groups with a heading each, and a cursor.

No widget and no store: rows of memories and entities are read for a window at a time.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from reviewer.promotion.decisions.trusted_state import StateView
    from reviewer.promotion.lists.active_facts import FactGroup
    from reviewer.promotion.views import QueueRow

CACHED_ROWS = 2_000
TRUSTED = "Trusted state"

Fetch = Callable[[Sequence[int]], "list[QueueRow]"]


class GroupHead(Struct, frozen=True):
    """The line above a group."""

    title: str
    layer: str
    count: int


class _Group(Struct, frozen=True):
    head: GroupHead
    keys: Sequence[int]
    """Ids of rows; of trusted state the ids of values."""


class StateModel:
    """Trusted state, then entities and memories by type; the cursor is never on a heading."""

    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch
        self._rows: dict[int, QueueRow] = {}
        self._states: dict[int, StateView] = {}
        self._groups: list[_Group] = []
        self._starts: list[int] = []
        self.total = 0
        self.cursor = 0

    def load(self, states: Sequence[StateView], groups: Sequence[FactGroup]) -> None:
        """Show other rows; the cursor stays on its row if that is still listed."""
        here, place = self.current_key, self.cursor
        self._rows.clear()
        self._states = {state.id: state for state in states}
        shown = [_Group(GroupHead(TRUSTED, "L3", len(states)), [state.id for state in states])]
        for group in groups:
            layer = "L2" if group.kind == "entity" else "L1"
            shown.append(_Group(GroupHead(group.type, layer, len(group.ids)), group.ids))
        self._groups = [each for each in shown if each.keys]
        self._starts, self.total = [], 0
        for each in self._groups:
            self._starts.append(self.total)
            self.total += len(each.keys) + 1
        found = self.index_of(*here) if here is not None else None
        if found is None:
            found = self.nearest(min(place, max(self.total - 1, 0)), 1)
        self.cursor = found or 0

    # rows

    def _at(self, index: int) -> tuple[_Group, int] | None:
        """The group of a row and the place in it; -1 is its heading."""
        if not 0 <= index < self.total:
            return None
        which = bisect_right(self._starts, index) - 1
        return self._groups[which], index - self._starts[which] - 1

    def row(self, index: int) -> GroupHead | StateView | QueueRow | None:
        """A heading or a fact; None past the end, or for a row that was deleted."""
        found = self._at(index)
        if found is None:
            return None
        group, place = found
        if place < 0:
            return group.head
        key = group.keys[place]
        if group.head.layer == "L3":
            return self._states[key]
        if key not in self._rows:
            self.window(index, index + 1)
        return self._rows.get(key)

    def window(self, start: int, stop: int) -> None:
        """Read the rows of a window that are not known yet, together."""
        missing = []
        for index in range(max(start, 0), min(stop, self.total)):
            found = self._at(index)
            if found is None or found[1] < 0 or found[0].head.layer == "L3":
                continue
            key = found[0].keys[found[1]]
            if key not in self._rows:
                missing.append(key)
        if missing:
            for key in list(self._rows)[: max(len(self._rows) + len(missing) - CACHED_ROWS, 0)]:
                del self._rows[key]
            for row in self._fetch(missing):
                self._rows[row.id] = row

    def head_above(self, index: int) -> GroupHead | None:
        found = self._at(index)
        return found[0].head if found else None

    @property
    def current(self) -> StateView | QueueRow | None:
        row = self.row(self.cursor)
        return None if isinstance(row, GroupHead) else row

    @property
    def current_key(self) -> tuple[bool, int] | None:
        """(whether the fact is trusted state, its id)."""
        found = self._at(self.cursor)
        if found is None or found[1] < 0:
            return None
        return found[0].head.layer == "L3", found[0].keys[found[1]]

    def index_of(self, trusted: bool, key: int) -> int | None:
        """The row of a fact."""
        for start, group in zip(self._starts, self._groups, strict=True):
            if (group.head.layer == "L3") != trusted:
                continue
            try:
                return start + 1 + group.keys.index(key)
            except ValueError:
                continue
        return None

    def index_of_state(self, project: str, key: str) -> int | None:
        """The row of a key of trusted state."""
        for number, state in self._states.items():
            if (state.project, state.key) == (project, key):
                return self.index_of(True, number)
        return None

    # moving

    def nearest(self, index: int, step: int) -> int | None:
        """The row at `index`, or for a heading the nearest fact, first in the direction `step`."""
        if not self.total:
            return None
        at = max(0, min(index, self.total - 1))
        if at not in self._starts:
            return at
        return at - 1 if step < 0 and at > 0 else at + 1

    @property
    def place(self) -> tuple[int, int]:
        """(the number of the row under the cursor, how many there are), headings not counted."""
        heads = bisect_right(self._starts, self.cursor)
        return self.cursor + 1 - heads, self.total - len(self._starts)


def states_with(states: Sequence[StateView], text: str) -> list[StateView]:
    """The values whose key, value or note have every word of a filter; none for field filters."""
    words = text.casefold().replace('"', " ").split()
    if any(sign in word for word in words for sign in (":", "<", ">", "=")):
        return []
    wanted = [word for word in words if not word.startswith("-")]
    unwanted = [word[1:] for word in words if word.startswith("-") and word[1:]]
    found = []
    for state in states:
        words_in = f"{state.key} {state.value} {state.note}".casefold()
        if all(word in words_in for word in wanted) and not any(
            word in words_in for word in unwanted
        ):
            found.append(state)
    return found
