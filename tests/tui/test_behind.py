"""Background work does not keep closed screens alive, and blocks nobody."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from threading import Event, get_ident
from types import ModuleType

import pytest
from textual.app import App
from textual.geometry import Region
from textual.strip import Strip
from textual.widgets import Static

from reviewer.engine import Engine
from reviewer.tui.kit.screen import KitScreen
from reviewer.tui.terminal import forget_lines
from tests.tui.conftest import opened
from tests.waiting import PATIENCE
from tests.waiting import until_async as until


class Bare(App[None]):
    """Only screens."""


async def test_long_reads_of_a_group_run_one_at_a_time_and_unwanted_ones_never(
    engine: Engine,
) -> None:
    ran: list[str] = []
    taken: list[str] = []
    came: list[str] = []
    go_on = Event()

    def work(name: str) -> Callable[[], str]:
        def run() -> str:
            ran.append(name)
            assert go_on.wait(PATIENCE)
            return name

        return run

    async with Bare().run_test() as pilot:
        left, shown = KitScreen(engine), KitScreen(engine)
        await pilot.app.push_screen(left)
        left.read(work("of the screen that is left"), taken.append, one_at_a_time=True)
        await until(lambda: len(ran) == 1)
        await pilot.app.switch_screen(shown)
        shown.read(work("asked for again"), taken.append, one_at_a_time=True)
        shown.read(work("wanted"), taken.append, one_at_a_time=True)
        shown.read(lambda: None, lambda _: came.append("later"), group="later")
        await until(lambda: came == ["later"])
        assert ran == ["of the screen that is left"]
        go_on.set()
        await until(lambda: taken == ["wanted"])

    assert ran == ["of the screen that is left", "wanted"]


async def test_reads_of_other_groups_do_not_wait(engine: Engine) -> None:
    taken: list[int] = []
    go_on = Event()
    async with Bare().run_test() as pilot:
        screen = KitScreen(engine)
        await pilot.app.push_screen(screen)
        screen.read(lambda: go_on.wait(PATIENCE), lambda _: None, group="long", one_at_a_time=True)
        screen.read(lambda: 1, taken.append, group="short", one_at_a_time=True)
        await until(lambda: taken == [1])
        go_on.set()


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
