"""The footer offers the keys that can be used now, and the whole names of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewer.engine import Engine
from tests.tui.conftest import opened


def footer(text: str) -> str:
    """The last line, with single spaces."""
    return " ".join(text.splitlines()[-1].split())


async def test_a_decided_row_can_be_put_back_and_not_decided_again(stocked: Engine) -> None:
    async with opened(stocked) as screen:
        assert "u undo" not in footer(screen.text), "nothing was decided yet"
        assert "a promote" in footer(screen.text)
        await screen.press("a", "k")
        assert "a promote" not in footer(screen.text)
        assert "r put back" in footer(screen.text)
        assert "u undo" in footer(screen.text)
        await screen.press("j")
        assert "a promote" in footer(screen.text)


async def test_a_screen_without_rows_offers_the_way_to_the_first_one(engine: Engine) -> None:
    async with opened(engine) as screen:
        assert footer(screen.text) == "/ filter w status filter ? help"
        await screen.press("f3")
        assert footer(screen.text) == "I import ? help"


async def test_the_last_key_is_never_cut(
    stocked: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for width in range(50, 82):
        async with opened(stocked, size=(width, 20)) as screen:
            assert footer(screen.text).endswith("? help")
