"""What memories are worth: what it cost not to know them, and what their uses saved."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from reviewer.clock import from_iso
from reviewer.engine import Engine
from reviewer.promotion.views import QueueQuery
from reviewer.recall.moments import Moment, MomentKind
from reviewer.recall.service import event_of
from tests.present import present
from tests.tui.conftest import Screen, opened
from tests.tui.memory.driving import rows
from tests.unit.sessions.told import Told

FAILURES = {
    "errcheck": "rows.go:88:15: Error return value of `rows.Close` is not checked (errcheck)",
    "nilerr": "coin.go:41:3: error is not nil (line 50) but it returns nil (nilerr)",
    "gosec": "file.go:12:3: G304: Potential file inclusion via variable (gosec)",
}


@pytest.fixture
def linted(engine: Engine, tmp_path: Path) -> Engine:
    """Three memories of failures that came up in two sessions, and one that cost nothing."""
    folder = tmp_path / "sessions"
    folder.mkdir()
    for name in ("s1", "s2"):
        told = Told(name)
        told.user("Tidy up")
        for rule, line in FAILURES.items():
            told.run("mise run lint", line, failed=True)
            told.edit(f"/work/shop/{line.partition(':')[0]}", rule, f"_ = {rule}")
            told.run("mise run lint")
        told.write(folder / f"{name}.jsonl")
    engine.intake.ingest([folder], project="acme")
    engine.entities.author("acme", "preference", "Tabs, not spaces")
    engine.triage.promote(list(engine.queue.ids(QueueQuery())))
    return engine


def last_failure(engine: Engine) -> datetime:
    return present(from_iso(max(each.last for each in engine.findings("acme"))))


def hand_over(engine: Engine, rule: str, session: str, at: datetime) -> None:
    """A failure brings its memory to a session."""
    agent = Engine.open(engine.path, clock=lambda: at)
    assert agent.recall.at("acme", event_of("error", FAILURES[rule], session))
    agent.close()


def figures(screen: Screen) -> list[str]:
    """The columns of the list before the words of the memories."""
    shown = (line for line in screen.text.splitlines()[3:7])
    return [" ".join(line[1:24].split()) for line in shown]


async def test_before_any_use_it_says_what_each_has_cost(linted: Engine) -> None:
    async with opened(linted, project="acme", size=(80, 24), on="f5") as screen:
        assert "4 memories · 12 wasted calls before · not given yet" in screen.text
        assert [each[:8] for each in figures(screen)] == ["wasted 4"] * 3 + ["Tabs, no"]


async def test_what_held_comes_first_then_what_came_back_then_what_was_never_needed(
    linted: Engine,
) -> None:
    last = last_failure(linted)
    hand_over(linted, "nilerr", "s1", last)
    hand_over(linted, "nilerr", "s2", last)
    hand_over(linted, "gosec", "s1", last - timedelta(days=1))
    async with opened(linted, project="acme", size=(80, 24), on="f5") as screen:
        worth = "4 memories · about 4 calls saved · given 3 times · helped 2 · failed again 1"
        assert worth in screen.text
        assert figures(screen) == ["saved 4 2 2", "wasted 4 1 0 !", "wasted 4 -", "-"]
        assert "nilerr" in rows(screen)[0]
        assert "given twice, helped twice" in screen.text
        assert "helped        " in screen.text
        await screen.press("j")
        assert "failed again  " in screen.text


async def test_the_help_says_what_the_columns_mean(linted: Engine) -> None:
    async with opened(linted, project="acme", size=(80, 40), on="f5") as screen:
        await screen.press("question_mark")
        assert "given: agents got it   help: it helped" in screen.text


async def test_the_sum_is_that_of_all_memories_whatever_the_filter(linted: Engine) -> None:
    async with opened(linted, project="acme", size=(80, 24)) as screen:
        await screen.press("f5", "/", *"nilerr", "enter")
        assert len(rows(screen)) == 1
        assert "4 memories · 12 wasted calls before" in screen.text


async def test_what_a_packet_gave_to_a_session_is_not_unused(linted: Engine) -> None:
    ids = list(linted.queue.ids(QueueQuery("acme", "active")))
    linted.recall.note_start(ids[:1], "s1", "2026-09-01T00:00:00Z")
    async with opened(linted, project="acme", size=(80, 24), on="f5") as screen:
        assert "4 memories · given once · 3 never given" in screen.text
        await screen.press("/", *"is:unused", "enter")
        assert len(rows(screen)) == 3


async def test_memories_that_were_handed_over_together_share_what_they_saved(
    linted: Engine,
) -> None:
    (tabs,) = linted.queue.ids(QueueQuery("acme", "active", "tabs"))
    linted.recall.set_moments(tabs, [Moment(MomentKind.ERROR, "nilerr")])
    hand_over(linted, "nilerr", "s1", last_failure(linted))
    assert [each.saved for each in linted.recall.uses("acme")] == [1, 0]


async def test_memories_that_were_never_used_are_found_by_a_filter(linted: Engine) -> None:
    hand_over(linted, "nilerr", "s1", last_failure(linted))
    async with opened(linted, project="acme", size=(80, 24)) as screen:
        await screen.press("f5", "/")
        assert "is:unused" in screen.text
        await screen.press(*"is:unused", "enter")
        assert len(rows(screen)) == 3
        assert not any("nilerr" in row for row in rows(screen))
