"""Background work does not keep closed screens alive, and blocks nobody."""

from __future__ import annotations

import importlib
from threading import get_ident
from types import ModuleType

import pytest
from textual.app import App
from textual.geometry import Region
from textual.strip import Strip
from textual.widgets import Static

from reviewer.engine import Engine
from reviewer.tui.terminal import forget_lines
from tests.tui.conftest import opened


class Bare(App[None]):
    """Only screens."""


class Poem(Static):
    """Counts the lines that it draws."""

    drawn = 0

    def render_line(self, y: int) -> Strip:
        self.drawn += 1
        return super().render_line(y)


async def test_lines_of_a_screen_that_was_left_are_let_go() -> None:
    async with Bare().run_test() as pilot:
        poem = Poem("roses\nviolets")
        await pilot.app.mount(poem)
        await pilot.pause()
        poem.render_lines(Region(0, 0, 7, 2))
        before = poem.drawn
        poem.render_lines(Region(0, 0, 7, 2))
        assert poem.drawn == before, "drawn lines are kept"
        forget_lines([poem])
        poem.render_lines(Region(0, 0, 7, 2))
        assert poem.drawn == before + 2


async def test_a_screen_is_imported_in_a_thread_and_keys_go_on(
    stocked: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[int] = []
    real = importlib.import_module

    def note(name: str) -> ModuleType:
        threads.append(get_ident())
        return real(name)

    monkeypatch.setattr("reviewer.tui.app.import_module", note)
    async with opened(stocked) as screen:
        await screen.press("f8")
        assert type(screen.app.screen).__name__ == "HistoryScreen"
    assert threads
    assert get_ident() not in threads
