"""A read that nobody waits for any more is given up, wherever it is."""

from __future__ import annotations

import threading

import pytest

from reviewer.engine import Engine
from reviewer.errors import FilterError, ReadStoppedError
from reviewer.promotion.views import QueueQuery
from reviewer.store.database import Database

ENDLESS = (
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
    " WHERE i < 0"
)


@pytest.mark.timeout(60)
def test_an_endless_read_ends_when_it_is_cancelled(database: Database) -> None:
    cancelled = threading.Event()
    threading.Timer(0.05, cancelled.set).start()
    with pytest.raises(ReadStoppedError), database.reading_until(cancelled.is_set):
        database.reader().execute(ENDLESS).fetchall()
    assert database.reader().execute("SELECT 1").fetchone()[0] == 1


def test_the_thread_reads_on_afterwards(database: Database) -> None:
    with pytest.raises(ReadStoppedError), database.reading_until(lambda: True):
        database.reader().execute(f"{ENDLESS} LIMIT 1").fetchall()
    many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000)"
    assert database.reader().execute(f"{many} SELECT count(*) FROM n").fetchone()[0] == 300_000


def test_ids_are_given_up_when_cancelled(engine: Engine) -> None:
    engine.intake.seed(5_000, project="acme")
    with pytest.raises(ReadStoppedError):
        engine.queue.ids(QueueQuery(), cancelled=lambda: True)
    assert len(engine.queue.ids(QueueQuery(), cancelled=lambda: False)) > 1_000


def test_a_filter_is_checked_without_reading(engine: Engine) -> None:
    engine.close()  # nothing can be read any more
    engine.queue.check(QueueQuery(filter='type:decision "a phrase" conf>0.5'))
    with pytest.raises(FilterError):
        engine.queue.check(QueueQuery(filter="typ:decision"))
