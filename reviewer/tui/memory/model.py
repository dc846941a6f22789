"""The list of the Memory screen, without widgets: trusted state, then memories and entities."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from reviewer.text.numerals import count
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
    kind: str = "state"


class Facts(Struct, frozen=True):
    """The data of the list, as read. `lost`: calls lost to the failures that the memories are
    about."""

    states: Sequence[StateView]
    ids: Sequence[int]
    uses: Sequence[UseCount]
    lost: int
    left_out: frozenset[int]
    """Memories that are in no packet."""


class FactModel(RowModel["TrustedRow | QueueRow"]):
    """Trusted state, then memories and entities by their worth."""

    def __init__(self, fetch: Callable[[Sequence[int]], list[QueueRow]]) -> None:
        super().__init__(self._read_facts)
        self._fetch_memories = fetch
        self._states: dict[int, StateView] = {}
        self.uses: Mapping[int, UseCount] = {}
        """Memory id -> its use; only for listed memories that were used."""
        self.lost = 0
        self.left_out: frozenset[int] = frozenset()

    def _read_facts(self, ids: Sequence[int]) -> list[TrustedRow | QueueRow]:
        trusted = [TrustedRow(each, self._states[each]) for each in ids if each < 0]
        return [*trusted, *self._fetch_memories([each for each in ids if each > 0])]

    def load(self, found: Facts, text: str) -> None:
        """Replace the rows; the cursor stays on its row if it is still listed."""
        here, listed = self.current_id, set(found.ids)
        self.forget()
        used = [each for each in found.uses if each.used and each.memory in listed]
        used.sort(key=lambda use: use.worth, reverse=True)
        self.uses = {each.memory: each for each in used}
        self.lost, self.left_out = found.lost, found.left_out
        self._states = {-each.id: each for each in states_with(found.states, text)}
        unused = (number for number in found.ids if number not in self.uses)
        self.ids = array("q", (*self._states, *self.uses, *unused))
        at = None if here is None else self.index_of([here])
        self.cursor = max(min(self.cursor, len(self.ids) - 1), 0) if at is None else at

    @property
    def summary(self) -> tuple[str, ...]:
        """What the memories are worth, in parts, the most important first."""
        memories = len(self.ids) - len(self._states)
        if not memories:
            return ()
        found, uses = count(memories, "memory", "memories"), self.uses.values()
        if not uses:
            cost = (
                f"not knowing {'it' if memories == 1 else 'them'} cost {count(self.lost, 'call')}"
            )
            return found, cost if self.lost else "not used yet", "what this saves will show here"
        used, held, broken = (sum(getattr(e, f) for e in uses) for f in ("used", "held", "broken"))
        calls, unused = round(sum(each.saved for each in uses)), memories - len(uses)
        return (
            found,
            f"{count(used, 'use')}, {held:,} held",
            f"about {count(calls, 'call')} saved" if calls else "",
            f"{broken:,} came back" if broken else "",
            f"{unused:,} unused" if unused else "",
        )


OUT_OF_PACKETS, INTO_PACKETS = "out", "in"


def ways_out(engine: Engine, memory: int, signs: Glyphs) -> list[Option]:
    """How a memory or entity may be taken out, or into packets again."""
    from reviewer.recall.moments import Moment, MomentKind  # late: it compiles patterns

    both = (MomentKind.ALWAYS, MomentKind.ONLY)
    moments = [each for each in engine.recall.moments(memory) if each.kind not in both]
    if memory in engine.recall.left_out(None):
        words = moment_words(moments, signs)
        packets = Option(INTO_PACKETS, "Put it into packets again", f"then {words}")
    else:
        words = moment_words([*moments, Moment(MomentKind.ONLY)], signs)
        packets = Option(OUT_OF_PACKETS, "Leave it out of packets", f"then {words}")
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
