"""Hints and the learning order on a store: they are shown and they sort, they never act."""

from __future__ import annotations

from array import array
from pathlib import Path

import pytest

from reviewer.promotion.views import QueueQuery, Sort
from tests.unit.promotion.graph import dump, ids, two_rivals

LEARNED = QueueQuery(sort=Sort.LEARNED)


@pytest.fixture
def busy(engine) -> list[int]:
    """A queue of 120 made-up candidates without near duplicates behind them."""
    engine.intake.seed(120)
    return list(engine.queue.ids(QueueQuery()))


def decide(engine, times: int) -> str:
    """Promote one type and reject all others, `times` decisions in all; returns the type."""
    waiting = engine.queue.rows(engine.queue.ids(QueueQuery(filter="-kind:conflict")))
    types = [row.type for row in waiting]
    liked = max(sorted(set(types)), key=types.count)
    wanted = [row.id for row in waiting if row.type == liked]
    others = [row.id for row in waiting if row.type != liked]
    half = times // 2
    assert len(wanted) > half + 2
    assert len(others) > times - half + 2
    engine.triage.promote(wanted[:half], alone=True)
    engine.triage.reject(others[: times - half], alone=True)
    return liked


def test_it_is_off_until_there_are_thirty_decisions(engine, busy):
    decide(engine, 29)
    assert engine.insight.preference() is None
    assert engine.insight.score(ids(engine, status="waiting")[0]) is None
    assert engine.ids(LEARNED) == engine.ids(QueueQuery(sort=Sort.RANK))
    engine.triage.reject([engine.ids(QueueQuery())[-1]], alone=True)
    assert engine.insight.preference() is not None


def test_what_this_person_promotes_comes_first(engine, busy):
    liked = decide(engine, 40)
    order = engine.queue.rows(engine.ids(LEARNED))
    assert {row.id for row in order} == set(engine.ids(QueueQuery()))
    first, last = order[0], order[-1]
    assert (first.type == liked, last.type == liked) == (True, False)
    chances = [engine.insight.score(row.id).log_odds for row in order]
    assert chances == sorted(chances, reverse=True)
    assert engine.ids(LEARNED, limit=3) == engine.ids(LEARNED)[:3]


def test_the_three_strongest_reasons_are_counts_of_own_decisions(engine, busy):
    liked = decide(engine, 40)
    best = engine.ids(LEARNED)[0]
    score = engine.insight.score(best)
    assert 0.5 < score.probability <= 0.99
    assert 1 <= len(score.reasons) <= 3
    assert any(f"you promoted 20 of 20: type {liked}" in r.text for r in score.reasons)


def test_undo_is_unlearned(engine, busy):
    decide(engine, 30)
    assert engine.insight.preference() is not None
    engine.history.undo()
    assert engine.insight.preference() is None


def test_deferred_rows_stay_behind_all_others(engine, busy):
    decide(engine, 40)
    best = engine.ids(LEARNED)[0]
    engine.triage.defer([best])
    assert engine.ids(LEARNED)[-1] == best


def test_conflicts_stay_before_all_others(engine, busy, tmp_path):
    *_, conflict = two_rivals(engine, tmp_path / "adr")
    decide(engine, 40)
    assert engine.ids(LEARNED)[0] == conflict


def test_ordering_decides_nothing(engine, busy):
    decide(engine, 40)
    acts, rows = engine.history.acts_total(), dump(engine, "memory")
    engine.ids(LEARNED)
    engine.insight.hints(busy)
    for number in busy[:10]:
        engine.insight.score(number)
    assert (engine.history.acts_total(), dump(engine, "memory")) == (acts, rows)


def said_in(engine, folder: Path, days: int, text: str) -> None:
    folder.mkdir(exist_ok=True)
    for day in range(days):
        path = folder / f"{day}.md"
        path.write_text(f"# Notes {folder.name}, day {day}\n\n{text}\n", encoding="utf-8")
        engine.intake.ingest([path], project="acme")


def test_what_is_said_again_and_again_is_hinted_at(engine, tmp_path):
    text = "We decided to keep the drawer closed until the terminal answers."
    said_in(engine, tmp_path / "notes", 4, text)
    (number,) = ids(engine, "drawer")
    assert engine.insight.hints([number]) == {}
    said_in(engine, tmp_path / "more", 2, text)
    (hint,) = engine.insight.hints([number])[number]
    assert (hint.policy, hint.text) == ("reference count", "seen 6 times in 1 day")
    assert engine.queue.candidate(number).status == "candidate"


def test_no_hint_for_what_was_looked_at(engine, tmp_path):
    said_in(engine, tmp_path / "notes", 6, "We decided to keep the drawer closed for now.")
    (number,) = ids(engine, "drawer")
    assert engine.insight.hints([number])
    engine.was_looked_at(number)
    assert engine.insight.hints([number]) == {}


def test_no_hint_for_what_was_deferred_or_decided(engine, tmp_path):
    said_in(engine, tmp_path / "notes", 6, "We decided to keep the drawer closed for now.")
    (number,) = ids(engine, "drawer")
    assert engine.insight.hints([number])
    for decide_it in (engine.triage.defer, engine.triage.promote):
        decide_it([number])
        assert engine.insight.hints([number]) == {}


def test_own_words_are_hinted_at(engine, tmp_path):
    import json

    path = tmp_path / "chat.json"
    path.write_text(
        json.dumps([
            {"role": "user", "content": "I prefer tabs over spaces in every Makefile we have."},
            {"role": "assistant", "content": "Understood, tabs in the Makefiles from now on."},
        ])
    )  # fmt: skip
    engine.intake.ingest([path], project="acme")
    (number,) = ids(engine, "tabs type:preference")
    (hint,) = engine.insight.hints([number])[number]
    assert hint.policy == "identity and preference"
    assert "I prefer" in hint.text


def test_conflicts_and_unknown_rows_have_no_hints_and_no_score(engine, tmp_path, busy):
    *_, conflict = two_rivals(engine, tmp_path / "adr")
    decide(engine, 40)
    assert engine.insight.hints([conflict, 99_999]) == {}
    assert engine.insight.score(conflict) is None
    assert isinstance(engine.insight.order(LEARNED), array)


@pytest.mark.parametrize("again", ["same file", "other file", "stored pass"])
def test_references_to_an_active_memory_are_counted_and_never_a_second_row(engine, tmp_path, again):
    text = "We decided to keep the drawer closed until the terminal answers."
    folder = tmp_path / "notes"
    said_in(engine, folder, 1, text)
    (number,) = ids(engine, "drawer")
    engine.triage.promote([number])
    if again == "stored pass":
        engine.intake.extract_stored(project="acme", source=folder / "0.md")
    elif again == "other file":
        said_in(engine, tmp_path / "other", 1, text)
    else:
        said_in(engine, folder, 1, text + "\n\nA word more.")
    assert ids(engine, "drawer") == [number]
    assert (engine.queue.candidate(number).refs, engine.queue.candidate(number).seen) == (1, 1)
