"""The Compress screen by its keys: which context is shown, and what others write meanwhile."""

from __future__ import annotations

from reviewer.engine import CommitQuery, Engine
from reviewer.tui.screens.commits import CommitsScreen
from tests.tui.compress.driving import (
    chain,
    compress,
    levels,
    said,
    stocked,
)
from tests.tui.conftest import opened


async def test_c_on_the_commits_screen_begins_at_its_commit(machines):
    async with opened(machines, project="acme") as screen:
        await screen.press("f3", "G", "k", "c")
        shown = compress(screen)
        begin = machines.contexts.ids(CommitQuery(1))[-2]
        assert shown.start == begin
        assert shown.data.segments[0].turns[0].commit == begin
        assert len(shown.data.segments) == 1
        await screen.press("b")
        assert len(compress(screen).data.segments) == 4


async def test_the_context_of_the_commits_screen_is_the_one_here(engine, tmp_path):
    stocked(engine, tmp_path, name="first")
    stocked(engine, tmp_path, 2, name="second")
    async with opened(engine, project="acme") as screen:
        await screen.press("f3")
        commits = screen.app.screen
        assert isinstance(commits, CommitsScreen)
        await screen.press("t")
        shown = commits.reading.context
        assert shown is not None
        await screen.press("f4")
        assert compress(screen).context.id == shown.id
        await screen.press("t")
        assert compress(screen).context.id != shown.id


async def test_levels_are_still_chosen_after_another_screen(machines):
    async with opened(machines, project="acme") as screen:
        await screen.press("f4", "4", "j", "2", "f3", "f4")
        assert levels(screen) == "TDFF"


async def test_somebody_else_moves_the_head_meanwhile(machines):
    async with opened(machines, project="acme") as screen:
        await screen.press("f4", "4")
        other = Engine.open(machines.path)
        other.contexts.add(1, role="user", text="And the receipts have to be blue from now on.")
        other.close()
        compress(screen).watch_store()
        await screen.settle()
        assert "changed meanwhile" in said(screen)
        assert "receipts have to be blue" in " ".join(
            turn.text for turn in compress(screen).data.segments[-1].turns
        )
        assert levels(screen)[0] == "T", "what was chosen for the same commits is kept"


async def test_applying_what_changed_meanwhile_writes_nothing(machines):
    async with opened(machines, project="acme") as screen:
        await screen.press("f4")
        other = Engine.open(machines.path)
        other.contexts.add(1, role="user", text="And the receipts have to be blue from now on.")
        other.close()
        await screen.press("A")
        assert "summary" not in chain(machines)
        assert "changed" in said(screen)
        await screen.press("A")
        assert "summary" in chain(machines), "it was read again, so the next key applies it"
