"""Why a key of the Commits screen does nothing now, and that every key reaches something."""

from __future__ import annotations

from operator import attrgetter

import pytest

from reviewer.engine import Engine
from reviewer.tui.legacy_actions import ACTIONS, actions_of
from reviewer.tui.holders import holders
from reviewer.tui.keys.commits import About
from reviewer.tui.situation import Situation
from tests.tui.conftest import opened

READY = About(contexts=2, context="fair", commit="c3f9e211", source="/fair.jsonl", line=True)


def now(about: About = READY, **fields: object) -> Situation:
    known = {"rows": 6, "undo": "Pinned c3f9e211", "redo": "Pinned c3f9e211", "zoomed": True}
    return Situation(**{**known, **fields}, about=about)  # type: ignore[arg-type]


def changed(**fields: object) -> About:
    from dataclasses import replace

    return replace(READY, **fields)  # type: ignore[arg-type]


REASONS = [
    ("pin", now(changed(contexts=0, context="", commit="")),
     "There is no context yet: I imports a transcript."),
    ("pin", now(changed(reading=True, contexts=0, context="", commit="")),
     "The context is still being read: once more."),
    ("pin", now(changed(commit="")), "There is no commit under the cursor."),
    ("make_skip", now(changed(busy="retain")),
     "Finish what must survive first: ctrl+s writes it, escape keeps a draft."),
    ("retain", now(changed(busy="edit")),
     "Finish the edit first: ctrl+s saves it, escape keeps a draft."),
    ("commit_undo", now(changed(busy="choose")),
     "Choose first: enter takes a line, escape leaves."),
    ("commit_edit", now(marked=3),
     "A text is edited one commit at a time: escape clears the marks."),
    ("commit_source", now(changed(line=False)),
     "c3f9e211 names no line of a file: it was not imported from one."),
    ("commit_editor", now(changed(source=None)),
     "c3f9e211 names no line of a file: it was not imported from one."),
    ("commit_mark_all", now(rows=0), "The list is empty."),
    ("next_context", now(changed(contexts=1)),
     "This is the only context: I imports another transcript."),
    ("import_context", now(changed(importing="fair.jsonl")),
     "fair.jsonl is still being imported."),
    ("commit_undo", now(undo=None), "There is nothing to undo."),
    ("commit_redo", now(redo=None), "There is nothing to redo."),
    ("commit_unzoom", now(zoomed=False), "No pane is zoomed: + fills the screen with one."),
]  # fmt: skip


@pytest.mark.parametrize(
    ("action", "situation", "sentence"), REASONS, ids=[f"{one[0]}: {one[2]}" for one in REASONS]
)
def test_why_a_key_does_nothing(action: str, situation: Situation, sentence: str) -> None:
    reason = ACTIONS[action].why_disabled
    assert reason is not None
    assert reason(situation) == sentence


@pytest.mark.parametrize("action", actions_of(["commits", "retain"]), ids=lambda one: one.id)
def test_nothing_is_in_the_way_when_all_is_there(action) -> None:
    assert action.why_disabled is None or action.why_disabled(now()) is None


def test_a_priority_says_how_many_it_takes() -> None:
    assert ACTIONS["pin"].titled(now(marked=7)) == "pin 7"


@pytest.mark.parametrize(
    ("keys", "pane"),
    [
        (("f3",), "commits"),
        (("f3", "r"), "retain"),
        (("f3", "e"), "edit"),
        (("f3", "slash"), "filter"),
        (("f3", "C"), "choose"),
        (("f3", "tab"), "text"),
    ],
)
async def test_every_run_target_of_a_pane_exists(fair: Engine, keys, pane) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press(*keys)
        found = {action.id: node for action, node in holders(screen.app.screen)}
        for action in actions_of([pane]):
            if action.keys:
                assert action.id in found, action.id
                assert callable(attrgetter(action.run)(found[action.id])), action.id
