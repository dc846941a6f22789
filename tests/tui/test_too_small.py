"""A terminal that is too small says so, and loses nothing."""

from __future__ import annotations

from reviewer.engine import Engine
from reviewer.tui.app import ReviewerApp
from reviewer.tui.queue.screen import QueueScreen
from reviewer.tui.too_small import TooSmall
from tests.tui.conftest import Screen, opened


async def test_it_says_so(stocked: Engine) -> None:
    async with opened(stocked, size=(80, 24), project="acme") as screen:
        for size in ((30, 24), (80, 8), (12, 3)):
            await screen.resize(size)
            small = screen.top(TooSmall)
            assert "too small" in "".join(small.render_line(y).text for y in range(3)), size
            await screen.resize((80, 24))
            assert screen.app.screen is screen.queue


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
