"""A terminal that is too small says so, and loses nothing."""

from __future__ import annotations

import pytest

from reviewer.engine import Engine
from reviewer.tui.app import ReviewerApp
from reviewer.tui.queue.screen import QueueScreen
from reviewer.tui.too_small import TooSmall
from tests.tui.conftest import Screen


@pytest.mark.parametrize("size", [(30, 24), (80, 8), (12, 3)])
async def test_it_says_so(stocked: Engine, size: tuple[int, int]) -> None:
    app = ReviewerApp(stocked, "acme")
    async with app.run_test(size=(80, 24)) as pilot:
        screen = Screen(pilot, app)
        await screen.settle()
        await pilot.resize_terminal(*size)
        await screen.settle()
        small = app.screen
        assert isinstance(small, TooSmall)
        assert "too small" in small.render_line(0).text + small.render_line(1).text + (
            small.render_line(2).text
        )
        await pilot.resize_terminal(80, 24)
        await screen.settle()
        assert isinstance(app.screen, QueueScreen)


async def test_sixty_by_twenty_is_enough(stocked: Engine) -> None:
    app = ReviewerApp(stocked, "acme")
    async with app.run_test(size=(60, 20)) as pilot:
        await Screen(pilot, app).settle()
        assert isinstance(app.screen, QueueScreen)


async def test_a_text_being_typed_is_still_there(stocked: Engine) -> None:
    app = ReviewerApp(stocked, "acme")
    async with app.run_test(size=(80, 24)) as pilot:
        screen = Screen(pilot, app)
        await screen.settle()
        await screen.press("e", "W", "o", "w")
        before = screen.queue.focused
        await pilot.resize_terminal(20, 5)
        await screen.settle()
        await pilot.resize_terminal(80, 24)
        await screen.settle()
        assert screen.queue.focused is before
        await screen.press("ctrl+q")
        assert app.return_code == 0
