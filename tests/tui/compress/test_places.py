"""Reading a level on the screen: where it was left, its headings, and the room that it has."""

from __future__ import annotations

import pytest

from reviewer.engine import Engine
from reviewer.tui.compress.screen import CompressScreen
from reviewer.tui.kit.text_pane import TextPane
from tests.tui.compress.driving import compress, original, status_text, summary
from tests.tui.conftest import Screen, opened

NARROW = (80, 24)


def top(pane: TextPane) -> str:
    """The first line of text in sight."""
    return pane.plain_text.split("\n")[1 + pane.scroll_offset.y].strip()


def section(screen: Screen) -> str:
    return compress(screen).summary.section


async def test_the_list_folds_to_one_line_while_the_level_is_read(machines: Engine) -> None:
    async with opened(machines, size=NARROW, project="acme") as screen:
        await screen.press("f4", "2", "tab", "tab")
        shown = compress(screen)
        assert shown.focused == shown.summary
        assert shown.list.size.height == 1
        assert shown.summary.room >= 12
        assert "Request:" in screen.text
        assert "Loses" in screen.text
        await screen.press("tab")
        assert shown.lost.size.height >= 3
        await screen.press("shift+tab", "shift+tab", "shift+tab")
        assert shown.list.has_focus
        assert shown.list.size.height > 1


async def test_the_text_is_not_scrolled_when_the_focus_comes(machines: Engine) -> None:
    async with opened(machines, size=NARROW, project="acme") as screen:
        await screen.press("f4", "2", "tab", "tab")
        assert compress(screen).summary.scroll_offset.y == 0
        assert compress(screen).markers.chosen is not None
        await screen.press("n")
        assert "[→" in screen.text


async def test_another_level_begins_at_the_heading_that_was_read(machines: Engine) -> None:
    async with opened(machines, size=NARROW, project="acme") as screen:
        await screen.press("f4", "2", *["right_curly_bracket"] * 2)
        heading = section(screen)
        assert heading == "Course:"
        await screen.press("3")
        assert section(screen) == heading
        assert top(compress(screen).summary) == heading


async def test_a_level_is_found_again_where_it_was_left(machines: Engine) -> None:
    async with opened(machines, size=NARROW, project="acme") as screen:
        await screen.press("f4", "2", "tab", "tab", "j", "j", "j")
        left = compress(screen).summary.scroll_offset.y
        assert left == 3
        await screen.press("3", "2")
        assert compress(screen).summary.scroll_offset.y == left
        await screen.press("shift+tab", "shift+tab", "j", "k")
        assert compress(screen).data.cursor == 0
        assert compress(screen).summary.scroll_offset.y == 0, "another segment was shown meanwhile"


async def test_the_sides_scroll_on_their_own(machines: Engine) -> None:
    async with opened(machines, size=(120, 24), project="acme") as screen:
        await screen.press("f4", "2", "tab", "j", "j", "j", "j")
        shown = compress(screen)
        assert shown.focused is shown.original
        assert (shown.original.scroll_offset.y, shown.summary.scroll_offset.y) == (4, 0)
        await screen.press("tab", "j", "j")
        assert (shown.original.scroll_offset.y, shown.summary.scroll_offset.y) == (4, 2)
        await screen.press("3", "4", "2")
        assert (shown.original.scroll_offset.y, shown.summary.scroll_offset.y) == (4, 2)


async def test_a_preview_that_arrives_later_moves_nothing(machines: Engine) -> None:
    async with opened(machines, size=NARROW, project="acme") as screen:
        await screen.press("f4", "2")
        await screen.settle()
        await screen.press("n", "g", "j", "j")
        await screen.settle()
        shown = compress(screen)
        before = shown.summary.scroll_offset.y
        assert before == 2
        found = shown.data.current_preview
        assert found is not None
        assert shown.data.choice is not None
        key = shown.data.key(shown.data.choice)
        shown.store_preview(key, found, shown.data.checked[key])
        await screen.settle()
        assert shown.summary.scroll_offset.y == before


async def test_all_levels_side_by_side_begin_again_for_another_segment(machines: Engine) -> None:
    async with opened(machines, size=(160, 24), project="acme") as screen:
        await screen.press("f4", "2", "a", "shift+tab", "j", "j")
        full = compress(screen).columns.panes[0]
        scrolled = max(pane.scroll_offset.y for pane in compress(screen).columns.panes)
        assert scrolled > 0
        await screen.press("3")
        assert max(pane.scroll_offset.y for pane in compress(screen).columns.panes) == scrolled
        compress(screen).segments.move_to(1)
        await screen.settle()
        assert full.scroll_offset.y == 0
        assert all(pane.scroll_offset.y == 0 for pane in compress(screen).columns.panes)


@pytest.mark.parametrize("size", [(120, 40), (60, 20)])
async def test_headings_lead_through_the_whole_summary(
    machines: Engine, size: tuple[int, int]
) -> None:
    async with opened(machines, size=size, project="acme") as screen:
        await screen.press("f4", "2")
        said = []
        for _ in range(12):
            await screen.press("right_curly_bracket")
            said.append(status_text(screen))
        headings = [line.strip() for line in summary(screen).split("\n") if _is_heading(line)]
        assert len(headings) > 1
        assert [each for each in said if each.endswith(":")] == headings
        assert "no other heading" in said[-1]


def _is_heading(line: str) -> bool:
    return line.strip() in compress_headings()


def compress_headings() -> frozenset[str]:
    from reviewer.tui.compress.panes import HEADINGS

    return HEADINGS


async def test_the_original_stays_where_it_was_scrolled_on_a_narrow_screen(
    machines: Engine,
) -> None:
    async with opened(machines, size=NARROW, project="acme") as screen:
        await screen.press("f4", "2", "tab", "j", "j")
        assert isinstance(screen.app.screen, CompressScreen)
        before = top(compress(screen).original)
        await screen.press("tab", "3", "2", "shift+tab")
        assert top(compress(screen).original) == before
        assert original(screen)
