"""Editing a commit on the Commits screen: saved, left as a draft, refused."""

from __future__ import annotations

from reviewer.engine import Engine
from tests.tui.commits.driving import TURNS, at, chain, commits, said
from tests.tui.conftest import opened


async def test_an_edit_is_saved_shown_and_undone(fair: Engine) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "j", "e", *" Really", "ctrl+s")
        number = chain(fair)[1]
        view = fair.contexts.commit(number)
        assert view.text.endswith(" Really")
        assert view.original == TURNS[1][1]
        assert "Edited" in said(screen)
        assert "the original stays" in screen.text
        await screen.press("G", "u")
        assert fair.contexts.commit(number).text == TURNS[1][1]
        assert at(screen) == 1


async def test_leaving_an_edit_keeps_a_draft(fair: Engine) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "j", "e", *" Really", "escape")
        assert "is kept: e goes on" in said(screen)
        await screen.press("e")
        assert "goes on where you left it" in said(screen)
        assert commits(screen).editing._pane.content.endswith(" Really")
        assert fair.contexts.commit(chain(fair)[1]).text == TURNS[1][1]


async def test_an_empty_text_is_refused_in_place(fair: Engine) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "j", "e")
        commits(screen).editing._pane.editor.load_text("  ")
        await screen.press("ctrl+s")
        assert "needs words" in said(screen)
        assert commits(screen).busy == "edit"
