"""An ingestion is several acts; out of order, undo is refused and names the acts in the way."""

from __future__ import annotations

from tests.cli.conftest import Reviewer

STARTED, READ, QUEUED = 1, 2, 3


def verified(reviewer: Reviewer) -> bool:
    return reviewer("verify").returncode == 0


def test_a_decision_about_a_candidate_is_undone_first(ingested: Reviewer) -> None:
    chosen = ingested.ids()[0]
    ingested.succeeds("promote", chosen)
    assert f"Undo first: act {QUEUED} " in ingested("undo", READ).stderr
    decision = ingested.rows("history")[-1]["id"]
    assert f"Undo first: act {decision} " in ingested("undo", QUEUED).stderr
    assert verified(ingested)


def test_the_whole_ingestion_goes_and_comes_back(ingested: Reviewer) -> None:
    before = ingested.ids("--status", "all")
    for act in (QUEUED, READ, STARTED):
        ingested.succeeds("undo", act)
    assert ingested.ids("--status", "all") == []
    assert verified(ingested)
    for _ in range(3):
        ingested.succeeds("redo")
    assert ingested.ids("--status", "all") == before
    assert verified(ingested)
