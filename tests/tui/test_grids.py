"""The screens, cell for cell, at common sizes."""

from __future__ import annotations

import pytest
from rich.cells import cell_len
from syrupy.assertion import SnapshotAssertion

from reviewer.engine import Engine
from tests.tui.conftest import opened

SIZES = [(118, 34), (80, 24), (60, 20), (200, 60)]


@pytest.fixture
def dozen(engine: Engine) -> Engine:
    """A store with twelve made candidates: so the rules of the extractor do not matter."""
    engine.intake.seed(12, project="acme")
    return engine


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_the_queue(dozen: Engine, snapshot: SnapshotAssertion, size: tuple[int, int]) -> None:
    async with opened(dozen, size=size, project="acme") as screen:
        await screen.press("a", "x", "s", "space", "k")
        assert screen.text == snapshot


@pytest.mark.parametrize("size", SIZES[2:], ids=lambda size: f"{size[0]}x{size[1]}")
async def test_nothing_overflows(dozen: Engine, size: tuple[int, int]) -> None:
    async with opened(dozen, size=size) as screen:
        for keys in (
            (),
            ("e",),
            ("escape", "slash"),
            ("escape", "question_mark"),
            ("escape", "f8"),
        ):
            await screen.press(*keys)
            strips = screen.strips
            assert len(strips) == size[1]
            assert {cell_len(strip.text) for strip in strips} == {size[0]}


async def test_the_queue_in_ascii(dozen: Engine, snapshot: SnapshotAssertion) -> None:
    async with opened(dozen, size=(100, 24), ascii=True) as screen:
        await screen.press("a", "x", "s", "space", "k")
        assert screen.text == snapshot


async def test_editing(dozen: Engine, snapshot: SnapshotAssertion) -> None:
    async with opened(dozen, size=(100, 24), project="acme") as screen:
        await screen.press("e")
        await screen.until(lambda: "Edit #5" in screen.text)
        await screen.settle()
        await screen.press("home", *"Indeed ")
        await screen.until(lambda: "{+" in screen.text or "Indeed" in screen.text)
        await screen.settle()
        assert screen.text == snapshot


async def test_an_empty_store(engine: Engine, snapshot: SnapshotAssertion) -> None:
    async with opened(engine, size=(80, 24), project="acme") as screen:
        assert screen.text == snapshot


async def test_a_cleared_queue(dozen: Engine) -> None:
    async with opened(dozen, size=(80, 24), project="acme") as screen:
        await screen.press("*", "a", "ctrl+l")
        assert "All clear: nothing is waiting.\n  12 decided so far" in screen.text


async def test_help(dozen: Engine, snapshot: SnapshotAssertion) -> None:
    async with opened(dozen, size=(100, 40), project="acme") as screen:
        await screen.press("question_mark")
        assert screen.text == snapshot
