"""The two lines above every screen of a tab."""

from __future__ import annotations

from typing import Any

from textual.app import ComposeResult
from textual.screen import Screen

from reviewer.tui.kit.bars import HeaderBar, TabBar


def top_lines(screen: Screen[Any], tab: str) -> ComposeResult:
    """The header, which says what that of the queue says, and the tabs with one that is open."""
    header = HeaderBar(id="header")
    header.same_as(screen.app.screen_stack[0].query_one(HeaderBar))
    yield header
    tabs = TabBar(id="tabs")
    tabs.current = tab
    yield tabs
