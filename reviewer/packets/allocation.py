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


class Outcome(Struct):
    """How an item is shown, and the rule behind it. `needed`: its cost, if it exceeded `left`."""

    state: State
    rule: Rule
    needed: int = 0
    left: int = 0


class SectionFill(Struct):
    """The outcome for each item by key, and what they cost together."""

    outcomes: dict[int, Outcome]
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
                filled.outcomes[item.key] = Outcome(State.DROPPED, Rule.SUPERSEDED)
            else:
                filled.outcomes[item.key] = Outcome(State.FULL, Rule.ALL_FIT)
                cost += item.full()
        filled.used = cost if cost > heading else 0
        return filled
    limit = int(room * share)
    used, ended = heading, False
    for item in sorted(items, key=lambda item: not item.pinned):
        if item.superseded:
            filled.outcomes[item.key] = Outcome(State.DROPPED, Rule.SUPERSEDED)
        elif ended:
            filled.outcomes[item.key] = Outcome(State.DROPPED, Rule.BEHIND)
        elif used + (cost := item.full()) <= (room if item.pinned else limit):
            rule = Rule.PINNED if item.pinned else Rule.IN_ORDER
            filled.outcomes[item.key] = Outcome(State.FULL, rule)
            used += cost
        else:
            left = (room if item.pinned else limit) - used
            filled.outcomes[item.key] = Outcome(State.DROPPED, Rule.TOO_BIG, cost, max(left, 0))
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
    """What a section asks for.

    `heading` and `noted` are the costs of its headings; `size` in characters decides how decisions
    and learnings share what is left.
    """

    items: Sequence[ItemCosts]
    heading: int
    noted: int
    size: int = 0


class Allocation(Struct, frozen=True):
    """What a section gets: outcomes, and the tokens that it could have used."""

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
        needed = full_cost(each.items, each.heading, room + 1)
        reserved += min(budget * fifths, max(free * 5 - reserved, 0), needed * 5)
        share = FULL_SHARE if section is Section.TASKS else 1.0
        filled = fill_in_full(each.items, room, each.heading, share, whole=False)
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
