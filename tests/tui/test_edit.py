"""Editing: the text above, the difference below, drafts, and texts that cannot be saved."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from reviewer.engine import Engine
from reviewer.sharing import personal
from reviewer.text.display import display_text
from reviewer.text.word_diff import hunks
from reviewer.tui.kit import edit_pane, keys
from reviewer.tui.kit.edit_pane import EditPane, diff_block, length_remark
from reviewer.tui.kit.text_edit import TextEdit
from reviewer.tui.theme import GLYPHS
from tests.present import present
from tests.tui.conftest import SOON, Screen, opened
from tests.tui.idle import idle
from tests.tui.views import HOSTILE

ORIGINAL = "Use PostgreSQL 16 for the ledger; SQLite stays for tests."
KEY = 412


@asynccontextmanager
async def editing(
    engine: Engine, original: str = ORIGINAL, draft: str = ""
) -> AsyncIterator[tuple[Screen, EditPane]]:
    """An editor over the queue, with a text of no row."""
    if draft:
        engine.drafts.save(KEY, draft)

    async def save(text: str) -> str:
        return text

    edit = TextEdit(
        key=KEY,
        title="Edit #412",
        original=original,
        drafts=engine.drafts,
        save=save,
        saved=lambda _: None,
        again=keys.SAVE_EDIT,
    )
    async with opened(engine, size=(80, 24)) as screen:
        await screen.queue.edit_text(edit)
        await screen.settle()
        yield screen, screen.app.screen.query_one(EditPane)


def difference(pane: EditPane) -> str:
    return " ".join(pane.difference.plain_text.split())


def test_brackets_mark_removals_and_additions() -> None:
    found = hunks("Use MySQL 8 here", "We use MySQL 9 here")
    assert diff_block(found, 0, GLYPHS).text == "▌[-Use-] {+We use+} MySQL [-8-] {+9+} here"
    assert diff_block(found, 1, GLYPHS).text == "[-Use-] {+We use+} MySQL ▌[-8-] {+9+} here"
    assert diff_block(hunks("a", "a"), 0, GLYPHS).text == "No changes yet."


@pytest.mark.parametrize(
    ("content", "remark", "warn"),
    [
        ("x" * 57, "57 characters", False),
        ("  ", "0 characters", True),
        ("short", "5 characters", True),
        ("x" * 1281, "1,281 characters, may be cut", True),
    ],
)
def test_the_length_is_remarked_on(content: str, remark: str, warn: bool) -> None:
    assert length_remark(content) == (remark, warn)


async def test_the_difference_follows_the_typing_and_what_cannot_be_saved_stays(
    engine: Engine,
) -> None:
    async with editing(engine) as (screen, pane):
        assert "No changes yet." in difference(pane)
        await screen.press("backspace", "!")
        assert "change 1 of 1" in difference(pane)
        assert "[-.-] {+!+}" in difference(pane)
        pane.editor.load_text(" ")
        await screen.press("ctrl+s")
        assert "A memory has at least 8 characters, this has 0." in screen.status
        assert screen.queue.editing is not None


async def test_a_draft_is_kept_after_a_moment_and_discarded_with_the_change(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edit_pane, "DRAFT_AFTER", SOON / 2)
    async with editing(engine) as (screen, pane):
        pane.editor.insert("!")
        assert engine.drafts.load(KEY) is None
        await idle(SOON)
        assert engine.drafts.load(KEY) == ORIGINAL + "!"
        await screen.press("backspace", "escape")
        assert engine.drafts.load(KEY) is None
        assert screen.status == "Edit #412: left unchanged."


async def test_the_editor_stays_open_over_a_filter_that_finds_nothing(engine: Engine) -> None:
    async with editing(engine) as (screen, pane):
        screen.queue.run_filter("zebra", here=None)
        await screen.settle()
        assert pane.region
        await screen.press("escape")
        assert screen.queue.editing is None


async def test_an_emptied_draft_is_discarded(engine: Engine) -> None:
    async with editing(engine, draft="Take PostgreSQL 17") as (screen, pane):
        assert screen.status == "Edit #412: this is your draft; empty it to discard it."
        pane.editor.load_text("")
        await screen.press("escape")
        assert engine.drafts.load(KEY) is None


async def test_hunks_are_walked_and_put_back_one_by_one(engine: Engine) -> None:
    draft = "Take PostgreSQL 17 for the ledger; SQLite stays for tests!"
    async with editing(engine, draft=draft) as (screen, pane):
        assert "reverts it" not in screen.text, "in the text, the keys are typed"
        await screen.press("tab")
        assert "{ } turn, backspace reverts it" in screen.text
        assert screen.app.focused is pane.difference
        assert "change 1 of 3" in difference(pane)
        await screen.press("right_curly_bracket")
        assert "change 2 of 3" in difference(pane)
        await screen.press("backspace")
        assert pane.content == "Take PostgreSQL 16 for the ledger; SQLite stays for tests!"
        await screen.press("left_curly_bracket", "left_curly_bracket", "backspace", "backspace")
        assert pane.content == ORIGINAL
        await screen.press("backspace")
        assert pane.content == ORIGINAL
        assert "No changes to revert" in screen.status
        await screen.press("tab", "ctrl+z")
        assert pane.content != ORIGINAL, "the editor can undo that"


async def test_hidden_characters_are_visible_and_stay_in_the_text(engine: Engine) -> None:
    async with editing(engine, HOSTILE) as (_, pane):
        rows = [pane.editor.render_line(y).text for y in range(pane.editor.size.height)]
        assert any("␛]52;c;aGk=␇␛[31mred" in row for row in rows)
        assert [display_text(row) for row in rows] == rows
        assert pane.content == HOSTILE


async def test_text_being_typed_at_the_end_of_the_program_is_kept(stocked: Engine) -> None:
    async with opened(stocked) as screen:
        number = present(screen.model.current_id)
        wording = stocked.queue.candidate(number).content
        await screen.press("e")
        await screen.pilot.press("!", "ctrl+q")
    assert stocked.drafts.load(number) == wording + "!"
    async with opened(stocked) as screen:
        await screen.press("e")
        assert screen.status == f"Edit #{number}: this is your draft; empty it to discard it."
        await screen.press("ctrl+s")
    assert stocked.queue.candidate(number).content == wording + "!"
    assert stocked.queue.wordings(number)[0][1] == wording
    assert stocked.drafts.load(number) is None


async def test_f1_in_the_editor_lists_its_keys_and_ctrl_a_goes_to_the_start_of_the_line(
    stocked: Engine,
) -> None:
    async with editing(stocked) as (screen, pane):
        await screen.press("f1")
        assert "revert change" in screen.text
        assert "Finish this first" not in screen.text
        before = pane.content
        await screen.press("escape", "ctrl+a", *"Anew ")
        assert pane.content == f"Anew {before}"


async def test_a_new_memory_has_no_changes_to_list_and_is_emptied_by_one_key(
    stocked: Engine,
) -> None:
    async with opened(stocked, project="acme", on="f5") as screen:
        await screen.press("n", *"Oil it.", "enter", *"Twice.", "f1")
        assert "revert change" not in screen.text
        assert "F1         help" in screen.text
        assert "ctrl+u     empty" in screen.text
        await screen.press("escape", "ctrl+u")
        assert "Twice." not in screen.text
        await screen.press("ctrl+z")
        assert "Twice." in screen.text


async def test_drafts_that_cannot_be_listed_are_said_and_end_nothing(stocked: Engine) -> None:
    personal(stocked.path, "-drafts").touch()
    async with opened(stocked, project="acme") as screen:
        await screen.press("a")
        assert "drafts cannot be read: Not a directory." in screen.status
