"""The palette, whatever is pressed and whatever a reason says."""

from __future__ import annotations

import pytest
from textual import events
from textual.command import CommandInput, CommandList

from reviewer.engine import Engine
from reviewer.tui.actions import ACTIONS
from reviewer.tui.palette import CALLED
from tests.tui.conftest import opened


async def test_a_page_is_turned_before_the_list_has_been_drawn(stocked: Engine) -> None:
    async with opened(stocked) as screen:
        await screen.press("ctrl+p", *"theme")
        await screen.until(lambda: "dark or light" in screen.text)
        palette = screen.app.screen
        found = palette.query_one(CommandList)
        found.styles.display = "none"
        await screen.settle()
        found._clear_caches()  # as a list is whose hits came a moment ago
        found.set_reactive(CommandList.highlighted, 0)
        for key in ("pageup", "pagedown"):
            await screen.press(key)
        assert screen.app.screen is palette


async def test_a_long_paste_is_not_compared_with_every_action(stocked: Engine) -> None:
    async with opened(stocked) as screen:
        await screen.press("ctrl+p", *"the")
        asked = screen.app.screen.query_one(CommandInput)
        asked.post_message(events.Paste("word " * 20_000))
        await screen.press(*"me")
        await screen.until(lambda: "dark or light" in screen.text)
        assert asked.value == "theme"


@pytest.mark.parametrize(
    ("word", "action"),
    [
        ("accept", "promote"),
        ("approve", "promote"),
        ("delete", "reject"),
        ("snooze", "defer"),
        ("type", "type"),
        ("reword", "edit"),
        ("search", "filter"),
        ("rename", "edit"),
    ],
)
async def test_an_action_is_found_by_what_people_call_it(
    stocked: Engine, word: str, action: str
) -> None:
    async with opened(stocked) as screen:
        await screen.press("ctrl+p", *word)
        found = screen.app.screen.query_one(CommandList)
        await screen.until(lambda: found.option_count)
        await screen.until(lambda: str(found.get_option_at_index(0).prompt).startswith(action))


def test_every_word_is_for_an_action_that_exists() -> None:
    assert set(CALLED) <= set(ACTIONS)
