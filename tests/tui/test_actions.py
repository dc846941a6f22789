"""The registry of actions: everything that a key does is complete, reachable and unambiguous."""

from __future__ import annotations

import pytest

from reviewer.tui.actions import ACTIONS, PANES
from reviewer.tui.help import help_rows
from reviewer.tui.kit.action import Pane
from reviewer.tui.kit.actor import reachable
from reviewer.tui.kit.keys import APP, UNDO
from reviewer.tui.kit.screen import KitScreen
from tests.generate_docs import keys_page
from tests.tui.conftest import Screen

BY_ID = {pane.id: pane for pane in PANES}


def test_every_action_has_a_title_and_a_sentence() -> None:
    for action in ACTIONS.values():
        assert action.title, action.id
        assert action.help.endswith("."), action.id


def test_keys_are_unambiguous_in_every_pane_and_its_footer_shows_its_own_actions() -> None:
    for pane in PANES:
        keys = [key for action in pane.actions for key in action.keys.split(",") if key]
        assert len(keys) == len(set(keys)), pane.id
        assert set(pane.footer) <= set(pane.actions), pane.id


def test_one_id_is_one_action_on_all_screens() -> None:
    every = {action for pane in PANES for action in pane.actions}
    assert len({action.id for action in every}) == len(every)


def test_undo_is_the_same_action_on_every_screen_that_writes() -> None:
    writing = [BY_ID[name] for name in ("queue", "context", "memory", "history")]
    assert all(UNDO in pane.actions for pane in writing)


@pytest.mark.parametrize(
    ("keys", "pane"),
    [
        ((), "queue"),
        (("f3",), "context"),
        (("f4",), "packet"),
        (("f6",), "pipelines"),
        (("f5",), "memory"),
        (("slash",), "filter"),
        (("e",), "edit"),
        ((), "text"),
        (("tab",), "text"),
        (("o",), "source"),
        (("f8",), "history"),
        (("question_mark",), "choose"),
    ],
)
async def test_every_key_of_a_pane_is_reachable_and_gives_its_reason_in_a_sentence(
    keys: tuple[str, ...], pane: str, screen: Screen
) -> None:
    await screen.press(*keys)
    found = dict(reachable(screen.app.screen))
    taken = {key for action in BY_ID[pane].actions for key in action.keys.split(",")}
    outer = [each for each in APP.actions if not taken.issuperset(each.keys.split(","))]
    for action in (*BY_ID[pane].actions, *outer):
        assert action in found, action.id
        reason = found[action].why_not(action)
        assert reason is None or reason.endswith((".", "?")), reason


def test_the_key_table_names_every_action() -> None:
    table = keys_page()
    for action in ACTIONS.values():
        assert action.help in table
    assert "| `a` |" in table
    assert "| `?` `F1` `ctrl+p` `:` |" in table


def letters(pane: Pane) -> set[str]:
    """The letters that a screen gives a meaning, whether small or large."""
    keys = [key for action in pane.actions for key in action.keys.split(",")]
    return {key.lower() for key in keys if len(key) == 1 and key.isalpha()}


@pytest.mark.parametrize(
    "name", ["queue", "context", "packet", "memory", "pipelines", "agents", "history", "session"]
)
def test_a_screen_has_at_most_fourteen_letters(name: str) -> None:
    assert len(letters(BY_ID[name])) <= 14


def test_a_letter_means_the_same_on_the_screens_that_have_it() -> None:
    meanings = {
        key: {
            action.title
            for name in ("queue", "context", "packet", "memory", "pipelines", "session")
            for action in BY_ID[name].actions
            if action.keys.split(",")[0] == key
        }
        for key in "aeuoy"
    }
    assert meanings["a"] == {"promote", "apply"}, "what stands there is taken over"
    assert meanings["e"] == {"edit", "word a memory"}
    assert all(len(titles) == 1 for key, titles in meanings.items() if key not in "ae"), meanings


async def test_the_help_of_a_screen_has_at_most_24_rows(screen: Screen) -> None:
    for key in ("f2", "f3", "f4", "f5", "f6", "f7", "f8", "enter"):
        await screen.press("f2", key)
        rows = help_rows(screen.top(KitScreen))
        assert len(rows) <= 24, [row.title for row in rows]
        await screen.press("question_mark")
        assert "kept" in screen.text, key
        await screen.press("escape", "escape")
