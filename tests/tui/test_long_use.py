"""Walking between screens for hours leaves nothing behind."""

from __future__ import annotations

import gc

import pytest
from textual._styles_cache import StylesCache
from textual.css.query import NoMatches

from reviewer.tui.kit.bars import FooterBar
from reviewer.tui.kit.edit_pane import EditorArea
from tests.tui.conftest import opened

ROUND = ("f3", "f2", "f5", "t", "a", "escape", "f7", "n", "escape", "f2")
"""Screens with lists and text, and with a field that is typed into."""


def held(kind: type) -> int:
    gc.collect()
    return sum(isinstance(each, kind) for each in gc.get_objects())


@pytest.mark.parametrize(("kind", "of_a_screen"), [(StylesCache, 50), (EditorArea, 8)])
async def test_screens_that_were_left_are_let_go(stocked, kind, of_a_screen):
    """Their fields, and the lines that their panes drew; of the last one, something may linger."""
    async with opened(stocked, size=(80, 24)) as screen:
        await screen.press(*ROUND)
        before = held(kind)
        for _ in range(4):
            await screen.press(*ROUND)
        assert held(kind) <= before + of_a_screen


async def test_colours_behind_a_pane_follow_the_theme(stocked):
    """They are remembered by their colours, not by the pane."""
    async with opened(stocked, size=(80, 24)) as screen:
        dark = screen.queue.list.background_colors
        screen.app.switch_theme()
        await screen.settle()
        light = screen.queue.list.background_colors
        inner, outer = StylesCache.get_inner_outer(*light)
        assert light != dark
        assert outer.background == light[0]
        assert inner.background == light[0] + light[1]


async def test_a_field_takes_the_colours_of_the_other_theme(stocked):
    async with opened(stocked, size=(80, 24)) as screen:
        await screen.press("f5", "t")
        field = screen.app.focused
        before = field._theme.base_style
        screen.app.switch_theme()
        await screen.settle()
        assert field._theme.base_style != before


async def test_news_for_a_screen_that_has_lost_its_footer_ends_nothing(stocked):
    """Its panes go one after another when it is left, and a key may still be on its way."""
    async with opened(stocked, size=(80, 24)) as screen:
        await screen.press("f3")
        left = screen.app.screen
        await left.query_one(FooterBar).remove()
        left.show_keys("commits")
        await screen.press("f2")
        assert screen.app.screen is screen.queue


async def test_an_act_that_outlives_its_screen_may_miss_its_panes_and_no_other(stocked):
    async with opened(stocked, size=(80, 24)) as screen:
        await screen.press("f8")
        left = screen.app.screen

        async def act() -> None:
            left.query_one(FooterBar).refresh()

        await screen.press("f2")
        assert not left.query(FooterBar)
        await left.patiently(act)
        await left.patiently(lambda: left.query_one(FooterBar))
        left.say("It is done.")
        assert screen.status == "It is done."
        with pytest.raises(NoMatches):
            await screen.queue.patiently(lambda: screen.queue.query_one("#nothing"))
