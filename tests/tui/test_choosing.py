"""Choosing from a list by typing."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewer.engine import Engine
from reviewer.tui.kit.choice import ChoiceScreen
from tests.present import present
from tests.tui.conftest import Screen, opened


def chosen(screen: Screen) -> str:
    """The name of the option under the cursor."""
    return present(screen.top(ChoiceScreen).current).name


@pytest.fixture
def projects(stocked: Engine, notes: Path) -> Engine:
    """A store with the projects acme, jam and kiosk."""
    for name in ("jam", "kiosk"):
        stocked.intake.ingest([notes], project=name)
    return stocked


@pytest.mark.parametrize("name", ["jam", "kiosk"])
async def test_the_letters_of_lists_are_typed_too(projects: Engine, name: str) -> None:
    async with opened(projects) as screen:
        await screen.press("p", *name)
        assert screen.top(ChoiceScreen).field.value == name
        await screen.press("enter")
        assert screen.app.project == present(screen.model.current).project == name


@pytest.mark.parametrize("key", ["question_mark", "f1"])
async def test_a_list_shows_its_keys_and_has_the_help_of_screens(
    projects: Engine, key: str
) -> None:
    async with opened(projects, size=(80, 24)) as screen:
        await screen.press("p")
        assert screen.text.rstrip().endswith("enter choose  esc leave  F1 help")
        await screen.press(key)
        assert "Close without choosing" in screen.text
        assert screen.text.rstrip().endswith("enter choose  esc leave  F1 help")
        await screen.press("f1", "escape", "down", "down")
        assert chosen(screen) == "jam", "the help closes once, and the list is there again"
        await screen.press("k", "question_mark")
        assert screen.top(ChoiceScreen).field.value == "k?"


async def test_the_keys_of_a_shell_move_too(projects: Engine) -> None:
    async with opened(projects) as screen:
        await screen.press("p", "ctrl+n", "ctrl+n")
        assert chosen(screen) == "jam"
        await screen.press("ctrl+p")
        assert chosen(screen) == "acme"


async def test_the_menu_lists_every_act_that_is_possible_now_with_its_key(
    stocked: Engine,
) -> None:
    async with opened(stocked, size=(80, 24)) as screen:
        await screen.press("full_stop")
        names = [" ".join(each.name.split()) for each in screen.top(ChoiceScreen)._shown]
        assert {"s defer", "a promote", "u undo", "p project"} - set(names) == {"u undo"}
        assert names[0] == "type", "what has no key comes first"
        assert names[-1] == "theme"
        assert not {"j down", "] next place", "tab next pane", "esc back"}.intersection(names)
        await screen.press("escape", "s", "full_stop")
        assert "u          undo" in screen.text


@pytest.mark.parametrize(
    ("word", "name"),
    [("guard", "e edit"), ("unused", "/ filter"), ("saved", "F5 Memory")],
)
async def test_the_menu_finds_an_act_by_what_it_does(stocked: Engine, word: str, name: str) -> None:
    async with opened(stocked, size=(80, 24)) as screen:
        await screen.press("f5", "full_stop", *word)
        names = [" ".join(each.name.split()) for each in screen.top(ChoiceScreen)._shown]
        assert name in names


async def test_every_menu_has_the_theme(screen: Screen) -> None:
    for key in ("f2", "f3", "f4", "f5", "f6", "f7", "f8"):
        before = screen.app.theme
        await screen.press(key, "escape")
        await screen.choose("theme")
        assert screen.app.theme != before, key


async def test_a_question_about_the_last_row_in_sight_leaves_its_text_in_sight(
    seeded: Engine,
) -> None:
    async with opened(seeded, size=(80, 24)) as screen:
        row = screen.queue.list
        await screen.press(*"j" * (row.size.height - 1), "w")
        box = screen.top(ChoiceScreen).box.region
        assert box.bottom <= row.region.bottom
        line, _ = screen.queue.row_in_question()
        assert not box.contains(0, line.y)
