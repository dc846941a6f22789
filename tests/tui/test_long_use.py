"""Walking between screens for hours leaves no objects behind."""

from __future__ import annotations

import asyncio
import gc
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest
from textual.css.query import NoMatches
from textual.widgets import TextArea

from reviewer.engine import Engine
from reviewer.tui.history.screen import HistoryScreen
from reviewer.tui.kit.bars import FooterBar
from tests.tui.conftest import opened

SCREENS = [
    ("f3",), ("f3",), ("f4", "t", "a"), ("f6",), ("f5", "n"), ("f8",), ("f7",), ("question_mark",),
]  # fmt: skip
"""Keys that open a screen and, where it has one, a field that is typed into."""


async def test_screens_that_were_left_are_let_go(stocked: Engine) -> None:
    loop = asyncio.get_running_loop()
    threads = ThreadPoolExecutor()
    loop.set_default_executor(threads)
    left: list[weakref.ref[object]] = []

    def let_go() -> bool:
        gc.collect()
        return all(each() is None for each in left)

    async with opened(stocked, size=(80, 24)) as screen:
        for keys in SCREENS:
            await screen.press(*keys)
            assert screen.app.screen is not screen.queue
            for widget in screen.app.screen.walk_children(with_self=True):
                left.append(weakref.ref(widget))
            del widget
            await screen.press("escape", "escape", "f2")
            assert screen.app.screen is screen.queue
        # A thread remembers the last worker it ran, and the loop a cancelled timer until it is due.
        loop.set_default_executor(ThreadPoolExecutor())
        await asyncio.to_thread(threads.shutdown)
        await screen.until(let_go)


async def test_a_field_takes_the_colours_of_the_other_theme(stocked: Engine) -> None:
    async with opened(stocked, size=(80, 24)) as screen:
        await screen.press("f5", "n", "k", "enter")
        field = screen.focused(TextArea)
        before = [run.style for run in field.render_line(0)]
        screen.app.action_switch_theme()
        await screen.settle()
        assert [run.style for run in field.render_line(0)] != before


async def test_an_act_that_outlives_its_screen_may_miss_its_panes_and_no_other(
    stocked: Engine,
) -> None:
    async with opened(stocked, size=(80, 24)) as screen:
        await screen.press("f8")
        left = screen.top(HistoryScreen)

        async def act() -> None:
            left.query_one(FooterBar).refresh()

        await screen.press("f2")
        assert not left.query(FooterBar)
        await left.patiently(act)
        await left.patiently(lambda: left.query_one(FooterBar))
        left.say("It is done.")
        await screen.until(lambda: screen.status == "It is done.")
        with pytest.raises(NoMatches):
            await screen.queue.patiently(lambda: screen.queue.query_one("#nothing"))
