"""The mouse is welcome and never needed."""

from __future__ import annotations

from tests.tui.conftest import Screen


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
