"""The Commits screen, cell for cell, at common sizes."""

from __future__ import annotations

import pytest
from rich.cells import cell_len
from syrupy.assertion import SnapshotAssertion

from reviewer.engine import Engine
from reviewer.tui.commits import screen as commits_screen
from tests.tui.commits.driving import chain, commits
from tests.tui.conftest import opened

SIZES = [(118, 34), (80, 24), (60, 20)]


@pytest.fixture
def annotated(fair: Engine, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """The fair with a commit of every priority; what would be left is not asked for."""
    ids = chain(fair)
    fair.contexts.annotate(ids[4], priority="skip")
    fair.contexts.annotate(
        ids[1],
        retain="all amounts and dates",
        retain_match=["$50k", "legal sign-off"],
        retain_regex=[r"\d{4}-\d{2}-\d{2}"],
        reason="finance asked",
    )
    assert fair.contexts.get(1).tokens < commits_screen.UNASKED_TOKENS
    monkeypatch.setattr(commits_screen, "OUTLOOK_SECONDS", 1_000)
    return fair


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_the_screen(
    annotated: Engine, snapshot: SnapshotAssertion, size: tuple[int, int]
) -> None:
    async with opened(annotated, size=size, project="acme") as screen:
        await screen.press("f3", "j")
        assert screen.text == snapshot


async def test_the_screen_in_ascii(annotated: Engine, snapshot: SnapshotAssertion) -> None:
    async with opened(annotated, size=(100, 24), ascii=True) as screen:
        await screen.press("f3", "j", "space", "k")
        assert screen.text == snapshot
        assert screen.text.isascii()


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_the_form(
    annotated: Engine, snapshot: SnapshotAssertion, size: tuple[int, int]
) -> None:
    async with opened(annotated, size=size, project="acme") as screen:
        await screen.press("f3", "j", "r", "tab")
        await screen.settle()
        assert screen.text == snapshot


async def test_no_context(engine: Engine, snapshot: SnapshotAssertion) -> None:
    async with opened(engine, size=(80, 24), project="acme") as screen:
        await screen.press("f3")
        assert screen.text == snapshot


@pytest.mark.parametrize("size", [(200, 60), (40, 12)], ids=str)
async def test_nothing_overflows(annotated: Engine, size: tuple[int, int]) -> None:
    async with opened(annotated, size=size) as screen:
        for keys in (
            ("f3",),
            ("r",),
            ("escape", "e"),
            ("escape", "slash"),
            ("escape", "C"),
            ("escape", "w"),
            ("escape", "I"),
            ("escape", "enter"),
            ("escape", "question_mark"),
        ):
            await screen.press(*keys)
            strips = screen.strips
            assert len(strips) == size[1]
            assert {cell_len(strip.text) for strip in strips} == {size[0]}
        await screen.press("escape")
        assert commits(screen).overlay is None
