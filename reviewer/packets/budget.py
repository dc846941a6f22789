"""Who gets how many tokens: tiers and caps (`smart-retrieval.md`, Section Priority Tiers).

Every limit grows with the budget whatever the items' sizes are, so that a larger budget never
shows fewer entries in full: lower tiers are given what the caps of higher ones leave, not what
their items happen to leave. What is left over in the end goes to titles and short forms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from reviewer.packets.filling import Filled, Line, fill, note, total
from reviewer.packets.values import SCORED, Section

FIFTHS = {Section.TASKS: 2, Section.CONVENTIONS: 1}
"""Caps in fifths of the budget: 40 % and 20 %."""

SHARE = 0.8
"""This share of a section's room is for full entries where not all fit; the rest is for titles."""


class Wanted(Struct, frozen=True):
    """A section before it is filled. `size` in characters decides how decisions and learnings
    share what is left; `heading` and `noted` are the costs of its headings.
    """

    lines: Sequence[Line]
    heading: int
    noted: int
    size: int = 0


class Given(Struct, frozen=True):
    """A section after it was filled, and the most that it could have used."""

    filled: Filled
    max_tokens: int


def allocate(budget: int, tier_1: int, wanted: Mapping[Section, Wanted]) -> dict[Section, Given]:
    """What each section shows within `budget` tokens, of which `tier_1` are gone already.

    Never uses more than `budget - tier_1` (nothing, where that is negative).
    """
    free = max(budget - tier_1, 0)
    given: dict[Section, Given] = {}
    left = free
    reserved = 0  # in fifths of a token, so that nothing is lost or gained by rounding
    for section, fifths in FIFTHS.items():
        each = wanted[section]
        room = max(min(budget * fifths // 5, (free * 5 - reserved) // 5), 0)
        needed = total(each.lines, each.heading, room + 1)
        reserved += min(budget * fifths, max(free * 5 - reserved, 0), needed * 5)
        share = SHARE if section is Section.TASKS else 1.0
        filled = fill(each.lines, room, each.heading, share, whole=False)
        note(filled, each.lines, room, each.heading, each.noted)
        given[section] = Given(filled, room)
        left -= filled.used
    pool = max((free * 5 - reserved) // 5, 0)
    return given | _scored(pool, left, {section: wanted[section] for section in SCORED})


def _scored(pool: int, left: int, wanted: Mapping[Section, Wanted]) -> dict[Section, Given]:
    """Decisions and learnings: full entries from the pool, the rest from all that is left."""
    whole = sum(_everything(each, pool + 1) for each in wanted.values()) <= pool
    rooms = _rooms(pool, wanted)
    filled = {
        section: fill(each.lines, rooms[section], each.heading, SHARE, whole=whole)
        for section, each in wanted.items()
    }
    left -= sum(each.used for each in filled.values())
    sizes = sum(each.size for each in wanted.values()) or 1
    given: dict[Section, Given] = {}
    for section, each in wanted.items():
        last = section is SCORED[-1]
        more = left if last else left * each.size // sizes
        room = filled[section].used + more
        before = filled[section].used
        note(filled[section], each.lines, room, each.heading, each.noted)
        left -= filled[section].used - before
        given[section] = Given(filled[section], max(room, rooms[section]))
    return given


def _rooms(pool: int, wanted: Mapping[Section, Wanted]) -> dict[Section, int]:
    """The pool in proportion to what there is; what one does not need goes to the other."""
    first, second = wanted
    sizes = wanted[first].size + wanted[second].size
    rooms = {first: pool * wanted[first].size // sizes if sizes else 0}
    rooms[second] = pool - rooms[first]
    for one, other in ((first, second), (second, first)):
        needed = total(wanted[one].lines, wanted[one].heading, rooms[one] + 1)
        if needed <= rooms[one]:
            return {one: needed, other: pool - needed}
    return rooms


def _everything(wanted: Wanted, limit: int) -> int:
    """What all lines need in full, superseded ones too; stops counting above `limit`."""
    needed = wanted.heading if wanted.lines else 0
    for line in wanted.lines:
        if needed > limit:
            break
        needed += line.full()
    return needed
