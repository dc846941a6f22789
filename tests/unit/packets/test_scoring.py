"""Scores and ranking of entries."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from reviewer.packets.scoring import (
    Corpus,
    age_in_days,
    ranked,
    recency,
    relevance,
    task_keywords,
    words,
)
from reviewer.packets.values import Item, Section

NOW = datetime(2026, 7, 26, 12, tzinfo=UTC)


def entry(title: str, text: str = "", days: int | None = 0, *, superseded: bool = False) -> Item:
    at = None if days is None else NOW - timedelta(days=days)
    return Item(
        id=title, section=Section.DECISIONS, title=title, text=text, place="x:1", at=at,
        heading=True, superseded=superseded,
    )  # fmt: skip


def order(items: list[Item], *tasks: str) -> list[str]:
    corpus = Corpus(items)
    scores = corpus.scores(task_keywords(tasks), NOW)
    return [items[place].title for place in ranked(items, scores)]


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


@pytest.mark.parametrize(("matches", "value"), [(0, 0), (1, 1 / 3), (2, 2 / 3), (3, 1), (9, 1)])
def test_three_matches_are_full_relevance(matches: int, value: float) -> None:
    assert relevance(matches) == value


def test_keywords_are_lower_case_without_stop_words_and_short_words_and_come_once() -> None:
    found = task_keywords(["Move the Ledger to a new DB", "the ledger, again: ledger!"])
    assert found == {"move", "ledger"}


def test_labels_and_numbers_of_tasks_are_no_keywords() -> None:
    assert task_keywords(["Fix printer #priority:high #added:2026-02-14 in 2026"]) == {
        "fix", "printer"
    }  # fmt: skip


def test_what_may_be_a_key_is_never_named() -> None:
    assert words("token ab12cd34ef56ab12cd34ef56 idempotency_key_of_the_sender") == {
        "token", "idempotency_key_of_the_sender"
    }  # fmt: skip


def test_singular_and_plural_are_one_word() -> None:
    assert words("hooks policies class") == words("hook policy class")


def test_words_match_whole_and_not_inside_of_others() -> None:
    corpus = Corpus([entry("Printing", "reprinted blueprints")])
    (score,) = corpus.scores(task_keywords(["print"]), NOW)
    assert score.relevance == 0
    assert score.matched == ()


def test_names_of_fields_match_nothing() -> None:
    corpus = Corpus([entry("Drawer", "**Status**: Accepted\n\n**Context**: none")])
    (score,) = corpus.scores(task_keywords(["status context drawer"]), NOW)
    assert score.matched == ("drawer",)


def test_matches_count_in_title_and_body() -> None:
    corpus = Corpus([entry("Printer jams", "The sensor is slow")])
    (score,) = corpus.scores(task_keywords(["printer sensor coins"]), NOW)
    assert set(score.matched) == {"printer", "sensor"}
    assert score.total == pytest.approx(1.0 + 2 / 3)


def test_superseded_entries_score_nothing_and_come_last() -> None:
    items = [entry("gone", "printer", superseded=True), entry("old", "nothing", days=400)]
    assert Corpus(items).scores(task_keywords(["printer"]), NOW)[0].total == 0
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


def test_of_equal_scores_the_one_with_the_rarer_keywords_is_first() -> None:
    items = [entry(f"common {n}", "printer coins drawer hall kiosk") for n in range(9)]
    items.append(entry("rare", "printer coins drawer hall sensor"))
    assert order(items, "printer coins drawer hall kiosk sensor")[0] == "rare"


def test_the_order_still_discriminates_with_many_tasks() -> None:
    parts = ("drawer", "scale", "hinge", "lamp", "roll", "sensor", "cable", "socket")
    tasks = [f"Check the {part} of kiosk printer terminal {n}" for part in parts for n in range(6)]
    items = [
        entry(f"entry {n}", f"kiosk printer terminal {' '.join(parts[: n % 8])} note{n}")
        for n in range(48)
    ]
    scores = Corpus(items).scores(task_keywords(tasks), NOW)
    assert all(score.total == 2.0 for score in scores)
    assert len({score.rarity for score in scores}) == len(parts)


def test_of_equals_the_newest_is_first_then_the_one_that_stands_first() -> None:
    items = [entry("b", days=3), entry("a", days=1), entry("c", days=3)]
    assert order(items) == ["a", "b", "c"]
