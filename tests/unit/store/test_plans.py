"""What a screen asks at every step is answered from an index, however many rows there are."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reviewer.clock import utc_now
from reviewer.engine import Engine
from reviewer.promotion.views import QueueQuery
from reviewer.store.database import Database


@pytest.fixture
def engine(database: Database) -> Engine:
    engine = Engine(database, actor="you", clock=utc_now)
    engine.intake.seed(40, project="kiosk")
    ids = engine.queue.ids(QueueQuery())
    engine.triage.promote(list(ids[:5]))
    engine.triage.reject(list(ids[5:10]))
    engine.history.undo()
    return engine


def steps_of(database: Database, ask: Callable[[], object]) -> list[str]:
    """The steps that SQLite takes to answer; the answer must not be empty."""
    reader = database.reader()
    asked: list[str] = []
    reader.set_trace_callback(asked.append)
    assert ask()
    reader.set_trace_callback(None)
    return [
        row["detail"]
        for sql in asked
        if sql.startswith(("SELECT", "WITH"))
        for row in reader.execute(f"EXPLAIN QUERY PLAN {sql}")
    ]


ASKED: dict[str, Callable[[Engine], object]] = {
    "the counts of a project": lambda engine: engine.queue.counts("kiosk"),
    "the counts of all": lambda engine: engine.queue.counts(None),
    "the list of a project": lambda engine: engine.queue.ids(QueueQuery(project="kiosk")),
    "the list of all": lambda engine: engine.queue.ids(QueueQuery()),
    "the newest acts": lambda engine: engine.history.acts(limit=3),
}


@pytest.mark.parametrize("ask", ASKED.values(), ids=ASKED.keys())
def test_no_row_is_visited_that_is_not_shown(
    database: Database, engine: Engine, ask: Callable[[Engine], object]
) -> None:
    steps = steps_of(database, lambda: ask(engine))
    assert steps
    for step in steps:
        words = step.split()
        if words[:2] in (["SCAN", "m"], ["SEARCH", "m"]):
            assert "memory_active" in step or "COVERING INDEX" in step, step
        if words[0] == "SCAN":
            assert words[1] in ("m", "w", "ledger"), step
        assert "USE TEMP B-TREE FOR ORDER BY" not in step


@pytest.mark.parametrize("project", [None, "kiosk"])
@pytest.mark.parametrize(
    "text",
    ["type:p", "-type:decision", "kind:memory", "-flag:secret", "proposer:notes"],
)
def test_what_a_filter_asks_of_a_row_stands_in_the_index(
    database: Database, engine: Engine, text: str, project: str | None
) -> None:
    query = QueueQuery(project=project, filter=text)
    steps = steps_of(database, lambda: len(engine.queue.ids(query)))
    looked_up = [step for step in steps if step.split()[1] == "m"]
    assert looked_up
    assert all("COVERING INDEX" in step for step in looked_up), looked_up


@pytest.mark.parametrize("column", ["leader_id", "superseded_by"])
def test_deleting_a_memory_reads_no_others(database: Database, column: str) -> None:
    """SQLite looks for rows that refer to a deleted one, once for each that an undo deletes."""
    plan = database.reader().execute(
        f"EXPLAIN QUERY PLAN SELECT rowid FROM memory WHERE {column} = ?", (1,)
    )
    assert all("USING" in step[3] and "INDEX" in step[3] for step in plan)
