"""Which key does what, and why one has no effect now."""

from __future__ import annotations

import os

import pytest

from reviewer.engine import Engine
from reviewer.tui.actions import ACTIONS, FORMER_IDS
from reviewer.tui.commits.keys import COMMITS, RETENTION
from tests.tui.commits.driving import chain, commits, status_text
from tests.tui.conftest import opened

REASONS = [
    ("no context", [], "p", "There is no context yet: I imports a transcript."),
    ("no context to filter", [], "slash", "There is no context yet: I imports a transcript."),
    ("nothing matches", ["slash", *"zzz", "enter"], "i", "The list is empty."),
    ("nothing matches, all", ["slash", *"zzz", "enter"], "*", "The list is empty."),
    ("several are marked", ["space", "space"], "e",
     "A text is edited one commit at a time: esc clears the marks."),
    ("one context", [], "t", "This is the only context: I imports another transcript."),
    ("nothing to undo", [], "u", "There is nothing to undo."),
    ("nothing to redo", [], "Z", "There is nothing to redo."),
    ("nothing zoomed", [], "_", "No pane is zoomed: + fills the screen."),
    ("a text under the cursor", ["r"], "ctrl+r", "Go to a pattern first: tab."),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "before", "key", "reason"), REASONS, ids=[one[0] for one in REASONS]
)
async def test_why_a_key_has_no_effect(
    engine: Engine, request: pytest.FixtureRequest, name: str, before: list[str], key: str,
    reason: str
) -> None:  # fmt: skip
    if not name.startswith("no context"):
        request.getfixturevalue("fair")
    async with opened(engine, project="acme") as screen:
        await screen.press("f3", *before, key)
        assert status_text(screen) == reason


async def test_a_commit_by_hand_has_no_line_to_open(fair: Engine) -> None:
    fair.contexts.add(1, role="user", text="By hand.")
    shown = fair.contexts.commit(chain(fair)[-1]).row.hash[:8]
    async with opened(fair, project="acme") as screen:
        for key in ("o", "E"):
            await screen.press("f3", "G", key)
            sentence = f"{shown} has no source line: it was not imported from a file."
            assert status_text(screen) == sentence


@pytest.mark.parametrize("key", ["p", "u", "C", "q", "I"])
async def test_a_key_of_the_list_waits_until_the_open_form_is_left(fair: Engine, key: str) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "r")
        commits(screen).set_focus(commits(screen).list)
        await screen.press(key)
        assert status_text(screen) == "Finish this first: ctrl+s saves it, esc keeps it as a draft."


async def test_a_read_only_store_is_not_written(
    fair: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    fair.close()
    monkeypatch.setattr(os, "access", lambda path, mode: mode == os.R_OK and path.exists())
    looking = Engine.open(fair.path)
    async with opened(looking, project="acme") as screen:
        for key in ("p", "r", "e", "I", "u"):
            await screen.press("f3", key)
            assert status_text(screen).startswith("The store is read-only")
    looking.close()


def test_the_panes_are_registered_and_former_ids_lead_somewhere() -> None:
    for action in (*COMMITS.actions, *RETENTION.actions):
        assert ACTIONS[action.id] == action
    assert all(new in ACTIONS for new in FORMER_IDS.values())


async def test_help_names_every_key_of_the_screen(fair: Engine) -> None:
    async with opened(fair, size=(118, 70), project="acme") as screen:
        await screen.press("f3", "question_mark")
        for title in ("pin", "what would fit", "import", "edit text", "next context", "compress"):
            assert title in screen.text
