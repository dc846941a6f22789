"""Entities and conflicts in the queue: their structure, settling by key, hints, odds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reviewer.engine import Engine
from reviewer.promotion.rows.conflict_rows import MAKES_UNTRUE, queue_contradiction
from reviewer.promotion.views import QueueQuery
from tests.stored import planted
from tests.tui.conftest import opened, status_of
from tests.unit.promotion.graph import two_rivals


@pytest.fixture
def rivals(engine: Engine, tmp_path: Path) -> tuple[int, int, int]:
    """Two decisions that contradict each other, and their conflict, on top of the queue."""
    return two_rivals(engine, tmp_path / "adr")


async def test_an_entity_shows_its_type_and_its_structure(
    engine: Engine, rivals: tuple[int, int, int]
) -> None:
    _, right, _ = rivals
    async with opened(engine) as screen:
        await screen.press("j")
        assert screen.model.current_id == right
        assert f"#{right}  entity · decision" in screen.text
        assert "name        Ledger database" in screen.text
        assert "choice SQLite" in screen.text
        assert "in open conflict" in screen.text


@pytest.mark.usefixtures("rivals")
async def test_a_conflict_has_the_evidence_of_both_sides(engine: Engine) -> None:
    async with opened(engine) as screen:
        assert "PostgreSQL" in screen.queue.evidence.plain_text
        await screen.press("]")
        assert "2 of 2" in screen.text
        assert "SQLite" in screen.queue.evidence.plain_text


@pytest.mark.parametrize(
    ("key", "left", "right", "conflict", "title"),
    [
        ("a", "superseded", "active", "active", "Kept #{1}, superseding #{0}"),
        ("keep the older", "active", "superseded", "active", "Kept #{0}, superseding #{1}"),
        ("x", "active", "candidate", "invalid", "Dismissed conflict #{2}"),
    ],
)
async def test_a_conflict_is_settled_and_undone_by_u(
    engine: Engine,
    rivals: tuple[int, int, int],
    key: str,
    left: str,
    right: str,
    conflict: str,
    title: str,
) -> None:
    before = [status_of(engine, number) for number in rivals]
    acts = len(engine.history.acts(limit=10_000))
    async with opened(engine) as screen:
        await (screen.choose(key) if len(key) > 1 else screen.press(key))
        assert [status_of(engine, number) for number in rivals] == [left, right, conflict]
        assert screen.status == f"{title.format(*rivals)} - u to undo"
        assert len(engine.history.acts(limit=10_000)) == acts + 1
        await screen.press("u")
        assert [status_of(engine, number) for number in rivals] == before
        assert screen.model.current_id == rivals[2]
        assert engine.history.verify().ok


async def test_contradictions_are_found_by_a_filter(
    engine: Engine, rivals: tuple[int, int, int]
) -> None:
    async with opened(engine) as screen:
        await screen.choose("contradiction")
        assert "kind:conflict" in screen.text
        await screen.press(*"is:conflict")
        await screen.press("enter")
        assert list(screen.model.ids) == [rivals[2]]


async def test_editing_says_how_a_conflict_is_settled(
    engine: Engine, rivals: tuple[int, int, int]
) -> None:
    acts = len(engine.history.acts(limit=10_000))
    async with opened(engine) as screen:
        await screen.press("e")
        assert screen.status.startswith(f"#{rivals[2]} is a conflict: ")
        assert len(engine.history.acts(limit=10_000)) == acts


async def test_a_small_screen_shows_both_sides_of_a_contradiction_and_which_is_newer(
    engine: Engine, tmp_path: Path
) -> None:
    path = tmp_path / "notes.md"
    path.write_text("# Learnings\n", "utf-8")
    long = "and everything that was said about it since fills a line of its own " * 4
    old, new = (
        engine.entities.author("acme", "project", f"Invoices are kept in {where}, {long}").ids[0]
        for where in ("a drawer", "PostgreSQL")
    )
    with planted(engine.path, "contradict") as act:
        act.update("memory", old, last_seen="2026-01-27T12:00:00.000Z")
        act.update("memory", new, last_seen="2026-02-08T12:00:00.000Z")
        queue_contradiction(act, old, new, "2026-03-01T00:00:00.000Z", MAKES_UNTRUE)
    async with opened(engine, size=(80, 24)) as screen:
        assert "▌ ! contradiction: “Invoices are kept in PostgreSQL" in screen.text
        assert "newer       2026-02-08  Invoices are kept in PostgreSQL" in screen.text
        assert "older       2026-01-27  Invoices are kept in a drawer" in screen.text


# hints, staleness, odds


async def test_a_policy_that_speaks_is_a_line(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    turns = [
        {"role": "user", "content": "I prefer tabs over spaces in every Makefile we have."},
        {"role": "assistant", "content": "Understood, tabs in the Makefiles from now on."},
    ]
    path.write_text(json.dumps(turns), "utf-8")
    engine.intake.ingest([path], project="acme")
    (number,) = engine.queue.ids(QueueQuery(filter="type:preference"))
    assert engine.insight.hints([number])
    async with opened(engine) as screen:
        await screen.until(lambda: "from what you wrote" in screen.text)
        assert status_of(engine, number) == "candidate", "a hint never acts"


async def test_a_row_whose_source_is_gone_says_so(stocked: Engine, notes: Path) -> None:
    notes.unlink()
    async with opened(stocked) as screen:
        await screen.until(lambda: "! source missing" in screen.text)
