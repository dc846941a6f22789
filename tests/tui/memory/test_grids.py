"""How the Memory screen looks, at three sizes, in ASCII, with hostile text."""

from __future__ import annotations

import pytest

from reviewer.engine import Engine
from tests.tui.conftest import SET_A_VALUE, opened
from tests.tui.memory.driving import SIZES


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_the_memory_screen(
    engine: Engine, memory: int, entity: int, snapshot: object, size: tuple[int, int]
) -> None:
    engine.state.set("acme", "db", "Tapes", note="for now", evidence="the minutes of March")
    engine.state.set("acme", "db", "Disks", note="for now", evidence="the minutes of April")
    async with opened(engine, project="acme", size=size, on="f5") as screen:
        assert screen.text == snapshot


async def test_the_form(engine: Engine, memory: int, snapshot: object) -> None:
    async with opened(engine, project="acme", size=(60, 20)) as screen:
        await screen.press("f5", *SET_A_VALUE, *"approvals")
        assert screen.text == snapshot


async def test_the_memory_screen_in_ascii(engine: Engine, memory: int) -> None:
    async with opened(engine, project="acme", size=(100, 24), ascii=True, on="f5") as screen:
        await screen.choose("graduate")
        assert screen.text.isascii()
