"""The items of a packet: why each is as it is, pins and mutes, the filter."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from reviewer.engine import Engine
from reviewer.packets.assembly import assemble
from reviewer.packets.prepared import prepare_folder
from reviewer.tui.packet.model import ItemRow, matches, text_of
from tests.present import present
from tests.tui.conftest import opened
from tests.tui.packet.driving import go_to, model, shown, status_text, typed


async def test_an_item_is_explained_and_the_packet_scrolls_to_it(
    engine: Engine, kiosk: Path
) -> None:
    async with opened(engine) as screen:
        await screen.press("f4")
        await go_to(screen, "The hall is cold")
        why = shown(screen).why.plain_text
        assert "in full" in why
        assert "LEARNINGS.md:9 · 2025-12-01" in why
        await screen.press("<")
        assert "Displays start slowly below five degrees." in screen.text
        await screen.press("g")
        assert "whatever the budget is" in shown(screen).why.plain_text
        await screen.press("n")
        assert "40 % of the budget" in shown(screen).why.plain_text
        await screen.press("N")
        assert model(screen).section == "constitution"


async def test_pins_and_mutes_apply_to_this_packet(engine: Engine, kiosk: Path) -> None:
    async with opened(engine) as screen:
        await screen.press("f4")
        await typed(screen, "b", "380")
        await go_to(screen, "The hall is cold")
        assert present(model(screen).item).state != "full"
        await screen.press("P")
        assert present(model(screen).item).state == "full"
        assert present(model(screen).packet).tokens_used <= 380
        assert "●" in screen.text
        await screen.press("m")
        assert present(model(screen).item).state == "dropped"
        assert "∅" in screen.text
        await screen.press("U")
        assert status_text(screen) == "Removed 1 choice."
        assert not model(screen).pinned | model(screen).muted
        await screen.press("U")
        assert status_text(screen).startswith("No item is pinned or muted")


async def test_a_pin_that_does_not_fit_says_so(engine: Engine, kiosk: Path) -> None:
    async with opened(engine) as screen:
        await screen.press("f4")
        await typed(screen, "b", "250")
        await go_to(screen, "Receipts before drawers")
        await screen.press("P")
        assert status_text(screen).startswith("Pinned, but ")
        assert present(model(screen).packet).tokens_used <= 250


async def test_the_constitution_can_be_neither_pinned_nor_muted(
    engine: Engine, kiosk: Path
) -> None:
    async with opened(engine) as screen:
        await screen.press("f4", "j")
        for key in ("P", "m"):
            await screen.press(key)
            assert status_text(screen).startswith("The constitution is always in full")


async def test_the_filter_narrows_the_list_and_escape_clears_it(
    engine: Engine, kiosk: Path
) -> None:
    async with opened(engine) as screen:
        await screen.press("f4", "/", *"coins in:decisions")
        assert {row.item.section for row in model(screen).rows if isinstance(row, ItemRow)} == {
            "decisions"
        }
        await screen.press("enter", "escape")
        assert model(screen).filter == ""
        assert model(screen).shown == len(present(model(screen).packet).items)


def test_filter_words(kiosk: Path) -> None:
    prepared = prepare_folder(kiosk, now=datetime(2026, 7, 26, tzinfo=UTC), counting="estimate")
    items = assemble(prepared, 10_000).items
    count = {
        text: sum(matches(item, text, text_of(item)) for item in items)
        for text in ("", "coins", "coins -hand", "in:tasks", "state:full in:learn", "state:title")
    }
    assert count == {
        "": len(items), "coins": 4, "coins -hand": 2, "in:tasks": 3, "state:full in:learn": 2,
        "state:title": 0,
    }  # fmt: skip
