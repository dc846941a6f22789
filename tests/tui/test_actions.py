"""The registry of actions: everything that a key does is complete, reachable and unambiguous."""

from __future__ import annotations

import pytest

from reviewer.engine import Engine
from reviewer.tui.actions import ACTIONS, FORMER_IDS, PANES, key_table
from reviewer.tui.kit.action import Action, Pane
from reviewer.tui.kit.actor import Actor, reachable, runs
from reviewer.tui.kit.keys import APP, UNDO
from tests.tui.conftest import opened

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


def test_former_ids_lead_to_actions_and_are_not_in_use() -> None:
    assert set(FORMER_IDS.values()) <= set(ACTIONS)
    assert not set(FORMER_IDS) & set(ACTIONS)


def test_undo_is_the_same_action_on_every_screen_that_writes() -> None:
    writing = [BY_ID[name] for name in ("queue", "commits", "compress", "state", "history")]
    assert all(UNDO in pane.actions for pane in writing)


def test_a_pane_whose_action_has_no_method_is_refused() -> None:
    pane = Pane("bad", "Bad", (Action("nothing", "z", "nothing", "Nothing.", "Look"),))
    with pytest.raises(TypeError, match="no method for nothing"):

        class Bad(Actor, pane=pane):
            """Marks another action."""

            @runs(UNDO)
            def undo(self) -> None: ...


@pytest.mark.parametrize(
    ("keys", "pane"),
    [
        ((), "queue"),
        (("f3",), "commits"),
        (("f4",), "compress"),
        (("f5",), "packet"),
        (("f6",), "pipelines"),
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
async def test_every_key_of_a_pane_is_reachable_and_gives_its_reason_in_a_sentence(
    stocked: Engine, keys: tuple[str, ...], pane: str
) -> None:
    async with opened(stocked) as screen:
        await screen.press(*keys)
        found = dict(reachable(screen.app.screen))
        taken = {key for action in BY_ID[pane].actions for key in action.keys.split(",")}
        outer = [each for each in APP.actions if not taken.issuperset(each.keys.split(","))]
        for action in (*BY_ID[pane].actions, *outer):
            assert action in found, action.id
            reason = found[action].why_not(action)
            assert reason is None or reason.endswith((".", "?")), reason


def test_the_key_table_names_every_action() -> None:
    table = key_table()
    for action in ACTIONS.values():
        assert action.help in table
    assert "| `a` |" in table
    assert "| `?` `F1` |" in table
