"""Reads the Packet screen, and types into its questions."""

from __future__ import annotations

from reviewer.packets.values import PacketItem
from reviewer.tui.packet.model import PacketModel, SectionRow
from reviewer.tui.packet.screen import PacketScreen
from tests.tui.conftest import Screen

SIZES = [(118, 34), (80, 24), (60, 20)]


def shown(screen: Screen) -> PacketScreen:
    return screen.top(PacketScreen)


def model(screen: Screen) -> PacketModel:
    return shown(screen).packets


def items(screen: Screen) -> list[PacketItem]:
    return [row for row in model(screen).rows if not isinstance(row, SectionRow)]


def packet_text(screen: Screen) -> str:
    return shown(screen).text.plain_text


def why_of(screen: Screen) -> str:
    """The text about the row under the cursor."""
    return " ".join(shown(screen).why.plain_text.split())


async def go_to(screen: Screen, title: str) -> None:
    """Put the cursor on the item with that title."""
    rows = model(screen).rows
    at = next(
        n for n, row in enumerate(rows) if not isinstance(row, SectionRow) and title in row.title
    )
    shown(screen).list.move_to(at)
    await screen.settle()


async def typed(screen: Screen, key: str, text: str) -> None:
    """Open a question, replace its text, press enter."""
    await screen.press(key, "ctrl+u", *("space" if sign == " " else sign for sign in text), "enter")
