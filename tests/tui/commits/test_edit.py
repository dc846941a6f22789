"""Editing a commit on the Commits screen: saved, left as a draft, refused."""

from __future__ import annotations

from reviewer.engine import Engine
from tests.tui.commits.driving import TURNS, at, chain, status_text, typed
from tests.tui.conftest import opened


async def test_an_edit_is_saved_shown_and_undone(fair: Engine) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "j", "e", *" Really", "ctrl+s")
        number = chain(fair)[1]
        view = fair.contexts.commit(number)
        assert view.text.endswith(" Really")
        assert view.original == TURNS[1][1]
        assert "Edited" in status_text(screen)
        assert "the original is kept" in screen.text
        await screen.press("G", "u")
        assert fair.contexts.commit(number).text == TURNS[1][1]
        assert at(screen) == 1


async def test_leaving_an_edit_keeps_a_draft(fair: Engine) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "j", "e", *" Really", "escape")
        assert "is kept; e continues" in status_text(screen)
        await screen.press("e")
        assert "this is your draft" in status_text(screen)
        assert "signs. Really" in screen.text or " Really" in screen.text
        assert fair.contexts.commit(chain(fair)[1]).text == TURNS[1][1]


async def test_an_empty_text_is_refused_in_place(fair: Engine) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "j", "e")
        typed(screen, "#edit EditorArea", "  ")
        await screen.press("ctrl+s")
        assert "needs words" in status_text(screen)
        assert "ctrl+s save" in screen.text


async def test_a_second_edit_begins_with_the_text_as_it_is(fair: Engine) -> None:
    number = chain(fair)[1]
    fair.contexts.edit(number, "Another wording.")
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "j", "e")
        assert "characters" in screen.text
        assert "proposals have" not in screen.text
        await screen.press(*" More.", "ctrl+s")
        view = fair.contexts.commit(number)
        assert (view.text, view.original) == ("Another wording. More.", TURNS[1][1])


async def test_an_unchanged_text_is_not_written_and_keeps_no_draft(fair: Engine) -> None:
    fair.contexts.edit(chain(fair)[1], "Another wording.")
    before = fair.history.acts_total()
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "j", "e", "escape")
        assert not fair.edit_drafts.ids()
        await screen.press("e", "ctrl+s")
        assert "reads so already" in status_text(screen)
        assert fair.history.acts_total() == before
