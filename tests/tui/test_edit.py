"""Editing: the text above, the difference below, drafts, and texts that cannot be saved."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace

import pytest
from textual import on
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.timer import Timer

from reviewer.engine import Engine
from reviewer.text.display import display_text
from reviewer.text.word_diff import hunks
from reviewer.tui.kit import edit_pane, keys
from reviewer.tui.kit.actor import StatusMessage
from reviewer.tui.kit.bars import StatusBar
from reviewer.tui.kit.edit_pane import EditPane, diff_block, length_remark
from reviewer.tui.kit.text_edit import TextEdit
from reviewer.tui.theme import DARK, GLYPHS, THEMES
from tests.tui.conftest import SOON, opened
from tests.tui.idle import idle
from tests.tui.views import HOSTILE

LONG = 3600.0
ORIGINAL = "Use PostgreSQL 16 for the ledger; SQLite stays for tests."


class Editor(App[int]):
    """An edit pane alone, and its messages."""

    def __init__(self) -> None:
        super().__init__()
        self.engine = SimpleNamespace(read_only=False, waits_to_write=lambda: False)
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = DARK
        self.pane = EditPane()
        self.posted: list[tuple[str, int, str, bool]] = []

    def compose(self) -> ComposeResult:
        yield self.pane
        yield StatusBar()

    @on(StatusMessage)
    def show_status(self, message: StatusMessage) -> None:
        self.query_one(StatusBar).say(message.text)

    @on(EditPane.Saved)
    @on(EditPane.Left)
    @on(EditPane.DraftChanged)
    def heard(self, message: EditPane.Edited) -> None:
        name = type(message).__name__
        self.posted.append((name, message.memory, message.content, message.changed))


@asynccontextmanager
async def editing(
    original: str = ORIGINAL, draft: str | None = None, size: tuple[int, int] = (80, 24)
) -> AsyncIterator[tuple[Editor, Pilot[int]]]:
    app = Editor()
    async with app.run_test(size=size) as pilot:
        edit = TextEdit(
            key=412,
            title="Edit #412",
            original=original,
            drafts=None,  # type: ignore[arg-type]
            save=lambda _: asyncio.sleep(0),
            saved=lambda _: None,
            again=keys.SAVE_EDIT,
            verb="promote",
        )
        app.pane.begin(edit, draft)
        await pilot.pause()
        yield app, pilot


def difference(app: Editor) -> str:
    return " ".join(app.pane.difference.plain_text.split())


async def settle(pilot: Pilot[int]) -> None:
    """Let the difference be drawn."""
    await idle(SOON)
    await pilot.pause()


def kinds(app: Editor) -> list[str]:
    return [name for name, *_ in app.posted]


# the difference as text


def test_brackets_mark_removals_and_additions() -> None:
    found = hunks("Use MySQL 8 here", "We use MySQL 9 here")
    assert diff_block(found, 0, GLYPHS).text == "▌[-Use-] {+We use+} MySQL [-8-] {+9+} here"
    assert diff_block(found, 1, GLYPHS).text == "[-Use-] {+We use+} MySQL ▌[-8-] {+9+} here"


def test_an_unchanged_text_is_reported() -> None:
    assert diff_block(hunks("a", "a"), 0, GLYPHS).text == "Nothing is changed yet."


@pytest.mark.parametrize(
    ("content", "remark", "warn"),
    [
        ("x" * 57, "57 characters", False),
        ("  ", "empty", True),
        ("short", "5 characters, a memory has at least 8", True),
        ("x" * 1281, "1,281 characters, proposals have at most 280", True),
    ],
)
def test_the_length_is_remarked_on(content: str, remark: str, warn: bool) -> None:
    assert length_remark(content) == (remark, warn)


# in the pane


async def test_the_difference_follows_the_typing() -> None:
    async with editing() as (app, pilot):
        assert "Nothing is changed yet." in difference(app)
        await pilot.press("backspace", "!")
        await settle(pilot)
        assert "[-.-] {+!+}" in difference(app)
        assert "change 1 of 1" in difference(app)


async def test_ctrl_s_posts_the_wording() -> None:
    async with editing() as (app, pilot):
        await pilot.press("home", "W", "e", "space", "ctrl+s")
        assert app.posted[-1] == ("Saved", 412, "We " + ORIGINAL, True)


async def test_an_empty_wording_is_refused_with_a_sentence() -> None:
    async with editing("word") as (app, pilot):
        await pilot.press(*["backspace"] * 4, "space", "ctrl+s")
        assert "Saved" not in kinds(app)
        assert "A memory has at least 8 characters, this has 0." in app.query_one(StatusBar).text


async def test_escape_posts_the_text_and_whether_it_differs() -> None:
    async with editing() as (app, pilot):
        await pilot.press("escape")
        assert app.posted[-1] == ("Left", 412, ORIGINAL, False)
    async with editing() as (app, pilot):
        await pilot.press("!", "escape")
        assert app.posted[-1] == ("Left", 412, ORIGINAL + "!", True)


async def test_a_draft_is_given_out_after_a_moment_and_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(edit_pane, "DRAFT_AFTER", SOON / 2)
    async with editing() as (app, _):
        app.pane.editor.insert("!")
        app.pane.editor.insert("!")
        assert kinds(app) == []
        await idle(SOON)
        assert app.posted == [("DraftChanged", 412, ORIGINAL + "!!", True)]


async def test_leaving_gives_no_draft_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    timers: list[Timer] = []

    def noted(pane: EditPane, *_: object) -> Timer:
        timers.append(Timer(pane, LONG, callback=None))
        return timers[-1]

    stopped: list[Timer] = []
    monkeypatch.setattr(EditPane, "set_timer", noted)
    monkeypatch.setattr(Timer, "stop", lambda timer: stopped.append(timer))
    async with editing() as (app, pilot):
        app.pane.editor.insert("!")
        await pilot.press("escape")
        assert kinds(app) == ["Left"]
        assert len(timers) > 1
        assert all(timer in stopped for timer in timers)


async def test_a_draft_is_continued_and_compared_with_the_original(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(edit_pane, "DRAFT_AFTER", SOON / 2)
    async with editing(draft=ORIGINAL + " Really.") as (app, pilot):
        await settle(pilot)
        assert app.pane.content == ORIGINAL + " Really."
        assert "{+ Really.+}" in difference(app)
        assert kinds(app) == []


async def test_hunks_are_walked_and_put_back_one_by_one() -> None:
    draft = "Take PostgreSQL 17 for the ledger; SQLite stays for tests!"
    async with editing(draft=draft) as (app, pilot):
        await pilot.press("tab")
        assert app.focused is app.pane.difference
        assert "change 1 of 3" in difference(app)
        await pilot.press("right_curly_bracket")
        assert "change 2 of 3" in difference(app)
        await pilot.press("backspace")
        assert app.pane.content == "Take PostgreSQL 16 for the ledger; SQLite stays for tests!"
        await pilot.press("left_curly_bracket", "left_curly_bracket", "backspace")
        await pilot.press("backspace")
        assert app.pane.content == ORIGINAL
        await pilot.press("backspace")
        assert app.pane.content == ORIGINAL
        assert "nothing to put back" in app.query_one(StatusBar).text


async def test_a_reverted_change_can_be_undone_in_the_editor() -> None:
    draft = "Take PostgreSQL 16 for the ledger; SQLite stays for tests."
    async with editing(draft=draft) as (app, pilot):
        await pilot.press("tab", "backspace", "tab")
        assert app.pane.content == ORIGINAL
        await pilot.press("ctrl+z")
        assert app.pane.content == draft


async def test_letters_that_are_keys_elsewhere_are_typed() -> None:
    async with editing("") as (app, pilot):
        keys = "axsuZqjk?/{}[]"
        await pilot.press(*keys)
        assert app.pane.content == keys


async def test_hidden_characters_are_visible_in_the_editor_and_stay_in_the_text() -> None:
    async with editing(HOSTILE) as (app, pilot):
        await settle(pilot)
        editor = app.pane.editor
        rows = [editor.render_line(y).text for y in range(editor.size.height)]
        assert any("␛]52;c;aGk=␇␛[31mred" in row for row in rows)
        for row in rows:
            assert display_text(row) == row
        await pilot.press("ctrl+s")
        assert app.posted[-1][2] == HOSTILE


async def test_a_large_text_is_compared_behind() -> None:
    original = "word " * 10_000
    async with editing(original) as (app, pilot):
        await pilot.press("x", "y", "z")
        await settle(pilot)
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert app.pane.difference.changes == 1


async def test_text_being_typed_at_the_end_of_the_program_is_kept(stocked: Engine) -> None:
    async with opened(stocked) as screen:
        number = screen.model.current_id
        assert number is not None
        wording = stocked.queue.candidate(number).content
        await screen.press("e")
        await screen.pilot.press("!", "ctrl+q")
    assert stocked.drafts.load(number) == wording + "!"
    async with opened(stocked) as screen:
        await screen.press("e")
        assert wording.split()[-1] + "!" in screen.text
        await screen.press("ctrl+s")
    assert stocked.queue.candidate(number).content == wording + "!"
    assert stocked.queue.wordings(number)[0][1] == wording
    assert stocked.drafts.load(number) is None


async def test_it_works_in_a_small_terminal() -> None:
    async with editing(size=(40, 12)) as (app, pilot):
        await pilot.press("!")
        await settle(pilot)
        assert app.pane.editor.size.height >= 3
        assert app.pane.difference.size.height >= 3


async def test_a_wording_that_is_too_short_stays_in_the_editor(stocked: Engine) -> None:
    async with opened(stocked) as screen:
        await screen.press("e")
        screen.app.screen.query_one(EditPane).editor.load_text("x")
        await screen.press("ctrl+s")
        await screen.until(lambda: "at least 8 characters, this has 1." in screen.status)
        assert screen.queue.editing is not None
        assert screen.app.screen.query_one(EditPane).content == "x"
        assert not screen.model.dimmed
