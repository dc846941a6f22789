"""Allocating a token budget: caps for each section, then which items are shown and how.

Pure: costs come in as functions. Limits grow with the budget whatever the sizes of the
items are, so that a larger budget never shows fewer entries in full. What is left over in the
end goes to titles and short forms.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

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
    brief: bool = False
    """Shown whole or not at all."""


class ItemOutcome(Struct):
    """How an item is shown, and the rule behind it. `needed`: its cost, if it exceeded `left`."""

    state: State
    rule: Rule
    needed: int = 0
    left: int = 0


class SectionFill(Struct):
    """The outcome for each item by key, and what they cost together."""

    outcomes: dict[int, ItemOutcome]
    used: int = 0
    noted: bool = False
    """Whether the section has a list of titles."""


def full_cost(items: Sequence[ItemCosts], heading: int, limit: int) -> int:
    """Cost of all items in full with their heading, without superseded ones; 0 if there are none.

    Stops counting above `limit`.
    """
    needed = 0
    for item in items:
        if needed > limit:
            break
        if not item.superseded:
            needed += item.full() + (0 if needed else heading)
    return needed


def fill_in_full(
    items: Sequence[ItemCosts], room: int, heading: int, share: float, *, whole: bool
) -> SectionFill:
    """Choose the items that are shown in full.

    All of them if they fit into `room`; otherwise in order until `share` of the room is used. The
    first item that does not fit ends this, even if later ones are smaller. Pinned items come first,
    may use the whole room, and are skipped if they do not fit. With `whole`, everything fits, and
    superseded items are shown too.

    All other items are dropped for now; `add_titles` shows their titles if there is room.
    """
    filled = SectionFill({})
    if whole or full_cost(items, heading, room) <= room:
        cost = heading
        for item in items:
            if item.superseded and not whole:
                filled.outcomes[item.key] = ItemOutcome(State.DROPPED, Rule.SUPERSEDED)
            else:
                filled.outcomes[item.key] = ItemOutcome(State.FULL, Rule.ALL_FIT)
                cost += item.full()
        filled.used = cost if cost > heading else 0
        return filled
    limit = int(room * share)
    used, ended = heading, False
    for item in sorted(items, key=lambda item: not item.pinned):
        if item.superseded:
            filled.outcomes[item.key] = ItemOutcome(State.DROPPED, Rule.SUPERSEDED)
        elif ended:
            filled.outcomes[item.key] = ItemOutcome(State.DROPPED, Rule.BEHIND)
        elif used + (cost := item.full()) <= (room if item.pinned else limit):
            rule = Rule.PINNED if item.pinned else Rule.IN_ORDER
            filled.outcomes[item.key] = ItemOutcome(State.FULL, rule)
            used += cost
        else:
            left = (room if item.pinned else limit) - used
            filled.outcomes[item.key] = ItemOutcome(State.DROPPED, Rule.TOO_BIG, cost, max(left, 0))
            ended = not item.pinned
    filled.used = used if used > heading else 0
    return filled


def add_titles(
    filled: SectionFill, items: Sequence[ItemCosts], room: int, heading: int, noted: int
) -> None:
    """Show titles of the remaining items, in order, until one does not fit.

    If all of them fit, replace titles by short forms in the same way. `room` is that of the whole
    section.
    """
    rest = [item for item in items if filled.outcomes[item.key].state is State.DROPPED]
    rest = [item for item in rest if filled.outcomes[item.key].rule is not Rule.SUPERSEDED]
    used = filled.used
    for place, item in enumerate(rest):
        start = 0 if used else heading
        cost = start + item.title() + (0 if filled.noted else noted)
        if used + cost > room:
            for other in rest[place:]:
                filled.outcomes[other.key].rule = Rule.NO_ROOM
            break
        used += cost
        filled.noted = True
        filled.outcomes[item.key].state = State.TITLE
    else:
        used = _use_short_forms(filled, rest, room, used, noted)
    filled.used = used


def _use_short_forms(
    filled: SectionFill, rest: Sequence[ItemCosts], room: int, used: int, noted: int
) -> int:
    titles = len(rest)
    for item in rest:
        short = item.short()
        if short is None:
            continue
        cost = short - item.title() - (noted if titles == 1 else 0)
        if used + cost > room:
            break
        used += cost
        titles -= 1
        filled.outcomes[item.key].state = State.SHORT
    filled.noted = titles > 0
    return used


CAP_FIFTHS = {Section.TASKS: 2, Section.CONVENTIONS: 1}
"""Caps in fifths of the budget: 40 % and 20 %."""


def cap_percent(section: Section) -> int:
    """The cap of a section in percent of the budget."""
    return CAP_FIFTHS[section] * 20


FULL_SHARE = 0.8
"""If not all entries fit, this share of the room is for full entries, the rest for titles."""


class Demand(Struct, frozen=True):
    """The demand of a section.

    `heading` and `noted` are the costs of its headings; `size` in characters decides how decisions
    and learnings share what is left.
    """

    items: Sequence[ItemCosts]
    heading: int
    noted: int
    size: int = 0


class Allocation(Struct, frozen=True):
    """The share of a section: outcomes, and the tokens that it could have used."""

    filled: SectionFill
    max_tokens: int


def allocate(
    budget: int, tier_1: int, demands: Mapping[Section, Demand]
) -> dict[Section, Allocation]:
    """What each section shows within `budget` tokens, of which `tier_1` are already used.

    Never uses more than `budget - tier_1`, or 0 if that is negative.
    """
    free = max(budget - tier_1, 0)
    allocations: dict[Section, Allocation] = {}
    left = free
    reserved = 0  # in fifths of a token, to avoid rounding errors
    for section, fifths in CAP_FIFTHS.items():
        each = demands[section]
        room = max(min(budget * fifths // 5, (free * 5 - reserved) // 5), 0)
        needed = _cost_of_all(each, room + 1)
        whole = needed <= room
        if not whole:
            needed = full_cost(each.items, each.heading, room + 1)
        reserved += min(budget * fifths, max(free * 5 - reserved, 0), needed * 5)
        share = FULL_SHARE if section is Section.TASKS else 1.0
        filled = fill_in_full(each.items, room, each.heading, share, whole=whole)
        add_titles(filled, each.items, room, each.heading, each.noted)
        allocations[section] = Allocation(filled, room)
        left -= filled.used
    pool = max((free * 5 - reserved) // 5, 0)
    return allocations | _scored(pool, left, {section: demands[section] for section in SCORED})


def _scored(pool: int, left: int, demands: Mapping[Section, Demand]) -> dict[Section, Allocation]:
    """Decisions and learnings: full entries from the pool, then titles from whatever is left."""
    whole = sum(_cost_of_all(each, pool + 1) for each in demands.values()) <= pool
    rooms = _rooms(pool, demands)
    filled = {
        section: fill_in_full(each.items, rooms[section], each.heading, FULL_SHARE, whole=whole)
        for section, each in demands.items()
    }
    left -= sum(each.used for each in filled.values())
    sizes = sum(each.size for each in demands.values()) or 1
    allocations: dict[Section, Allocation] = {}
    for section, each in demands.items():
        last = section is SCORED[-1]
        more = left if last else left * each.size // sizes
        room = filled[section].used + more
        before = filled[section].used
        add_titles(filled[section], each.items, room, each.heading, each.noted)
        left -= filled[section].used - before
        allocations[section] = Allocation(filled[section], max(room, rooms[section]))
    return allocations


def _rooms(pool: int, demands: Mapping[Section, Demand]) -> dict[Section, int]:
    """The pool shared in proportion to size; what one section does not need goes to the other."""
    first, second = demands
    sizes = demands[first].size + demands[second].size
    rooms = {first: pool * demands[first].size // sizes if sizes else 0}
    rooms[second] = pool - rooms[first]
    for one, other in ((first, second), (second, first)):
        needed = full_cost(demands[one].items, demands[one].heading, rooms[one] + 1)
        if needed <= rooms[one]:
            return {one: needed, other: pool - needed}
    return rooms


def _cost_of_all(demand: Demand, limit: int) -> int:
    """Cost of all items in full, superseded ones too; stops counting above `limit`."""
    needed = demand.heading if demand.items else 0
    for item in demand.items:
        if needed > limit:
            break
        needed += item.full()
    return needed


TASK_FULL_SHARE = 1 / 3
"""With a task, this share of the room is for full entries ..."""
TASK_SHORT_SHARE = 0.88
"""... up to this share short forms follow, and the rest is for titles."""


def allocate_in_order(
    budget: int, tier_1: int, demands: Mapping[Section, Demand], best_first: Sequence[int]
) -> dict[Section, Allocation]:
    """What each section shows if items of all sections compete for the room.

    `best_first`: keys of the items, which are full first, then short, then titles; brief ones are
    full or left out. The first one that does not fit ends each of these, so that no later one jumps
    the queue; a section at its ceiling ends for itself. What is left makes short forms of titles,
    then full items of short forms. Never uses more than `budget - tier_1`.
    """
    return _Contest(budget, tier_1, demands).run(best_first)


class _Contest:
    """The room, and what each section has used of it."""

    def __init__(self, budget: int, tier_1: int, demands: Mapping[Section, Demand]) -> None:
        self._room = max(budget - tier_1, 0)
        self._left = self._room
        self._demands = demands
        self._fills = {
            section: SectionFill(
                {
                    each.key: ItemOutcome(State.DROPPED, _rule_at_first(each))
                    for each in demand.items
                }
            )
            for section, demand in demands.items()
        }
        self._ceilings = {
            section: min(budget * CAP_FIFTHS[section] // 5, self._room)
            if section in CAP_FIFTHS
            else self._room
            for section in demands
        }
        self._items = {
            each.key: (section, each)
            for section, demand in demands.items()
            for each in demand.items
        }

    def run(self, best_first: Sequence[int]) -> dict[Section, Allocation]:
        order = [key for key in best_first if key in self._items]
        pinned = [key for key in order if self._items[key][1].pinned]
        others = [key for key in order if not self._items[key][1].pinned]
        for key in pinned:
            self._put(key, State.FULL, Rule.PINNED, self._room)
        current = [key for key in others if not self._items[key][1].superseded]
        whole = [key for key in current if self._items[key][1].brief]
        parted = [key for key in current if not self._items[key][1].brief]
        self._put_all(parted, State.FULL, Rule.IN_ORDER, int(self._room * TASK_FULL_SHARE))
        self._put_all(parted, State.SHORT, Rule.SHORTER, int(self._room * TASK_SHORT_SHARE))
        self._put_all(whole, State.FULL, Rule.IN_ORDER, self._room)
        titled = [key for key in order if not self._items[key][1].brief]
        if self._put_all(titled, State.TITLE, Rule.SHORTER, self._room) and self._put_all(
            parted, State.SHORT, Rule.SHORTER, self._room
        ):
            self._put_all(parted, State.FULL, Rule.IN_ORDER, self._room)
        return {
            section: Allocation(self._fills[section], self._ceilings[section])
            for section in self._demands
        }

    def _put_all(self, keys: Sequence[int], state: State, rule: Rule, limit: int) -> bool:
        """Show items in a form until one does not fit, or only its section is at its ceiling.

        Returns whether the room was enough.
        """
        closed: set[Section] = set()
        for key in keys:
            section = self._items[key][0]
            if _RANK[self._state(key)] >= _RANK[state] or section in closed:
                continue
            if self._put(key, state, rule, limit):
                continue
            if self._outcome(key).rule is not Rule.CEILING:
                return False
            closed.add(section)
        return True

    def _put(self, key: int, state: State, rule: Rule, limit: int) -> bool:
        """Show an item in a form if there is room, otherwise note what it needed."""
        section, item = self._items[key]
        demand, filled = self._demands[section], self._fills[section]
        cost = self._cost(key, state)
        if cost is None:  # without a short form
            state, cost, rule = State.FULL, item.full(), Rule.WHOLE
        more = cost - (self._cost(key, self._state(key)) or 0)
        more += 0 if filled.used else demand.heading
        noted = state is State.TITLE and not filled.noted
        more += demand.noted if noted else 0
        in_section = self._ceilings[section] - filled.used
        in_all = limit - (self._room - self._left)
        if more > min(in_section, in_all):
            if state is not State.TITLE or self._state(key) is State.DROPPED:
                why = Rule.CEILING if more > in_section and more <= in_all else Rule.TOO_BIG
                now = self._outcome(key)
                now.rule, now.needed, now.left = why, cost, max(min(in_section, in_all), 0)
            return False
        filled.used += more
        filled.noted |= noted
        self._left -= more
        before = self._outcome(key)
        filled.outcomes[key] = ItemOutcome(state, rule, before.needed, before.left)
        return True

    def _outcome(self, key: int) -> ItemOutcome:
        return self._fills[self._items[key][0]].outcomes[key]

    def _state(self, key: int) -> State:
        return self._outcome(key).state

    def _cost(self, key: int, state: State) -> int | None:
        item = self._items[key][1]
        match state:
            case State.FULL:
                return item.full()
            case State.SHORT:
                return item.short()
            case State.TITLE:
                return item.title()
        return 0


def _rule_at_first(item: ItemCosts) -> Rule:
    return Rule.SUPERSEDED if item.superseded else Rule.NO_ROOM


_RANK = {State.DROPPED: 0, State.TITLE: 1, State.SHORT: 2, State.FULL: 3}
