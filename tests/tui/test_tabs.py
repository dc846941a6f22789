"""The bar of screens: every screen with its key, and none cut."""

from __future__ import annotations

import re

import pytest

from reviewer.engine import Engine
from reviewer.tui.agents.screen import AgentsScreen
from reviewer.tui.kit import keys
from tests.tui.conftest import opened


def bar(text: str) -> str:
    return text.splitlines()[1].rstrip()


@pytest.mark.parametrize("here", ["f2", "f6", "f9"])
@pytest.mark.parametrize("width", [80, 85, 86, 120])
async def test_every_tab_has_its_name_and_key(engine: Engine, width: int, here: str) -> None:
    async with opened(engine, size=(width, 24)) as screen:
        await screen.press(here)
        tabs = re.findall(r"(\w+) (F[2-9])\b", bar(screen.text))
        assert [key for _, key in tabs] == [f"F{number}" for number in range(2, 10)]
        for (name, _), action in zip(tabs, keys.SCREENS, strict=True):
            assert name == action.title or (width < 85 and action.title.startswith(name))


async def test_a_narrow_bar_names_the_screen_that_is_shown(engine: Engine) -> None:
    async with opened(engine, size=(60, 30)) as screen:
        await screen.press("f9")
        assert bar(screen.text).startswith(" F2 F3 F4 F5 F6 F7 F8 Agents F9")


async def test_a_click_on_the_last_tab_goes_there(engine: Engine) -> None:
    async with opened(engine, size=(80, 24)) as screen:
        await screen.pilot.click("#tabs", offset=(bar(screen.text).index("Agents"), 0))
        await screen.until(lambda: isinstance(screen.app.screen, AgentsScreen))
