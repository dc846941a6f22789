"""The registry of actions: everything that a key does is complete, reachable and unambiguous."""

from __future__ import annotations

from operator import attrgetter

import pytest
from reviewer.tui.holders import holders

from reviewer.engine import Engine
from reviewer.tui.legacy_actions import ACTIONS, PANES, actions_of, bindings_for, key_table
from reviewer.tui.situation import Situation
from tests.tui.conftest import opened


@pytest.mark.parametrize("action", ACTIONS.values(), ids=ACTIONS)
def test_every_action_says_what_it_is(action):
    assert action.title
    assert action.help.endswith(".")
    assert action.group
    assert action.panes
    assert set(action.panes) <= set(PANES)


@pytest.mark.parametrize("pane", PANES)
def test_no_two_actions_of_a_pane_share_a_key(pane):
    keys = [key for action in actions_of([pane]) for key in action.keys.split(",") if key]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize("pane", PANES)
def test_a_pane_binds_exactly_its_actions(pane):
    bound = {binding.id for binding in bindings_for(pane)} - {None}
    assert bound == {action.id for action in actions_of([pane]) if action.keys}


def test_the_registry_has_no_twins():
    from reviewer.tui import legacy_actions as actions

    assert len(actions._TABLE) == len(ACTIONS)


@pytest.mark.parametrize("action", ACTIONS.values(), ids=ACTIONS)
def test_a_reason_is_a_sentence(action):
    reason = action.why_disabled(Situation()) if action.why_disabled else None
    assert reason is None or reason.endswith(".")


def test_footers_hold_seven_keys_at_most_in_eighty_columns():
    for pane in PANES:
        shown = [action for action in actions_of([pane, "app"]) if action.footer]
        assert len({action.footer for action in shown}) == len(shown), pane


async def test_every_run_target_of_the_queue_exists_and_is_reachable(stocked: Engine):
    async with opened(stocked) as screen:
        found = {action.id: node for action, node in holders(screen.app.screen)}
        wanted = {action.id for action in actions_of(["queue", "app"]) if action.keys}
        assert wanted <= set(found)
        for name, node in found.items():
            assert callable(attrgetter(ACTIONS[name].run)(node)), name
        for name in ("switch_theme",):
            assert callable(attrgetter(ACTIONS[name].run)(screen.app))


@pytest.mark.parametrize(
    ("keys", "pane"),
    [
        (("f7",), "state"),
        (("f7", "n"), "form"),
        (("f7", "X"), "choose"),
        (("f7", "X", "enter"), "export"),
        (("W",), "why"),
        (("slash",), "filter"),
        (("e",), "edit"),
        (("tab",), "text"),
        (("o",), "source"),
        (("f8",), "history"),
        (("question_mark",), "help"),
    ],
)
async def test_every_run_target_of_a_pane_exists(stocked: Engine, keys, pane):
    async with opened(stocked) as screen:
        await screen.press(*keys)
        found = {action.id: node for action, node in holders(screen.app.screen)}
        for action in actions_of([pane]):
            if action.keys:
                assert action.id in found, action.id
                assert callable(attrgetter(action.run)(found[action.id])), action.id


def test_the_key_table_names_every_action():
    table = key_table()
    for action in ACTIONS.values():
        assert action.help in table
    assert "| `a` |" in table
    assert "| `?` `F1` |" in table
