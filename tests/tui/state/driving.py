"""Reads the State screen."""

from __future__ import annotations

from reviewer.tui.state.model import TrustedRow
from reviewer.tui.state.screen import StateScreen
from tests.tui.conftest import Screen

SIZES = [(118, 34), (80, 24), (60, 20)]


def state(screen: Screen) -> StateScreen:
    found = screen.app.screen
    assert isinstance(found, StateScreen)
    return found


def rows(screen: Screen) -> list[str]:
    """The list as it is: values with their key, facts by their words."""
    model = state(screen).facts
    found = model.window(0, len(model.ids))
    return [
        f"{row.state.key} = {row.state.value}" if isinstance(row, TrustedRow) else row.content
        for row in found
        if row is not None
    ]
