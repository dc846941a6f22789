"""The filter line finds what it says and names what it cannot understand."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reviewer.engine import Engine
from reviewer.errors import FilterError
from reviewer.promotion.queue_order import CONFLICT, rank
from reviewer.promotion.views import QueueQuery
from tests.stored import planted
from tests.unit.promotion.conftest import QueueUp


@pytest.fixture
def found(engine: Engine, queue_up: QueueUp) -> Callable[[str], list[str]]:
    queue_up("Use PostgreSQL 16 for the ledger", "Retries are idempotent", "The ledger is frozen")

    def search(text: str) -> list[str]:
        ids = engine.queue.ids(QueueQuery(filter=text))
        return [row.content.split()[0] for row in engine.queue.rows(ids)]

    return search


FOUND: dict[str, list[str]] = {
    "": ["Use", "Retries", "The"],
    "ledger": ["Use", "The"],
    "LED froz": ["The"],
    '"the ledger"': ["Use", "The"],
    "-ledger": ["Retries"],
    "#2": ["Retries"],
    "-#2": ["Use", "The"],
    '"#2"': [],
    "path:#2": [],
    "type:proj": ["Use", "Retries", "The"],
    "type:knowledge": [],
    "kind:mem retries": ["Retries"],
    "kind:deci retries": ["Retries"],
    "decision retries": ["Retries"],
    "kind:trap": [],
    "type:trap": [],
    "calls>0": [],
    "-trap": ["Use", "Retries", "The"],
    "-kind:trap ledger": ["Use", "The"],
    "conf>0.4 retries": ["Retries"],
    "conf<0.4": [],
    "rule:decided idempotent": ["Retries"],
    "status:candidate ledger": ["Use", "The"],
    "seen>1": [],
    "status:waiting ledger": ["Use", "The"],
    "status:rejected": [],
    "is:deferred": [],
    "is:def": [],
    "status:rej": [],
    "status:wait ledger": ["Use", "The"],
    "%": [],
    '"unclosed ledg': [],
    "http://example.test/x": [],
    "agent:codex": [],
    "-agent:codex ledger": ["Use", "The"],
    "since:2026-03": [],
}


def test_what_a_filter_line_finds(found: Callable[[str], list[str]]) -> None:
    assert {text: found(text) for text in FOUND} == FOUND


def test_by_me_are_the_rows_that_the_queue_calls_own_words_and_those_written_by_hand(
    engine: Engine, queue_up: QueueUp
) -> None:
    queue_up("The harbour wants invoices on paper", "Ferries wait for the tide", "Ropes are blue")
    mine, _, contradiction = engine.queue.ids(QueueQuery())
    with planted(engine.path, "rank") as act:
        act.update("memory", mine, rank=rank(own_words=True, sessions=1, cost=0, quality=0.1))
        act.update("memory", contradiction, rank=CONFLICT)
    (written,) = engine.entities.author("acme", "preference", "I want blue ropes").ids

    assert set(engine.queue.ids(QueueQuery(filter="by:me", status="all"))) == {mine, written}


def test_a_kind_is_the_word_that_a_row_shows_whether_it_is_a_need_or_a_type(
    engine: Engine, queue_up: QueueUp
) -> None:
    (need,) = queue_up("Retries are idempotent")
    (type_,) = engine.entities.author("acme", "decision", "Ledger: PostgreSQL 16").ids

    found = engine.queue.ids(QueueQuery(filter="kind:decision", status="all"))
    assert set(found) == {need, type_}
    found = engine.queue.ids(QueueQuery(filter="type:decision", status="all"))
    assert set(found) == {type_}
    with planted(engine.path, "queue") as act:
        act.update("memory", need, type="preference", need="trap")
    assert engine.queue.ids(QueueQuery(filter="kind:preference", status="all")).tolist() == []
    assert engine.queue.ids(QueueQuery(filter="kind:trap", status="all")).tolist() == [need]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("tpye:project", '"type"'),
        ("conf>much", "number"),
        ("since:yesterday", "takes a date such as 2026-03-01"),
        ("since:2026-1", "takes a date such as 2026-03-01"),
        ("bogus:1", "fields:"),
        ("flag:nope", "flag: takes concurrent, conflict"),
        ("is:foo", "is: takes deferred, edited, unused, retired or disputed"),
        ("type:xq", "identity, preference"),
        ("kind:xq", "memory, entity, conflict, instruction"),
        ("status:gone", "waiting, promoted"),
        ("ledger " * 101, "A filter has at most 100 words."),
        ("-".join(["ledger"] * 101), "A filter has at most 100 words."),
    ],
)
def test_what_cannot_be_understood_is_named(
    found: Callable[[str], list[str]], text: str, says: str
) -> None:
    with pytest.raises(FilterError, match=says):
        found(text)


@pytest.mark.parametrize("text", ["'", '"', "*", "NEAR(", "a AND", "(", ":", "-", "type:", "\0"])
def test_no_text_breaks_the_search(found: Callable[[str], list[str]], text: str) -> None:
    assert set(found(text)) <= {"Use", "Retries", "The"}
