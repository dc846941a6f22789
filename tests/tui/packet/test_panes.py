"""The panes of the Packet screen: three sizes, text from outside, the way back."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.cells import cell_len

from reviewer.engine import Engine
from tests.tui.conftest import opened
from tests.tui.packet.driving import SIZES, shown


@pytest.mark.parametrize(
    ("size", "ascii_only"), [*((size, False) for size in SIZES), (SIZES[-1], True)]
)
async def test_every_size_has_its_place_for_everything(
    engine: Engine, kiosk: Path, size: tuple[int, int], ascii_only: bool
) -> None:
    async with opened(engine, size=size, ascii=ascii_only) as screen:
        await screen.press("f4")
        lines = screen.text.split("\n")
        assert max(map(cell_len, lines)) <= size[0]
        assert "8,000" in screen.text
        assert "Constitution" in screen.text
        await screen.press("tab", "tab", "+")
        assert "# Context packet" in screen.text
        assert "Items" not in screen.text
        await screen.press("escape", "G")
        assert "The hall is cold" in screen.text
        await screen.press("d", "t", "x")
        assert max(map(cell_len, screen.text.split("\n"))) <= size[0]
        if ascii_only:
            assert screen.text.isascii()


async def test_control_characters_from_outside_are_not_obeyed(engine: Engine, kiosk: Path) -> None:
    (kiosk / "TASKS.md").write_text("- [ ] \x1b[2J\u202e [b]now[/b]\n")
    async with opened(engine) as screen:
        await screen.press("f4")
        assert not {"\x1b", "\u202e"} & set(screen.text)
        assert "[b]now[/b]" in screen.text


async def test_keys_typed_ahead_are_about_the_pane_they_lead_to(
    engine: Engine, kiosk: Path
) -> None:
    async with opened(engine) as screen:
        await screen.press("f4")
        for name in ("next_pane", "next_pane", "zoom"):
            getattr(shown(screen), name)()
        await screen.settle()
        assert screen.app.focused is shown(screen).text
        assert "# Context packet" in screen.text
        assert "Items" not in screen.text
        shown(screen).next_pane()
        shown(screen).next_pane()
        await screen.settle()
        assert screen.app.focused is shown(screen).why
        assert "# Context packet" not in screen.text
        assert "Items" not in screen.text


async def test_escape_goes_back_to_the_queue(engine: Engine, kiosk: Path) -> None:
    async with opened(engine) as screen:
        await screen.press("f4")
        shown(screen)
        await screen.press("escape")
        assert screen.app.screen is screen.queue


async def test_the_source_stays_the_same_when_something_is_promoted(
    stocked: Engine, kiosk: Path
) -> None:
    async with opened(stocked, project="acme") as screen:
        await screen.press("f4")
        assert shown(screen).folder == kiosk
        await screen.press("f2", "a", "f4")
        assert shown(screen).folder == kiosk
