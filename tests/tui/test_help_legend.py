"""The help: keys and signs first, and every act by typing what people call it."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual import events
from textual.widgets import Input

from reviewer.engine import Engine
from reviewer.text.signs import MEANINGS
from reviewer.tui.actions import ACTIONS, PANES
from reviewer.tui.help import CALLED, every_row
from reviewer.tui.kit.choice import ChoiceScreen
from reviewer.tui.kit.screen import KitScreen
from reviewer.tui.theme import ASCII, GLYPHS, Glyphs
from tests.tui.conftest import Screen, opened


@pytest.mark.parametrize("glyphs", [GLYPHS, ASCII], ids=["unicode", "ascii"])
def test_there_are_nine_signs_and_all_differ(glyphs: Glyphs) -> None:
    signs = [getattr(glyphs, name) for name in MEANINGS]
    assert len(signs) == len(set(signs)) == 9


def best(screen: Screen) -> str:
    """The row of the help that enter would choose."""
    current = screen.top(ChoiceScreen).current
    return current.name[11:].strip() if current is not None else ""


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("accept", "promote"),
        ("approve", "promote"),
        ("delete", "reject"),
        ("known", "say why"),
        ("deferred", "other rows"),
        ("snooze", "defer"),
        ("type", "type"),
        ("reword", "edit"),
        ("search", "filter"),
        ("rename", "edit"),
        ("theme", "theme"),
        ("night", "theme"),
        ("history", "History"),
        ("used", "Memory"),
        ("budget", "budget"),
        ("survive", "must survive"),
        ("brief", "brief"),
        ("u", "undo"),
    ],
)
async def test_an_act_of_any_screen_is_found_by_what_people_call_it(
    word: str, found: str, screen: Screen
) -> None:
    await screen.press("question_mark", *(key if key != " " else "space" for key in word))
    assert best(screen) == found


async def test_every_act_of_every_screen_is_offered_on_each(stocked: Engine) -> None:
    headings = ("Queue", "Context", "Packet", "Memory", "Agents", "History")
    acts = {act for pane in PANES if pane.heading in headings for act in pane.actions}
    async with opened(stocked, project="acme") as screen:
        for key in ("f2", "f3", "f4", "f5", "f6", "f7", "f8"):
            await screen.press(key, "escape")
            offered = {row.action for row in every_row(screen.top(KitScreen))}
            assert acts <= offered, key


async def test_an_act_of_another_screen_runs_there_or_names_its_key(
    stocked: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with opened(stocked) as screen:
        await screen.press("question_mark", *"pipelines and runs", "enter")
        await screen.until(lambda: "an example" in screen.text)
        await screen.press("escape", "f2", "question_mark", *"graduate", "enter")
        assert type(screen.app.screen).__name__ == "MemoryScreen"
        assert '. "graduate": Propose this memory as an entity' in screen.text


async def test_the_help_in_a_filter_begins_with_what_a_filter_understands(
    stocked: Engine,
) -> None:
    async with opened(stocked, size=(80, 24)) as screen:
        await screen.press("/", "f1")
        for words in ("kind:", "is:", "calls>2"):
            assert words in screen.text


async def test_an_act_that_cannot_run_keeps_its_meaning_in_the_help(engine: Engine) -> None:
    async with opened(engine, size=(120, 40), on="f8") as screen:
        row = next(e for e in every_row(screen.top(KitScreen)) if e.title == "undo this one")
        assert row.off
        assert row.explanation == "Undo this act - The list is empty."


async def test_a_long_paste_finds_nothing_and_takes_no_time(screen: Screen) -> None:
    await screen.press("ctrl+p")
    field = screen.app.screen.query_one(Input)
    field.post_message(events.Paste("zebra " * 20_000))
    await screen.settle()
    assert "Nothing matches." in screen.text


def test_every_word_is_for_an_action_that_exists() -> None:
    assert set(CALLED) <= set(ACTIONS)


@pytest.mark.parametrize("size", [(60, 20), (80, 24)])
async def test_the_other_screens_and_what_a_key_does_stand_on_the_first_page(
    stocked: Engine, size: tuple[int, int]
) -> None:
    async with opened(stocked, size=size) as screen:
        await screen.press("question_mark")
        shown = screen.text
        assert "F7 Agents  F8 History" in shown
        assert "undo  Z redo" in shown
        for key in ("f1", "ctrl+p", "colon"):
            await screen.press("escape", key)
            assert screen.text == shown
        await screen.press("escape")
        assert "quits" not in screen.status
