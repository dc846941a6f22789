"""Allocating a token budget: caps for each section, then which items are shown and how.

Pure: costs come in as functions. Caps depend on the budget only, not on the sizes of the items, so
that a larger budget never shows fewer entries in full. The remaining tokens go to titles and short
forms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct

from reviewer.packets.values import SCORED, Rule, Section, State


class ItemCosts(Struct, frozen=True):
    """What an item costs in each form, with the heading of its group; see `Piece.cost`.

    `short` returns None for an item without a short form. `key` identifies the item for the caller.
    """

    key: int
    full: Callable[[], int]
    short: Callable[[], int | None]
    title: Callable[[], int]
    pinned: bool = False
    superseded: bool = False
    all_or_nothing: bool = False
    """Shown whole or not at all."""


class ItemOutcome(Struct):
    """How an item is shown, and the rule behind it. `needed`: its cost, if it exceeded `left`."""

    state: State
    rule: Rule
    needed: int = 0
    left: int = 0


class Demand(Struct, frozen=True):
    """The demand of a section.

    `heading` and `noted` are the costs of its headings; `size` in characters determines how
    decisions and learnings share the rest.
    """

    items: Sequence[ItemCosts]
    heading: int
    noted: int
    size: int = 0

    def cost(self, limit: int, *, superseded: bool = False) -> int:
        """Cost of all items in full with their heading; stops counting above `limit`."""
        needed = 0
        for item in self.items:
            if needed > limit:
                break
            if superseded or not item.superseded:
                needed += item.full() + (0 if needed else self.heading)
        return needed


class Allocation(Struct, frozen=True):
    """The share of a section: outcomes by key, and its limit in tokens."""

    outcomes: dict[int, ItemOutcome]
    max_tokens: int


CAP_FIFTHS = {Section.TASKS: 2, Section.CONVENTIONS: 1}
"""Caps in fifths of the budget: 40 % and 20 %."""


def cap_percent(section: Section) -> int:
    """The cap of a section in percent of the budget."""
    return CAP_FIFTHS[section] * 20


FULL_SHARE = 0.8
"""If not all entries fit, the share of the room for full entries; the rest is for titles."""
TASK_FULL_SHARE = 1 / 3
"""With a task, the share of the room for full entries ..."""
TASK_SHORT_SHARE = 0.88
"""... and for full entries and short forms; the rest is for titles."""


def allocate(
    budget: int, tier_1: int, demands: Mapping[Section, Demand]
) -> dict[Section, Allocation]:
    """The outcome of each section within `budget` tokens, of which `tier_1` are already used: tasks
    and conventions up to their caps, then decisions and learnings in proportion to their size.

    Never uses more than `budget - tier_1`, or 0 if that is negative.
    """
    room = _Room(budget, tier_1, demands)
    free, reserved = room.whole, 0  # in fifths of a token, to avoid rounding errors
    for section, fifths in CAP_FIFTHS.items():
        most = max(min(budget * fifths // 5, (free * 5 - reserved) // 5), 0)
        needed = demands[section].cost(most + 1, superseded=True)
        if not (everything := needed <= most):
            needed = demands[section].cost(most + 1)
        reserved += min(budget * fifths, max(free * 5 - reserved, 0), needed * 5)
        room.fill(section, most, FULL_SHARE if section is Section.TASKS else 1, everything)
        room.add_titles(section, most)
    pool = max((free * 5 - reserved) // 5, 0)
    scored = {section: demands[section] for section in SCORED}
    costs = (each.cost(pool + 1, superseded=True) for each in scored.values())
    everything = sum(costs) <= pool
    shares = _shares(pool, scored)
    for section, most in shares.items():
        room.fill(section, most, FULL_SHARE, everything)
    left, sizes = room.left, sum(each.size for each in scored.values()) or 1
    for section, demand in scored.items():
        more = room.left if section is SCORED[-1] else left * demand.size // sizes
        room.add_titles(section, room.used[section] + more, at_least=shares[section])
    return room.allocations()


def _shares(pool: int, demands: Mapping[Section, Demand]) -> dict[Section, int]:
    """The pool shared in proportion to size; one section's surplus goes to the other."""
    first, second = demands
    sizes = demands[first].size + demands[second].size
    shares = {first: pool * demands[first].size // sizes if sizes else 0}
    shares[second] = pool - shares[first]
    for one, other in ((first, second), (second, first)):
        needed = demands[one].cost(shares[one] + 1)
        if needed <= shares[one]:
            return {one: needed, other: pool - needed}
    return shares


def allocate_in_order(
    budget: int, tier_1: int, demands: Mapping[Section, Demand], best_first: Sequence[int]
) -> dict[Section, Allocation]:
    """The outcome of each section if items of all sections compete for the room.

    `best_first`: keys of the items, which are full first, then short, then titles;
    all-or-nothing items are full or dropped. Each of these rounds ends at the first item that does
    not fit, so that no later one jumps the queue; a section at its ceiling ends by itself. The rest
    upgrades titles to short forms, then short forms to full items. Never uses more than
    `budget - tier_1`.
    """
    room = _Room(budget, tier_1, demands)
    order = [room.items[key][1] for key in best_first if key in room.items]
    room.put_pinned(order)
    others = [item for item in order if not item.pinned]
    current = [item for item in others if not item.superseded]
    whole = [item for item in current if item.all_or_nothing]
    parted = [item for item in current if not item.all_or_nothing]
    room.put_all(parted, State.FULL, Rule.IN_ORDER, int(room.whole * TASK_FULL_SHARE))
    room.put_all(parted, State.SHORT, Rule.SHORTER, int(room.whole * TASK_SHORT_SHARE))
    room.put_all(whole, State.FULL, Rule.IN_ORDER)
    titled = [item for item in order if not item.all_or_nothing]
    if room.put_all(titled, State.TITLE, Rule.SHORTER) and room.put_all(
        parted, State.SHORT, Rule.SHORTER
    ):
        room.put_all(parted, State.FULL, Rule.IN_ORDER)
    return room.allocations()


class _Room:
    """The room for items, and its use by section."""

    def __init__(self, budget: int, tier_1: int, demands: Mapping[Section, Demand]) -> None:
        self.whole = self.left = max(budget - tier_1, 0)
        self.used = dict.fromkeys(demands, 0)
        self._demands = demands
        self._noted: set[Section] = set()
        """Sections with a list of titles."""
        self.ceilings = {
            section: min(budget * CAP_FIFTHS.get(section, 5) // 5, self.whole)
            for section in demands
        }
        self.items = {
            item.key: (section, item)
            for section, demand in demands.items()
            for item in demand.items
        }
        self._outcomes = {
            key: ItemOutcome(State.DROPPED, Rule.SUPERSEDED if item.superseded else Rule.NO_ROOM)
            for key, (_, item) in self.items.items()
        }

    def allocations(self) -> dict[Section, Allocation]:
        """The outcome of each section."""
        return {
            section: Allocation(
                {item.key: self._outcomes[item.key] for item in demand.items},
                self.ceilings[section],
            )
            for section, demand in self._demands.items()
        }

    def fill(self, section: Section, most: int, share: float, everything: bool) -> None:
        """Show items of a section in full: all of them if they fit into `most` tokens (superseded
        ones only with `everything`); otherwise in order, until a share of that is used.
        """
        demand = self._demands[section]
        current = [item for item in demand.items if everything or not item.superseded]
        fits = everything or demand.cost(most) <= most
        self.ceilings[section] = self.whole if everything else most
        if not fits:
            self.put_pinned(current)
            self.ceilings[section] = int(most * share)
        self.put_all(current, State.FULL, Rule.ALL_FIT if fits else Rule.IN_ORDER)

    def add_titles(self, section: Section, most: int, *, at_least: int = 0) -> None:
        """Show titles of the rest of a section, in order; if all of them fit, then short forms.
        `most`: tokens of the whole section.
        """
        self.ceilings[section] = most
        rest = [item for item in self._demands[section].items if not item.superseded]
        if self.put_all(rest, State.TITLE, Rule.BEHIND) and not self._closed:
            self.put_all([item for item in rest if item.short()], State.SHORT, Rule.BEHIND)
        self.ceilings[section] = max(most, at_least)

    def put_pinned(self, items: Iterable[ItemCosts]) -> None:
        """Show pinned items in full while there is room."""
        for item in items:
            if item.pinned:
                self._put(item, State.FULL, Rule.PINNED, self.whole)

    def put_all(
        self, items: Sequence[ItemCosts], state: State, rule: Rule, limit: int | None = None
    ) -> bool:
        """Show items in a form until one does not fit (with `limit`: into its section).

        Returns whether the room was enough.
        """
        self._closed: set[Section] = set()
        for item in items:
            section = self.items[item.key][0]
            if _RANK[self._outcomes[item.key].state] >= _RANK[state] or section in self._closed:
                continue
            if self._put(item, state, rule, self.whole if limit is None else limit):
                continue
            if self._outcomes[item.key].rule is not Rule.CEILING:
                return False
            self._closed.add(section)
        return True

    def _put(self, item: ItemCosts, state: State, rule: Rule, limit: int) -> bool:
        """Show an item in a form if it fits; otherwise record its cost."""
        section = self.items[item.key][0]
        demand, before = self._demands[section], self._outcomes[item.key]
        cost = _cost(item, state)
        if cost is None or (state is State.SHORT and cost == item.full()):  # has no shorter form
            state, cost, rule = State.FULL, item.full(), Rule.WHOLE
        noted = state is State.TITLE and section not in self._noted
        more = cost - (_cost(item, before.state) or 0)
        more += (0 if self.used[section] else demand.heading) + (demand.noted if noted else 0)
        in_section = self.ceilings[section] - self.used[section]
        in_all = limit - (self.whole - self.left)
        if more > min(in_section, in_all):
            if state is not State.TITLE or before.state is State.DROPPED:
                before.rule = Rule.CEILING if more > in_section and more <= in_all else Rule.TOO_BIG
                before.needed, before.left = cost, max(min(in_section, in_all), 0)
            return False
        self.used[section] += more
        self.left -= more
        if noted:
            self._noted.add(section)
        self._outcomes[item.key] = ItemOutcome(state, rule, before.needed, before.left)
        return True


def _cost(item: ItemCosts, state: State) -> int | None:
    match state:
        case State.FULL:
            return item.full()
        case State.SHORT:
            return item.short()
        case State.TITLE:
            return item.title()
    return 0


_RANK = {State.DROPPED: 0, State.TITLE: 1, State.SHORT: 2, State.FULL: 3}
