"""The bar of screens: every screen with its key, and none cut."""

from __future__ import annotations

import re

from reviewer.engine import Engine
from reviewer.tui.agents.screen import AgentsScreen
from reviewer.tui.kit import keys
from tests.tui.conftest import opened


def bar(text: str) -> str:
    return text.splitlines()[1].rstrip()


async def test_every_tab_has_its_name_and_key(engine: Engine) -> None:
    async with opened(engine) as screen:
        for here in ("f2", "f6", "f9"):
            await screen.press(here)
            for width in (80, 85, 86, 120):
                await screen.resize((width, 24))
                tabs = re.findall(r"(\w+) (F[2-9])\b", bar(screen.text))
                assert [key for _, key in tabs] == [f"F{number}" for number in range(2, 10)]
                for (name, _), action in zip(tabs, keys.SCREENS, strict=True):
                    cut = width < 85 and action.title.startswith(name)
                    assert name == action.title or cut, (here, width)


async def test_a_narrow_bar_names_the_screen_that_is_shown(engine: Engine) -> None:
    async with opened(engine, size=(60, 30)) as screen:
        await screen.press("f9")
        assert bar(screen.text).startswith(" F2 F3 F4 F5 F6 F7 F8 Agents F9")


async def test_a_click_on_the_last_tab_goes_there(engine: Engine) -> None:
    async with opened(engine, size=(80, 24)) as screen:
        await screen.pilot.click("#tabs", offset=(bar(screen.text).index("Agents"), 0))
        await screen.until(lambda: isinstance(screen.app.screen, AgentsScreen))
