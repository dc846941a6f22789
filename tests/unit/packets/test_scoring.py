"""Scores and ranking of items."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from reviewer.packets.assembly import score_text
from reviewer.packets.relevance import query_of
from reviewer.packets.scoring import (
    Corpus,
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
        heading=section is Section.DECISIONS, outdated="superseded" if superseded else "",
    )  # fmt: skip


def order(items: list[Item], *tasks: str, for_task: bool = False) -> list[str]:
    found = scores(items, *tasks, for_task=for_task)
    return [items[place].title for place in ranked(items, found)]


def scores(items: list[Item], *tasks: str, for_task: bool = False) -> list[Score]:
    query = query_of(*tasks) if for_task else query_of_tasks(tasks)
    return Corpus(items).scores(query, NOW, for_task=for_task)[0]


@pytest.mark.parametrize(
    ("days", "value"),
    [(-3, 1.0), (7, 1.0), (8, 0.7), (30, 0.7), (31, 0.4), (90, 0.4), (91, 0.2), (None, 0.2)],
)
def test_recency_has_four_brackets(days: int | None, value: float) -> None:
    assert recency(days) == value


def test_without_a_task_recency_and_relevance_to_the_open_tasks_add_up() -> None:
    items = [entry("Printer jams", "The sensor is slow"), entry("Coins", days=200)]
    near, far = scores(items, "the printer and its sensor")
    assert (near.recency, near.relevance, near.total) == (1.0, 1.0, 2.0)
    assert (far.recency, far.relevance) == (0.2, 0.0)


def test_a_task_in_progress_counts_more_than_the_other_open_ones() -> None:
    items = [entry("Drawers"), entry("Lamps")]
    drawers, lamps = scores(items, "Oil the drawer", "Change the lamp #in-progress")
    assert lamps.relevance > drawers.relevance


@pytest.mark.parametrize(
    ("text", "task", "matched"),
    [
        ("Priority of high and added things", "Fix it #priority:high #added:2026-02-14", ()),
        ("Printers", "Fix the printer #priority:high", ("printer",)),
        ("**Status**: Accepted\n\n**Context**: none", "status context", ()),
    ],
)
def test_labels_numbers_and_names_of_fields_match_nothing(
    text: str, task: str, matched: tuple[str, ...]
) -> None:
    assert scores([entry("Drawer", text), entry("Lamp")], task)[0].matched == matched


def test_words_that_most_items_have_are_no_reason() -> None:
    items = [entry(f"Entry {n}", "The lamp of the counter") for n in range(8)]
    items.append(entry("Linter", "The linter of the counter"))
    found = scores(items, "fix the counter, linter", for_task=True)
    assert [each.matched for each in found] == [()] * 8 + [("linter",)]
    assert "it has only common or related words of the task" in score_text(found[0])


JAM = "printer jam sensor"
ORDERS: dict[str, tuple[list[Item], str]] = {
    "without a task new and relevant comes first": (
        [
            entry("1", JAM, days=1), entry("2", JAM, days=200), entry("3", "coins", days=1),
            entry("4", "coins", days=200), entry("5", JAM, superseded=True),
        ],
        "",
    ),
    "of equals the newest is first, then the one that stands first": (
        [entry("1", days=1), entry("2", days=3), entry("3", days=3)],
        "",
    ),
    "recency never beats the exact title of a task": (
        [entry("Receipt paper jams", days=900), entry("Paint", "a receipt was here", days=0)],
        "receipt paper jams",
    ),
    "recency breaks ties": (
        [entry("1", "hinge", days=1), entry("2", "hinge", days=300), entry("3", "paper")],
        "hinge",
    ),
    "priorities are read": (
        [
            entry("1", "oil the hinge #priority:high", None, section=Section.TASKS),
            entry("2", "oil the hinge #priority:low", None, section=Section.TASKS),
            entry("3", "paint", None, section=Section.TASKS),
        ],
        "hinge",
    ),
    "the task in progress comes first, whatever the task is": (
        [
            entry("Lamp", "change the lamp #in-progress", section=Section.TASKS),
            entry("Hinges", "oil the squeaking hinge", section=Section.TASKS),
            entry("A hinge", "about a hinge that says #in-progress"),
        ],
        "squeaking hinge",
    ),
    "what is out of date comes last": ([entry("Lamp"), entry("Hinge", superseded=True)], "hinge"),
}  # fmt: skip


@pytest.mark.parametrize("name", ORDERS)
def test_the_order_of_entries(name: str) -> None:
    items, task = ORDERS[name]
    given = items[::-1] if "stands first" not in name else [items[1], items[0], items[2]]
    found = order(given, task or JAM, for_task=bool(task))
    assert found == [item.title for item in items]
