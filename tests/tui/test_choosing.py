"""Choosing from a list: the keys of lists move until something is typed."""

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


async def test_j_and_k_move_until_something_is_typed(projects: Engine) -> None:
    async with opened(projects) as screen:
        await screen.press("x", "w")
        assert "type to narrow, arrows move" in screen.text
        first = chosen(screen)
        await screen.press("j")
        assert chosen(screen) != first
        await screen.press(*"dangj")
        assert screen.top(ChoiceScreen).field.value == "dangj"


@pytest.mark.parametrize("name", ["jam", "kiosk"])
async def test_a_letter_that_an_option_begins_with_is_typed(projects: Engine, name: str) -> None:
    async with opened(projects) as screen:
        await screen.press("p", *name)
        assert screen.top(ChoiceScreen).field.value == name
        await screen.press("enter")
        assert screen.app.project == present(screen.model.current).project == name


async def test_they_move_in_the_menu_and_in_the_help(screen: Screen) -> None:
    for opens in ("full_stop", "question_mark"):
        await screen.press(opens)
        first = chosen(screen)
        await screen.press("j")
        assert chosen(screen) != first
        await screen.press("k")
        assert chosen(screen) == first
        await screen.press("escape")


async def test_keys_of_ones_own_move_too(projects: Engine, tmp_path: Path) -> None:
    keymap = tmp_path / "keys.toml"
    keymap.write_text('[keys]\nline_down = "n"\n', "utf-8")
    async with opened(projects, keymap=keymap) as screen:
        await screen.press("p")
        await screen.press("n")
        assert chosen(screen) == "acme"
        await screen.press("j")
        assert screen.top(ChoiceScreen).field.value == "j"


async def test_where_a_text_is_the_answer_they_are_letters(engine: Engine) -> None:
    async with opened(engine, project="acme") as screen:
        await screen.press("f5", "n", *"jdk", "enter", *"k", "ctrl+s")
        assert [(each.key, each.value) for each in engine.state.all("acme")] == [("jdk", "k")]


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
        assert not box.contains(0, screen.queue.row_in_question.y)
