"""The help explains the eight signs, and no two of them look alike."""

from __future__ import annotations

import pytest

from reviewer.engine import Engine
from reviewer.text.signs import MEANINGS
from reviewer.tui.theme import ASCII, GLYPHS, Glyphs
from tests.tui.conftest import opened


@pytest.mark.parametrize("glyphs", [GLYPHS, ASCII], ids=["unicode", "ascii"])
def test_there_are_eight_signs_and_all_differ(glyphs: Glyphs) -> None:
    signs = [getattr(glyphs, name) for name in MEANINGS]
    assert len(signs) == len(set(signs)) == 8


async def test_the_help_ends_with_the_legend(stocked: Engine) -> None:
    async with opened(stocked, size=(118, 40)) as screen:
        await screen.press("question_mark")
        for title, _ in MEANINGS.values():
            assert title in screen.text


async def test_the_most_useful_keys_come_first(stocked: Engine) -> None:
    async with opened(stocked, size=(200, 40)) as screen:
        await screen.press("f1")
        lines = screen.text.splitlines()[2:7]
        assert [line.lstrip("│▌ ").split()[0] for line in lines] == [
            "a", "x", "e", "s", "u",
        ]  # fmt: skip
