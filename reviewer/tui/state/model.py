"""The list of the Memory screen, without widgets: trusted state, then memories and entities."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from reviewer.tui.evidence.structure import moment_words
from reviewer.tui.kit.option import Option
from reviewer.tui.kit.row_model import RowModel

if TYPE_CHECKING:
    from reviewer.engine import Engine
    from reviewer.promotion.decisions.trusted_state import StateView
    from reviewer.promotion.views import Done, QueueRow
    from reviewer.recall.service import UseCount
    from reviewer.tui.theme import Glyphs


class TrustedRow(Struct, frozen=True):
    """A key of trusted state. Its list id is negative, unlike those of memories."""

    id: int
    state: StateView


class FactModel(RowModel["TrustedRow | QueueRow"]):
    """Trusted state, then memories and entities, most recently used or decided first."""

    def __init__(self, fetch: Callable[[Sequence[int]], list[QueueRow]]) -> None:
        super().__init__(self._read_facts)
        self._fetch_memories = fetch
        self._states: dict[int, StateView] = {}
        self.uses: Mapping[int, UseCount] = {}
        """Memory id -> its use; only for used memories."""
        self.left_out: frozenset[int] = frozenset()
        """Memories that are in no packet."""

    def _read_facts(self, ids: Sequence[int]) -> list[TrustedRow | QueueRow]:
        trusted = [TrustedRow(each, self._states[each]) for each in ids if each < 0]
        return [*trusted, *self._fetch_memories([each for each in ids if each > 0])]

    def load(
        self,
        states: Sequence[StateView],
        ids: array[int],
        uses: Mapping[int, UseCount],
        left_out: frozenset[int],
    ) -> None:
        """Replace the rows; the cursor stays on its row if it is still listed."""
        here = self.current_id
        self.forget()
        self.uses, self.left_out = uses, left_out
        self._states = {-each.id: each for each in states}
        self.ids = array("q", self._states) + ids
        found = None if here is None else self.index_of([here])
        self.cursor = max(min(self.cursor, len(self.ids) - 1), 0) if found is None else found

    def number_of(self, project: str, key: str) -> int:
        """The list id of a key of trusted state; 0 if it is not listed."""
        wanted = (project, key)
        named = self._states.items()
        return next((at for at, each in named if (each.project, each.key) == wanted), 0)


OUT_OF_PACKETS, INTO_PACKETS = "out", "in"


def ways_out(engine: Engine, memory: int, signs: Glyphs) -> list[Option]:
    """How a memory or entity may be taken out, or into packets again."""
    moments = [e for e in engine.recall.moments(memory) if e.kind not in ("always", "only")]
    when = f"still recalled {moment_words(moments, signs)}"
    packets = Option(OUT_OF_PACKETS, "Leave it out of packets", when)
    if memory in engine.recall.left_out(None):
        packets = Option(INTO_PACKETS, "Put it into packets again", "it is in none now")
    return [packets, Option("queue", "Put it back into the queue", "no longer a memory")]


def take_out(engine: Engine, memory: int, way: str) -> Done:
    """Put a memory or entity back into the queue, or leave it out of packets, or not any more."""
    if way in (OUT_OF_PACKETS, INTO_PACKETS):
        return engine.recall.leave_out(memory, out=way == OUT_OF_PACKETS)
    return engine.triage.restore([memory])


def states_with(states: Sequence[StateView], text: str) -> list[StateView]:
    """The values that have every word of a filter in key, value or note."""
    words = text.casefold().replace('"', " ").split()
    return [
        each
        for each in states
        if all(word in f"{each.key} {each.value} {each.note}".casefold() for word in words)
    ]
