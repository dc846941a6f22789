"""The mouse is welcome and never needed."""

from __future__ import annotations

from reviewer.engine import Engine
from tests.tui.conftest import Screen, opened


async def test_a_click_goes_to_the_row_and_a_double_click_edits_it(screen: Screen) -> None:
    await screen.pilot.click("#list", offset=(5, 3))
    await screen.settle()
    assert screen.model.cursor == 3
    await screen.pilot.click("#list", offset=(5, 4), times=2)
    await screen.settle()
    assert screen.model.cursor == 4
    assert f"Edit #{screen.model.current_id}" in screen.text


async def test_the_wheel_moves_the_cursor(screen: Screen) -> None:
    screen.scroll_down("#list", offset=(5, 3))
    await screen.settle()
    assert screen.model.cursor == 3


async def test_a_click_below_a_title_goes_to_its_row(stocked: Engine) -> None:
    async with opened(stocked, project="acme") as screen:
        await screen.press("slash", *"conf>0", "enter")
        await screen.until(lambda: "─ Waiting" in screen.text)
        await screen.pilot.click("#list", offset=(5, 3))
        await screen.settle()
        assert screen.model.cursor == 2


async def test_a_double_click_on_a_memory_written_by_hand_says_that_it_has_no_source(
    engine: Engine,
) -> None:
    engine.triage.promote(engine.entities.author("acme", "preference", "Weigh trays first.").ids)
    async with opened(engine, project="acme") as screen:
        await screen.press("f5")
        await screen.pilot.click("#facts", offset=(5, 1), times=2)
        await screen.settle()
        assert screen.status.startswith("Written by hand")
