"""The order of the queue."""

from __future__ import annotations

from reviewer.promotion.queue_order import CONFLICT, rank


def test_own_words_come_first_then_what_recurred_then_what_cost_then_the_rest() -> None:
    rows = {
        "the person's words": rank(own_words=True, sessions=1, cost=0, quality=0.1),
        "seen in three sessions": rank(own_words=False, sessions=3, cost=1, quality=0.1),
        "seen in two, dear": rank(own_words=False, sessions=2, cost=40, quality=0.1),
        "seen in two, cheap": rank(own_words=False, sessions=2, cost=4, quality=0.9),
        "one session, dear": rank(own_words=False, sessions=1, cost=40, quality=0.1),
        "one session, cheap": rank(own_words=False, sessions=1, cost=4, quality=0.9),
        "free and good": rank(own_words=False, sessions=1, cost=0, quality=0.9),
        "free and less good": rank(own_words=False, sessions=1, cost=0, quality=0.8),
    }

    assert sorted(rows, key=lambda name: -rows[name]) == list(rows)


def test_figures_beyond_all_measure_do_not_change_the_class() -> None:
    once, again, said = (
        rank(own_words=own, sessions=sessions, cost=10**9, quality=1.0)
        for own, sessions in ((False, 1), (False, 10**9), (True, 10**9))
    )

    assert once < rank(own_words=False, sessions=2, cost=0, quality=0.0)
    assert again < rank(own_words=True, sessions=1, cost=0, quality=0.0)
    assert said < CONFLICT
