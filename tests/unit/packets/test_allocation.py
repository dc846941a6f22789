"""Filling a section, and sharing the budget among sections."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewer.packets.allocation import (
    Allocation,
    Demand,
    ItemCosts,
    SectionFill,
    add_titles,
    allocate,
    fill_in_full,
)
from reviewer.packets.values import Rule, Section, State

HEADING, NOTED = 3, 2


def line(
    key: int, full: int, title: int = 5, short: int | None = None, *,
    pinned: bool = False, superseded: bool = False
) -> ItemCosts:  # fmt: skip
    return ItemCosts(key, lambda: full, lambda: short, lambda: title, pinned, superseded)


def lines(*costs: int) -> list[ItemCosts]:
    return [line(key, cost) for key, cost in enumerate(costs)]


def filled(given: Sequence[ItemCosts], room: int, share: float = 0.8) -> SectionFill:
    found = fill_in_full(given, room, HEADING, share, whole=False)
    add_titles(found, given, room, HEADING, NOTED)
    return found


def states(found: SectionFill) -> str:
    return "".join(found.outcomes[key].state[0] for key in sorted(found.outcomes))


def test_everything_is_whole_where_everything_fits() -> None:
    assert states(filled(lines(40, 30, 27), 100)) == "fff"


def test_full_entries_take_four_fifths_and_titles_the_rest() -> None:
    found = filled(lines(40, 30, 30, 10), 100)
    assert states(found) == "fftt"
    assert found.used == HEADING + 70 + NOTED + 2 * 5


def test_a_smaller_one_does_not_jump_the_queue() -> None:
    found = filled(lines(40, 60, 10), 100)
    assert states(found) == "ftt"
    assert found.outcomes[1].rule is Rule.TOO_BIG
    assert (found.outcomes[1].needed, found.outcomes[1].left) == (60, 37)
    assert found.outcomes[2].rule is Rule.BEHIND


def test_a_title_does_not_jump_the_queue_either() -> None:
    given = [line(0, 90), line(1, 90, title=95), line(2, 90, title=5)]
    found = filled(given, 100)
    assert states(found) == "tdd"
    assert found.outcomes[2].rule is Rule.NO_ROOM


def test_short_forms_replace_titles_in_order_once_all_have_a_title() -> None:
    given = [line(0, 60), line(1, 60, short=20), line(2, 60, short=50), line(3, 60, short=6)]
    found = filled(given, 100)
    assert states(found) == "fstt"
    assert found.used == HEADING + 60 + 20 + NOTED + 5 + 5


def test_no_short_form_while_one_has_not_even_a_title() -> None:
    given = [line(0, 70), *(line(n, 60, title=10, short=12) for n in range(1, 6))]
    assert states(filled(given, 100)) == "fttddd"


def test_the_list_of_titles_goes_when_no_title_is_left() -> None:
    found = filled([line(0, 60), line(1, 60, short=20)], 100)
    assert states(found) == "fs"
    assert not found.noted
    assert found.used == HEADING + 80


def test_superseded_ones_are_dropped_and_take_no_title() -> None:
    found = filled([line(0, 90), line(1, 9, superseded=True), line(2, 90)], 100)
    assert states(found) == "tdt"
    assert found.outcomes[1].rule is Rule.SUPERSEDED


def test_superseded_ones_come_when_everything_fits() -> None:
    given = [line(0, 30), line(1, 9, superseded=True)]
    assert states(fill_in_full(given, 100, HEADING, 0.8, whole=True)) == "ff"
    assert states(fill_in_full(given, 100, HEADING, 0.8, whole=False)) == "fd"


def test_pins_come_first_and_may_use_the_titles_room() -> None:
    given = [line(0, 50), line(1, 50), line(2, 95, pinned=True)]
    found = filled(given, 100)
    assert found.outcomes[2].rule is Rule.PINNED
    assert states(found) == "ddf"


def test_a_pin_that_does_not_fit_breaks_nothing() -> None:
    given = [line(0, 50), line(1, 50), line(2, 120, pinned=True)]
    found = filled(given, 100)
    assert states(found) == "ftt"
    assert found.used <= 100


def test_no_heading_is_paid_for_where_nothing_stands_below_it() -> None:
    assert filled(lines(90), 4).used == 0
    assert filled([], 100).used == 0


def wanted(costs: Sequence[int]) -> Demand:
    return Demand(
        [line(key, cost, min(cost, 6), min(cost, 20)) for key, cost in enumerate(costs)],
        HEADING, NOTED, sum(costs),
    )  # fmt: skip


def sections(
    tasks: Sequence[int] = (), conventions: Sequence[int] = (),
    decisions: Sequence[int] = (), learnings: Sequence[int] = ()
) -> dict[Section, Demand]:  # fmt: skip
    return {
        Section.TASKS: wanted(tasks),
        Section.CONVENTIONS: wanted(conventions),
        Section.DECISIONS: wanted(decisions),
        Section.LEARNINGS: wanted(learnings),
    }


def whole(given: dict[Section, Allocation], *names: Section) -> int:
    return sum(
        outcome.state is State.FULL
        for name in names or given
        for outcome in given[name].filled.outcomes.values()
    )


def test_tasks_have_two_fifths_and_conventions_one() -> None:
    found = allocate(1000, 0, sections([50] * 40, [50] * 40))
    assert found[Section.TASKS].max_tokens == 400
    assert found[Section.TASKS].filled.used <= 400
    assert found[Section.CONVENTIONS].max_tokens == 200
    assert found[Section.CONVENTIONS].filled.used <= 200


def test_conventions_are_the_first_that_fit() -> None:
    found = allocate(1000, 0, sections(conventions=[50] * 40))
    assert whole(found, Section.CONVENTIONS) == (200 - HEADING) // 50


def test_what_is_left_is_shared_in_proportion() -> None:
    found = allocate(1000, 0, sections(decisions=[50] * 60, learnings=[50] * 20))
    assert whole(found, Section.DECISIONS) == pytest.approx(
        3 * whole(found, Section.LEARNINGS), abs=2
    )


def test_what_one_does_not_need_the_other_gets() -> None:
    given = sections(learnings=[50] * 20)
    given[Section.DECISIONS] = Demand(lines(50, 50), HEADING, NOTED, size=1000)
    found = allocate(1000, 0, given)
    assert whole(found, Section.DECISIONS) == 2
    room = 1000 - 2 * 50 - HEADING
    assert whole(found, Section.LEARNINGS) == int(room * 0.8 - HEADING) // 50


def test_nothing_but_tier_1_fits_into_no_budget() -> None:
    for budget in (0, 10):
        found = allocate(budget, 200, sections([9], [9], [9], [9]))
        assert sum(each.filled.used for each in found.values()) == 0
        assert whole(found) == 0


costs = st.lists(st.integers(1, 400), max_size=12)


@given(costs, costs, costs, costs, st.integers(0, 3000), st.integers(0, 300))
def test_the_budget_and_the_caps_hold(
    tasks: list[int],
    conventions: list[int],
    decisions: list[int],
    learnings: list[int],
    budget: int,
    tier_1: int,
) -> None:
    found = allocate(budget, tier_1, sections(tasks, conventions, decisions, learnings))
    used = {name: each.filled.used for name, each in found.items()}
    assert sum(used.values()) <= max(budget - tier_1, 0)
    assert used[Section.TASKS] <= budget * 2 // 5
    assert used[Section.CONVENTIONS] <= budget // 5
    assert all(used[name] <= each.max_tokens for name, each in found.items())


@given(costs, costs, costs, costs, st.integers(0, 2000), st.integers(1, 300), st.integers(0, 200))
def test_a_larger_budget_never_shows_less_in_full(
    tasks: list[int],
    conventions: list[int],
    decisions: list[int],
    learnings: list[int],
    budget: int,
    more: int,
    tier_1: int,
) -> None:
    given = sections(tasks, conventions, decisions, learnings)
    smaller, larger = (allocate(each, tier_1, given) for each in (budget, budget + more))
    assert whole(larger) >= whole(smaller)


@given(costs, st.integers(0, 2000))
def test_what_is_whole_is_a_beginning_of_the_order(decisions: list[int], budget: int) -> None:
    found = allocate(budget, 0, sections(decisions=decisions))
    rank = {State.FULL: 0, State.SHORT: 1, State.TITLE: 1, State.DROPPED: 2}
    outcomes = found[Section.DECISIONS].filled.outcomes
    seen = [rank[outcome.state] for _, outcome in sorted(outcomes.items())]
    assert seen == sorted(seen)
