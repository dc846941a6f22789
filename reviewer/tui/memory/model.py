"""The list of the Memory screen, without widgets: trusted state, then memories and entities."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from reviewer.text.numerals import count, times
from reviewer.tui.evidence.structure import moment_words
from reviewer.tui.kit.option import Option
from reviewer.tui.kit.row_model import RowModel, has_words

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
    """The data of the list, as read. `ids`: what the filter lists of `every` memory; `lost`: calls
    lost to the failures that these are about."""

    states: Sequence[StateView]
    ids: Sequence[int]
    every: Sequence[int]
    uses: Sequence[UseCount]
    lost: int
    left_out: frozenset[int]
    """Memories that are in no packet."""
    pinned: frozenset[int]


class FactModel(RowModel["TrustedRow | QueueRow"]):
    """Trusted state, then memories and entities by their worth."""

    def __init__(self, fetch: Callable[[Sequence[int]], list[QueueRow]]) -> None:
        super().__init__(self._read_facts)
        self._fetch_memories = fetch
        self._states: dict[int, StateView] = {}
        self.uses: Mapping[int, UseCount] = {}
        """Memory id -> its use; only for memories that agents got."""
        self.every = 0
        """The number of memories, with and without a filter."""
        self.lost = 0
        self.left_out: frozenset[int] = frozenset()
        self.pinned: frozenset[int] = frozenset()

    def _read_facts(self, ids: Sequence[int]) -> list[TrustedRow | QueueRow]:
        trusted = [TrustedRow(each, self._states[each]) for each in ids if each < 0]
        return [*trusted, *self._fetch_memories([each for each in ids if each > 0])]

    def load(self, found: Facts, text: str) -> None:
        """Replace the rows; the cursor stays on its row if it is still listed."""
        here, listed, every = self.current_id, set(found.ids), set(found.every)
        self.forget()
        used = [each for each in found.uses if each.given and each.memory in every]
        used.sort(key=lambda use: use.worth, reverse=True)
        self.uses = {each.memory: each for each in used}
        self.every, self.lost = len(every), found.lost
        self.left_out, self.pinned = found.left_out, found.pinned
        self._states = {-each.id: each for each in states_with(found.states, text)}
        used_here = (number for number in self.uses if number in listed)
        unused = (number for number in found.ids if number not in self.uses)
        self.ids = array("q", (*self._states, *used_here, *unused))
        self.marks &= listed
        at = None if here is None else self.index_of([here])
        self.cursor = max(min(self.cursor, len(self.ids) - 1), 0) if at is None else at

    @property
    def summary(self) -> tuple[str, ...]:
        """What the memories are worth, in parts, the most important first."""
        if not self.every:
            return ()
        found = count(self.every, "memory", "memories")
        cost = f"{count(self.lost, 'wasted call')} before" if self.lost else ""
        if not self.uses:
            return found, cost, "not given yet"
        uses = self.uses.values()
        given, held = (sum(getattr(each, field) for each in uses) for field in ("given", "held"))
        broken = sum(each.broken + each.needed for each in uses)
        calls, never = round(sum(each.saved for each in uses)), self.every - len(uses)
        return (
            found,
            f"about {count(calls, 'call')} saved" if calls else "",
            f"given {times(given)}",
            f"helped {held:,}" if held else "",
            f"failed again {broken:,}" if broken else "",
            f"{never:,} never given" if never else "",
            cost,
        )

    def markable(self) -> Iterable[int]:
        return (number for number in self.ids if number > 0)

    def toggle_mark(self) -> None:
        if (self.current_id or 0) > 0:
            super().toggle_mark()


PACKETS = OUT_OF_PACKETS, INTO_PACKETS = "out", "in"


def ways_out(engine: Engine, memories: Sequence[int], signs: Glyphs) -> list[Option]:
    """How memories may be taken out, or a single one into packets again, or retired ones back."""
    queue = Option("queue", "Put back into the queue", "to decide again")
    if all(row.status == "invalid" for row in engine.queue.rows(memories)):
        return [Option("keep", "Put back into Memory", "agents get it again"), queue]
    ways = [Option("retire", "Retire", "no agent gets it; is:retired lists it"), queue]
    if len(memories) == 1:
        ways.insert(0, _packets(engine, memories[0], signs))
    return ways


def _packets(engine: Engine, memory: int, signs: Glyphs) -> Option:
    from reviewer.recall.moments import Moment, MomentKind  # late: it compiles patterns

    others = (MomentKind.ALWAYS, MomentKind.ONLY, MomentKind.PINNED)
    moments = [each for each in engine.recall.moments(memory) if each.kind not in others]
    if not any(each.value for each in moments):
        moments += engine.recall.moments(memory, derived=True)
    if memory in engine.recall.left_out(None):
        words = moment_words(moments, signs)
        return Option(INTO_PACKETS, "Put into packets again", f"then {words}")
    words = moment_words([*moments, Moment(MomentKind.ONLY)], signs)
    return Option(OUT_OF_PACKETS, "Leave out of packets", f"then {words}")


def take_out(engine: Engine, memories: Sequence[int], way: str) -> Done:
    """Retire memories, put them back into the queue, or leave one out of packets, or not any
    more."""
    match way:
        case "retire":
            return engine.triage.retire(memories)
        case "keep":
            return engine.triage.keep_again(memories)
        case "queue":
            return engine.triage.restore(memories)
    return engine.recall.leave_out(memories[0], out=way == OUT_OF_PACKETS)


def states_with(states: Sequence[StateView], text: str) -> list[StateView]:
    """The values that match a filter by key, value or note."""
    words = text.replace('"', " ")
    return [each for each in states if has_words(f"{each.key} {each.value} {each.note}", words)]
