"""Allocating a token budget: a cap for each section, then which items are shown and how.

Caps depend on the budget only, not on the sizes of the items, so that a larger budget never shows
fewer entries in full. The remaining tokens go to titles and short forms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice

from msgspec import Struct

from reviewer.packets.values import SCORED, Item, Rule, Section, State

CAP_FIFTHS = {Section.TASKS: 2, Section.CONVENTIONS: 1}
"""Caps in fifths of the budget: 40 % and 20 %."""

FULL_SHARE = 0.8
"""If not all entries fit, the share of the room for full entries; the rest is for titles."""
TASK_FULL_SHARE = 1 / 3
"""With a task, the share of the room for full entries ..."""
TASK_SHORT_SHARE = 0.88
"""... and for full entries and short forms; the rest is for titles."""

TRIED = 100
"""Dropped items to try in the remaining room; few, because an agent is waiting."""

_RANK = {State.DROPPED: 0, State.TITLE: 1, State.SHORT: 2, State.FULL: 3}


class ItemOutcome(Struct):
    """How an item is shown, and the rule behind it. `needed`: the tokens that it would have added
    in the form `tried`, if that exceeded `left`.
    """

    state: State
    rule: Rule
    needed: int = 0
    left: int = 0
    tried: State = State.FULL


class Room:
    """The tokens for items, and the form of each item in them.

    Items are numbers of `items`. `wanted`: the numbers of each section, in order of preference.
    `cost`: the tokens of an item in a form, None without that form. `headings`: the cost of each
    section's heading; `noted`: that of the heading above titles. `kept`: the tokens kept for the
    instruction about shortened items. `capped`: the caps are final; else what the other sections
    leave is for all. Never uses more than `tokens`, or with `kept` if none is shortened.
    """

    def __init__(
        self,
        items: Sequence[Item],
        wanted: Mapping[Section, Sequence[int]],
        cost: Callable[[int, State], int | None],
        *,
        budget: int,
        tokens: int,
        headings: Mapping[Section, int],
        noted: int,
        kept: int,
        capped: bool,
    ) -> None:
        self._items, self._wanted, self._cost = items, wanted, cost
        self._capped = capped
        self._headings, self._noted = headings, noted
        self._budget, self._kept = budget, kept
        self._whole = self._left = tokens
        self._used = dict.fromkeys(wanted, 0)
        self._titled: set[Section] = set()
        """Sections with a list of titles."""
        self._closed: set[Section] = set()
        """Sections in which an item did not fit, in the current round."""
        self.ceilings = self._caps()
        self.outcomes = {
            number: ItemOutcome(
                State.DROPPED, Rule.SUPERSEDED if items[number].superseded else Rule.NO_ROOM
            )
            for numbers in wanted.values()
            for number in numbers
        }

    def fill_by_section(self) -> None:
        """Tasks and conventions up to their caps, then decisions and learnings in proportion to
        their size.
        """
        free, reserved = self._whole, 0  # in fifths of a token, to avoid rounding errors
        for section, fifths in CAP_FIFTHS.items():
            cap = self._budget * fifths
            most = max(min(cap // 5, (free * 5 - reserved) // 5), 0)
            needed = self._cost_of(section, most, superseded=True)
            if not (everything := needed <= most):
                needed = self._cost_of(section, most)
            reserved += min(cap, max(free * 5 - reserved, 0), needed * 5)
            self._fill(section, most, FULL_SHARE if section is Section.TASKS else 1, everything)
            self._add_titles(section, most)
        pool = max((free * 5 - reserved) // 5, 0)
        everything = sum(self._cost_of(each, pool, superseded=True) for each in SCORED) <= pool
        sizes = {section: self._size(section) for section in SCORED}
        shares = self._shares(pool, sizes)
        for section, most in shares.items():
            self._fill(section, most, FULL_SHARE, everything)
        left, whole = self._left, sum(sizes.values()) or 1
        for section, size in sizes.items():
            more = self._left if section is SCORED[-1] else left * size // whole
            self._add_titles(section, self._used[section] + more, at_least=shares[section])

    def fill_in_order(self, best_first: Iterable[int]) -> None:
        """Items of all sections compete: full first, then short, then titles; all-or-nothing items
        are full or dropped.

        Each of these rounds ends at the first item that does not fit, so that no later one jumps
        the queue; a section at its ceiling ends by itself. The rest upgrades titles to short forms,
        then short forms to full items. Any tokens still left go to dropped items that fit.
        """
        order = [number for number in best_first if number in self.outcomes]
        self.ceilings = self._caps(capped=self._capped)  # as for leftovers: pins come first
        self._put_pinned(order)
        self.ceilings = self._caps()
        others = [number for number in order if not self._items[number].pinned]
        current = [number for number in others if not self._items[number].superseded]
        whole = [number for number in current if self._items[number].all_or_nothing]
        parted = [number for number in current if not self._items[number].all_or_nothing]
        self._put_all(parted, State.FULL, Rule.IN_ORDER, int(self._whole * TASK_FULL_SHARE))
        self._put_all(parted, State.SHORT, Rule.SHORTER, int(self._whole * TASK_SHORT_SHARE))
        self._put_all(whole, State.FULL, Rule.IN_ORDER)
        titled = [number for number in order if not self._items[number].all_or_nothing]
        if self._put_all(titled, State.TITLE, Rule.SHORTER) and self._put_all(
            parted, State.SHORT, Rule.SHORTER
        ):
            self._put_all(parted, State.FULL, Rule.IN_ORDER)
        self.ceilings = self._caps(capped=self._capped)
        self._put_each(whole, State.FULL, Rule.IN_ORDER)
        self._put_each(titled, State.TITLE, Rule.SHORTER)
        shown = {outcome.state for outcome in self.outcomes.values()}
        if shown.isdisjoint((State.SHORT, State.TITLE)):
            self._whole += self._kept
            self._left += self._kept
            self.ceilings = self._caps(capped=self._capped)
            self._put_pinned(order)
            self._put_each(whole, State.FULL, Rule.IN_ORDER)

    def _caps(self, *, capped: bool = True) -> dict[Section, int]:
        return {
            section: min(
                self._budget * (CAP_FIFTHS.get(section, 5) if capped else 5) // 5, self._whole
            )
            for section in self._wanted
        }

    def _cost_of(self, section: Section, limit: int, *, superseded: bool = False) -> int:
        """Cost of all items in full with their heading; stops counting above `limit`."""
        needed = 0
        for number in self._wanted[section]:
            if needed > limit:
                break
            if superseded or not self._items[number].superseded:
                needed += self._full(number) + (0 if needed else self._headings[section])
        return needed

    def _full(self, number: int) -> int:
        return self._cost(number, State.FULL) or 0

    def _size(self, section: Section) -> int:
        """Characters of a section, without superseded items."""
        current = (self._items[number] for number in self._wanted[section])
        return sum(len(each.text) + len(each.title) for each in current if not each.superseded)

    def _shares(self, pool: int, sizes: Mapping[Section, int]) -> dict[Section, int]:
        """The pool shared in proportion to size; one section's surplus goes to the other."""
        first, second = SCORED
        whole = sum(sizes.values())
        shares = {first: pool * sizes[first] // whole if whole else 0}
        shares[second] = pool - shares[first]
        for one, other in ((first, second), (second, first)):
            needed = self._cost_of(one, shares[one])
            if needed <= shares[one]:
                return {one: needed, other: pool - needed}
        return shares

    def _fill(self, section: Section, most: int, share: float, everything: bool) -> None:
        """Show items of a section in full: all of them if they fit into `most` tokens (superseded
        ones only with `everything`); otherwise in order, until a share of that is used.
        """
        numbers = [
            number
            for number in self._wanted[section]
            if everything or not self._items[number].superseded
        ]
        fits = everything or self._cost_of(section, most) <= most
        self.ceilings[section] = self._whole if everything else most
        if not fits:
            self.ceilings[section] = int(most * share)
        self._put_all(numbers, State.FULL, Rule.ALL_FIT if fits else Rule.IN_ORDER)

    def _add_titles(self, section: Section, most: int, *, at_least: int = 0) -> None:
        """Show titles of the rest of a section, in order; if all of them fit, then short forms.
        `most`: tokens of the whole section.
        """
        self.ceilings[section] = most
        rest = [n for n in self._wanted[section] if not self._items[n].superseded]
        if self._put_all(rest, State.TITLE, Rule.BEHIND) and not self._closed:
            short = [number for number in rest if self._cost(number, State.SHORT)]
            self._put_all(short, State.SHORT, Rule.BEHIND)
        self.ceilings[section] = max(most, at_least)

    def _put_pinned(self, numbers: Iterable[int]) -> None:
        """Show pinned items in full while there is room."""
        for number in numbers:
            if self._items[number].pinned:
                self._put(number, State.FULL, Rule.PINNED, self._whole)

    def _put_each(self, numbers: Iterable[int], state: State, rule: Rule) -> None:
        """Show those of the first dropped items that fit in a form."""
        dropped = (n for n in numbers if self.outcomes[n].state is State.DROPPED)
        for number in islice(dropped, TRIED):
            self._put(number, state, rule, self._whole)

    def _put_all(
        self, numbers: Iterable[int], state: State, rule: Rule, limit: int | None = None
    ) -> bool:
        """Show items in a form until one does not fit (with `limit`: into that many tokens of all).

        Returns whether the room was enough.
        """
        self._closed.clear()
        limit = self._whole if limit is None else limit
        for number in numbers:
            outcome, section = self.outcomes[number], self._items[number].section
            if _RANK[outcome.state] >= _RANK[state] or section in self._closed:
                continue
            if self._put(number, state, rule, limit):
                continue
            if outcome.needed > limit - (self._whole - self._left):
                return False
            self._closed.add(section)
        return True

    def _put(self, number: int, state: State, rule: Rule, limit: int) -> bool:
        """Show an item in a form if it fits; otherwise record what it would have added."""
        section, before = self._items[number].section, self.outcomes[number]
        cost = self._cost(number, state)
        if cost is None or (state is State.SHORT and cost == self._full(number)):  # none is shorter
            state, cost, rule = State.FULL, self._full(number), Rule.WHOLE
        titled = state is State.TITLE and section not in self._titled
        more = cost - (self._cost(number, before.state) or 0)
        more += (0 if self._used[section] else self._headings[section]) + titled * self._noted
        in_section = self.ceilings[section] - self._used[section]
        in_all = limit - (self._whole - self._left)
        if more > min(in_section, in_all):
            before.rule = Rule.CEILING if in_section < in_all else Rule.TOO_BIG
            before.needed, before.left = more, max(min(in_section, in_all), 0)
            before.tried = state
            return False
        self._used[section] += more
        self._left -= more
        if titled:
            self._titled.add(section)
        self.outcomes[number] = ItemOutcome(state, rule)
        return True
