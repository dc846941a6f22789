"""The filter of the Commits screen: live, and decisions under it."""

from __future__ import annotations

from textual.widgets import Input

from reviewer.engine import Engine
from tests.present import present
from tests.tui.commits.driving import at, commits, priorities, status_text
from tests.tui.conftest import opened

FILTERS = [
    # typed, positions, cursor (when it began on position 3)
    ("deposit", [4, 5], 4),
    ("priority:pinned", [0], 0),
    ("role:user", [1, 3, 5], 3),
    ("role:user -council", [1], 1),
    ("tokens>3", [0, 1, 2, 3, 4, 5], 3),
    ("nothing like it", [], None),
]


async def test_the_filter_is_live_and_escape_goes_back_to_the_row(fair: Engine) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "j", "j", "j")
        for text, positions, cursor in FILTERS:
            await screen.press("/", *text)
            model = present(commits(screen).model)
            assert [row.position for row in fair.contexts.rows(model.ids)] == positions, text
            assert (model.current.position if model.current else None) == cursor, text
            if not positions:
                assert "Nothing matches / nothing like it" in screen.text
            await screen.press("escape")
            assert len(present(commits(screen).model).ids) == 6, text
            assert at(screen) == 3, text


async def test_an_invalid_filter_is_explained_and_leaves_the_list_alone(fair: Engine) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "/", *"role:user")
        field = screen.app.screen.query_one("#filter Input", Input)
        field.value = "role:user rolle:user"
        await screen.settle()
        assert 'did you mean "role"?' in status_text(screen)
        assert len(present(commits(screen).model).ids) == 3
        await screen.press("enter")
        assert present(commits(screen).filter_bar).focused
        await screen.press("escape")
        assert commits(screen).list.has_focus
        assert len(present(commits(screen).model).ids) == 6
        assert status_text(screen) == ""


async def test_a_decided_row_stays_under_the_filter_until_it_is_read_again(fair: Engine) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "/", *"priority:normal", "enter", "p")
        assert len(present(commits(screen).model).ids) == 5
        assert at(screen) == 1
        await screen.press("R")
        assert len(present(commits(screen).model).ids) == 4
        assert at(screen) == 2


async def test_a_bulk_takes_what_the_filter_shows(fair: Engine) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "/", *"role:user", "enter", "*", "i")
        assert priorities(fair) == "pinini"
        assert status_text(screen).startswith("Marked 3 commits important - u to undo")
