"""Walking between screens for hours leaves no objects behind."""

from __future__ import annotations

import gc

import pytest
from textual.css.query import NoMatches
from textual.widget import Widget
from textual.widgets import TextArea

from reviewer.engine import Engine
from reviewer.promotion.views import QueueQuery
from reviewer.tui.evidence.source import SourceScreen
from reviewer.tui.kit.bars import FooterBar
from reviewer.tui.memory.screen import MemoryScreen
from tests.tui.conftest import opened

ROUND = [
    ("f3",), ("f4", "t", "a"), ("f6",), ("f5", "n"), ("f8",), ("f7",), ("question_mark",),
]  # fmt: skip
"""Keys that open a screen and, where it has one, a field that is typed into."""


async def test_a_second_round_makes_no_more_widgets(stocked: Engine) -> None:
    def widgets() -> int:
        gc.collect()
        return sum(isinstance(each, Widget) for each in gc.get_objects())

    async with opened(stocked, size=(80, 24)) as screen:

        async def walk() -> None:
            for keys in ROUND:
                await screen.press(*keys)
                assert screen.app.screen is not screen.queue
                await screen.press("escape", "escape", "f2")
                assert screen.app.screen is screen.queue

        await walk()
        before = widgets()
        await walk()
        await screen.until(lambda: widgets() <= before)


async def test_a_screen_is_as_it_was_left_with_what_was_written_meanwhile(stocked: Engine) -> None:
    stocked.triage.promote(list(stocked.queue.ids(QueueQuery()))[:3])
    async with opened(stocked, size=(80, 24)) as screen:
        await screen.press("f5", "j", "j")
        left = screen.top(MemoryScreen)
        here = left.facts.current_id
        await screen.press("f2", "a", "f5")
        assert screen.top(MemoryScreen) is left
        assert left.facts.current_id == here
        assert len(left.facts.ids) == 4


async def test_another_theme_is_on_the_screens_that_were_left(stocked: Engine) -> None:
    async with opened(stocked, size=(80, 24), on="f4") as screen:
        before = screen.strips
        await screen.press("f2")
        screen.app.action_switch_theme()
        await screen.press("f4")
        left = {run.style for strip in before for run in strip}
        assert not left & {run.style for strip in screen.strips for run in strip}


async def test_a_field_takes_the_colours_of_the_other_theme(stocked: Engine) -> None:
    async with opened(stocked, size=(80, 24)) as screen:
        await screen.press("f5", "n", "k", "enter")
        field = screen.focused(TextArea)
        before = [run.style for run in field.render_line(0)]
        screen.app.action_switch_theme()
        await screen.settle()
        assert [run.style for run in field.render_line(0)] != before


async def test_an_act_that_outlives_its_screen_may_miss_its_panes_and_no_other(
    stocked: Engine,
) -> None:
    async with opened(stocked, size=(80, 24)) as screen:
        await screen.press("o")
        left = screen.top(SourceScreen)

        async def act() -> None:
            left.query_one(FooterBar).refresh()

        await screen.press("escape")
        assert not left.query(FooterBar)
        await left.patiently(act)
        await left.patiently(lambda: left.query_one(FooterBar))
        left.say("It is done.")
        await screen.until(lambda: screen.status == "It is done.")
        await screen.press("full_stop")
        left.say("That, too.")
        await screen.press("escape")
        assert screen.status == "That, too.", "what came during a question is not lost"
        with pytest.raises(NoMatches):
            await screen.queue.patiently(lambda: screen.queue.query_one("#nothing"))
