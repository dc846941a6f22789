"""The order of the queue."""

from __future__ import annotations

from reviewer.promotion.queue_order import rank


def test_own_words_and_what_recurred_come_first_then_what_cost_then_the_rest() -> None:
    rows = {
        "seen in three sessions": rank(own_words=False, sessions=3, cost=1, quality=0.1),
        "seen in two, dear": rank(own_words=False, sessions=2, cost=40, quality=0.1),
        "seen in two, cheap": rank(own_words=False, sessions=2, cost=4, quality=0.9),
        "the person's words": rank(own_words=True, sessions=1, cost=0, quality=0.1),
        "one session, dear": rank(own_words=False, sessions=1, cost=40, quality=0.1),
        "one session, cheap": rank(own_words=False, sessions=1, cost=4, quality=0.9),
        "free and good": rank(own_words=False, sessions=1, cost=0, quality=0.9),
        "free and less good": rank(own_words=False, sessions=1, cost=0, quality=0.8),
    }

    assert sorted(rows, key=lambda name: -rows[name]) == list(rows)


def test_figures_beyond_all_measure_do_not_change_the_class() -> None:
    dearest = rank(own_words=False, sessions=1, cost=10**9, quality=1.0)

    assert dearest < rank(own_words=True, sessions=1, cost=0, quality=0.0)
    assert rank(own_words=True, sessions=10**9, cost=10**9, quality=1.0) < 3.1
