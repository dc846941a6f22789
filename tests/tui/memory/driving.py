"""Reads the Memory screen."""

from __future__ import annotations

from reviewer.tui.memory.model import TrustedRow
from reviewer.tui.memory.screen import MemoryScreen
from tests.tui.conftest import Screen

SIZES = [(118, 34), (80, 24), (60, 20)]


def memory_screen(screen: Screen) -> MemoryScreen:
    return screen.top(MemoryScreen)


def rows(screen: Screen) -> list[str]:
    """The list as it is: values with their key, facts by their words."""
    model = memory_screen(screen).facts
    found = model.window(0, len(model.ids))
    return [
        f"{row.state.key} = {row.state.value}" if isinstance(row, TrustedRow) else row.content
        for row in found
        if row is not None
    ]
