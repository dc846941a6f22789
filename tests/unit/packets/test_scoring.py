"""Scores and ranking of items."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from reviewer.packets.relevance import query_of
from reviewer.packets.scoring import (
    Corpus,
    age_in_days,
    query_of_tasks,
    ranked,
    recency,
)
from reviewer.packets.values import Item, Score, Section

NOW = datetime(2026, 7, 26, 12, tzinfo=UTC)


def entry(
    title: str, text: str = "", days: int | None = 0, *, superseded: bool = False,
    section: Section = Section.DECISIONS
) -> Item:  # fmt: skip
    at = None if days is None else NOW - timedelta(days=days)
    return Item(
        id=title, section=section, title=title, text=text, place="x:1", at=at,
        heading=section is Section.DECISIONS, superseded=superseded,
    )  # fmt: skip


def order(items: list[Item], *tasks: str, for_task: bool = False) -> list[str]:
    found = scores(items, *tasks, for_task=for_task)
    return [items[place].title for place in ranked(items, found)]


def scores(items: list[Item], *tasks: str, for_task: bool = False) -> list[Score]:
    query = query_of(*tasks) if for_task else query_of_tasks(tasks)
    return Corpus(items).scores(query, NOW, for_task=for_task)[0]


@pytest.mark.parametrize(
    ("days", "value"),
    [(0, 1.0), (7, 1.0), (8, 0.7), (30, 0.7), (31, 0.4), (90, 0.4), (91, 0.2), (4000, 0.2)],
)
def test_recency_has_four_brackets(days: int, value: float) -> None:
    assert recency(days) == value


def test_an_entry_without_a_date_is_old_and_one_of_the_future_is_of_today() -> None:
    assert recency(None) == 0.2
    assert recency(-3) == 1.0


def test_ages_are_counted_in_dates_so_that_a_packet_stays_the_same_for_a_day() -> None:
    at = datetime(2026, 7, 19, 23, tzinfo=UTC)
    assert {age_in_days(at, NOW.replace(hour=hour)) for hour in (0, 12, 23)} == {7}


def test_without_a_task_recency_and_relevance_to_the_open_tasks_add_up() -> None:
    items = [entry("Printer jams", "The sensor is slow"), entry("Coins", days=200)]
    near, far = scores(items, "the printer and its sensor")
    assert (near.recency, near.relevance, near.total) == (1.0, 1.0, 2.0)
    assert (far.recency, far.relevance) == (0.2, 0.0)


def test_labels_and_numbers_of_tasks_match_nothing() -> None:
    items = [entry("Priority of high and added things"), entry("Printers")]
    labels, printers = scores(items, "Fix the printer #priority:high #added:2026-02-14")
    assert (labels.matched, printers.matched) == ((), ("printer",))


def test_names_of_fields_match_nothing() -> None:
    items = [entry("Drawer", "**Status**: Accepted\n\n**Context**: none"), entry("Lamp")]
    assert scores(items, "status context drawer")[0].matched == ("drawer",)


def test_superseded_entries_score_nothing_and_come_last() -> None:
    items = [entry("gone", "printer", superseded=True), entry("old", "nothing", days=400)]
    assert scores(items, "printer")[0].total == 0
    assert order(items, "printer") == ["old", "gone"]


def test_new_and_relevant_before_old_and_irrelevant() -> None:
    items = [
        entry("old irrelevant", "coins", days=200),
        entry("old relevant", "printer jam sensor", days=200),
        entry("new irrelevant", "coins", days=1),
        entry("new relevant", "printer jam sensor", days=1),
    ]
    assert order(items, "printer jam sensor") == [
        "new relevant", "old relevant", "new irrelevant", "old irrelevant"
    ]  # fmt: skip


def test_a_task_in_progress_counts_more_than_the_other_open_ones() -> None:
    items = [entry("Drawers"), entry("Lamps")]
    drawers, lamps = scores(items, "Oil the drawer", "Change the lamp #in-progress")
    assert lamps.relevance > drawers.relevance


def test_recency_never_beats_an_exact_title_of_the_task() -> None:
    items = [entry("Receipt paper jams", days=900), entry("Paint", "a receipt was here", days=0)]
    assert order(items, "receipt paper jams", for_task=True)[0] == "Receipt paper jams"


def test_recency_breaks_ties_with_a_task() -> None:
    items = [entry("b", "hinge", days=300), entry("a", "hinge", days=1), entry("c", "paper")]
    assert order(items, "hinge", for_task=True) == ["a", "b", "c"]


def test_labels_of_tasks_are_read() -> None:
    items = [
        entry("low", "oil the hinge #priority:low", None, section=Section.TASKS),
        entry("high", "oil the hinge #priority:high", None, section=Section.TASKS),
        entry("other", "paint", None, section=Section.TASKS),
    ]
    assert order(items, "hinge", for_task=True) == ["high", "low", "other"]


def test_the_task_in_progress_comes_first_whatever_the_task_is() -> None:
    items = [
        entry("Hinges", "oil the squeaking hinge", section=Section.TASKS),
        entry("Lamp", "change the lamp #in-progress", section=Section.TASKS),
        entry("A hinge", "about a hinge that says #in-progress"),
    ]
    assert order(items, "squeaking hinge", for_task=True) == ["Lamp", "Hinges", "A hinge"]


def test_what_is_out_of_date_comes_last_for_a_task_too() -> None:
    items = [entry("Old hinge", superseded=True), entry("Lamp")]
    assert order(items, "hinge", for_task=True) == ["Lamp", "Old hinge"]


def test_of_equals_the_newest_is_first_then_the_one_that_stands_first() -> None:
    items = [entry("b", days=3), entry("a", days=1), entry("c", days=3)]
    assert order(items) == ["a", "b", "c"]
