"""The list of the Memory screen as values: trusted state, then what was promoted."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from reviewer.tui.kit.row_model import RowModel

if TYPE_CHECKING:
    from reviewer.promotion.decisions.trusted_state import StateView
    from reviewer.promotion.views import QueueRow
    from reviewer.recall.service import UseCount


class TrustedRow(Struct, frozen=True):
    """A key of trusted state. Its number in the list is below 0, where no memory has one."""

    id: int
    state: StateView


class FactModel(RowModel["TrustedRow | QueueRow"]):
    """Trusted state, then memories and entities, the last used or decided first."""

    def __init__(self, fetch: Callable[[Sequence[int]], list[QueueRow]]) -> None:
        super().__init__(self._read_facts)
        self._fetch_memories = fetch
        self._states: dict[int, StateView] = {}
        self.uses: Mapping[int, UseCount] = {}
        """By memory; one that was never used has none."""

    def _read_facts(self, ids: Sequence[int]) -> list[TrustedRow | QueueRow]:
        trusted = [TrustedRow(each, self._states[each]) for each in ids if each < 0]
        return [*trusted, *self._fetch_memories([each for each in ids if each > 0])]

    def load(
        self, states: Sequence[StateView], ids: array[int], uses: Mapping[int, UseCount]
    ) -> None:
        """Show other rows; the cursor stays on its row if that is still listed."""
        here = self.current_id
        self.forget()
        self.uses = uses
        self._states = {-each.id: each for each in states}
        self.ids = array("q", self._states) + ids
        found = None if here is None else self.index_of([here])
        self.cursor = max(min(self.cursor, len(self.ids) - 1), 0) if found is None else found

    def number_of(self, project: str, key: str) -> int:
        """The number of a key of trusted state; 0 for one that is not listed."""
        wanted = (project, key)
        named = self._states.items()
        return next((at for at, each in named if (each.project, each.key) == wanted), 0)


def states_with(states: Sequence[StateView], text: str) -> list[StateView]:
    """The values whose key, value or note have every word of a filter."""
    words = text.casefold().replace('"', " ").split()
    return [
        each
        for each in states
        if all(word in f"{each.key} {each.value} {each.note}".casefold() for word in words)
    ]
