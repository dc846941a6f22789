"""Active memories on the screen: their order, the search, the sources of each fact."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from reviewer.engine import Engine
from reviewer.promotion.views import QueueQuery
from reviewer.recall.moments import Moment, MomentKind
from reviewer.recall.service import event_of
from reviewer.tui.evidence.source import SourceScreen
from reviewer.tui.memory.keys import READ
from tests.tui.conftest import NOW, Screen, opened
from tests.tui.memory.driving import memory_screen, rows


async def test_trusted_state_comes_first_then_what_was_used(known: Engine, memory: int) -> None:
    tapes, mondays, approvals = (
        "db = Tapes",
        "We ship on Mondays only",
        "Deploys need two approvals",
    )
    async with opened(known, project="acme", on="f5") as screen:
        assert rows(screen) == [tapes, mondays, approvals]
        assert "db = Tapes" in screen.text
        assert "1 of 3 " in screen.text
        kinds = []
        for key in ("j", "j", "k", "g", "G"):
            await screen.press(key)
            kinds.append(memory_screen(screen).layer)
        assert kinds == ["entity", "memory", "entity", "state", "memory"]
        agent = Engine.open(known.path, clock=lambda: NOW + timedelta(hours=1))
        agent.recall.set_moments(memory, [Moment(MomentKind.COMMAND, "make deploy")])
        assert agent.recall.at("acme", event_of("command", "make deploy", "s1"))
        agent.close()
        await screen.press("ctrl+l")
        assert rows(screen) == [tapes, approvals, mondays]
        assert "2 memories · given once · 1 never given" in screen.text
        assert "    1        Deploys need two approvals" in screen.text
        assert "    -        We ship on Mondays only" in screen.text


async def test_an_empty_store_says_how_memories_come(engine: Engine) -> None:
    async with opened(engine, size=(60, 20)) as screen:
        await screen.press("f5", "j", "G", "x", "o", "E", "y", "enter")
        assert "Memories you promote in the queue (F2) are listed here." in screen.text
        await screen.press("/")
        assert "Nothing to filter yet." in screen.text
        assert "n writes one in your own words." in screen.text


async def test_search_goes_over_all_rows_and_escape_clears_it(
    known: Engine, screen: Screen
) -> None:
    await screen.press("f5", "/", *"mondays")
    assert rows(screen) == ["We ship on Mondays only"]
    await screen.press("escape", "/", *"tapes", "enter")
    assert rows(screen) == ["db = Tapes"]
    await screen.press("escape", "/", *"-mondays", "enter")
    assert rows(screen) == ["db = Tapes", "Deploys need two approvals"]
    await screen.press("escape")
    assert len(rows(screen)) == 3
    await screen.press("/", *"zzz")
    assert "Nothing matches / zzz" in screen.text
    await screen.press("escape", "/", *"type:preference", "enter")
    assert rows(screen) == ["Deploys need two approvals"]
    await screen.press("escape", "f8", "/", *("x " * 101))
    assert "A filter has at most 100 words." in screen.text


async def test_every_fact_is_walked_down_to_its_line(stocked: Engine, notes: Path) -> None:
    number = stocked.queue.ids(QueueQuery(filter="kind:memory"))[0]
    stocked.triage.promote([number])
    stocked.state.set("acme", "db", "Tapes", evidence=f"{notes}:5")
    async with opened(stocked, on="f5") as screen:
        assert "decisions.md:5" in screen.text
        assert "We decided to use PostgreSQL 16" in screen.text
        await screen.press("enter")
        assert isinstance(screen.app.screen, SourceScreen)
        assert "line 5 of" in screen.text
        await screen.press("escape", "G")
        assert f"#{number}  " in screen.text
        await screen.press("enter")
        assert isinstance(screen.app.screen, SourceScreen)


async def test_the_source_comes_before_earlier_wordings(stocked: Engine) -> None:
    number = stocked.queue.ids(QueueQuery(filter="kind:memory"))[0]
    stocked.triage.promote([number])
    stocked.triage.edit(number, "Reworded", promote=False)
    async with opened(stocked, on="f5") as screen:
        why = memory_screen(screen).why.plain_text
        assert 0 < why.index("decisions.md") < why.index("earlier wording")


async def test_a_key_is_about_the_row_under_the_cursor_not_about_the_one_still_shown(
    known: Engine, screen: Screen
) -> None:
    await screen.press("f5", "j")
    shown = memory_screen(screen)
    assert shown.layer == "entity"
    shown.list.move_by(-1)
    await shown.perform(READ)
    await screen.settle()
    assert isinstance(screen.app.screen, SourceScreen)
    assert "decisions.md · line 5 of" in screen.text
