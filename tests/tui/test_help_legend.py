"""The help explains every sign, and no two signs of one kind look alike."""

from __future__ import annotations

import pytest

from reviewer.engine import Engine
from reviewer.text.signs import MEANINGS
from reviewer.tui.help import HelpScreen
from reviewer.tui.theme import ASCII, GLYPHS, Glyphs
from tests.tui.conftest import opened

STATES = [name for name in MEANINGS if name not in ("dot", "minus", "loop")]
"""The signs at the start of a row; the others stand for something in a pane of their own."""


@pytest.mark.parametrize("glyphs", [GLYPHS, ASCII], ids=["unicode", "ascii"])
def test_no_two_states_have_the_same_sign(glyphs: Glyphs) -> None:
    signs = [getattr(glyphs, name) for name in STATES]
    assert len(set(signs)) == len(signs)
    assert glyphs.minus != glyphs.earlier, "a new loss and an earlier one"


async def test_the_help_ends_with_the_legend(stocked: Engine) -> None:
    async with opened(stocked, size=(118, 40)) as screen:
        await screen.press("question_mark", "G")
        for title, sentence in MEANINGS.values():
            assert title in screen.text
            assert sentence in screen.text


async def test_the_five_most_useful_keys_come_first(stocked: Engine) -> None:
    async with opened(stocked) as screen:
        await screen.press("f1")
        shown = screen.app.screen
        assert isinstance(shown, HelpScreen)
        rows = shown.list.rows
        assert rows[0].title == "Begin with these"
        assert [row.action.id for row in rows[1:6] if row.action is not None] == [
            "promote", "reject", "edit", "defer", "undo",
        ]  # fmt: skip
        assert rows[6].heading
        ids = [row.action.id for row in rows if row.action is not None]
        assert len(ids) == len(set(ids))


@pytest.mark.parametrize("key", ["f3", "f5", "f6", "f7", "f8", "f9"])
async def test_every_screen_has_its_own_first_keys(stocked: Engine, key: str) -> None:
    async with opened(stocked) as screen:
        await screen.press(key, "f1")
        shown = screen.app.screen
        assert isinstance(shown, HelpScreen)
        assert shown.list.rows[0].title == "Begin with these"
        assert shown.list.rows[1].action is not None
