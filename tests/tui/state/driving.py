"""Reads the State screen."""

from __future__ import annotations

from reviewer.promotion.views import QueueRow
from reviewer.tui.kit.bars import StatusBar
from reviewer.tui.state.model import GroupHead
from reviewer.tui.state.screen import StateScreen
from tests.tui.conftest import Screen

SIZES = [(118, 34), (80, 24), (60, 20)]


def state(screen: Screen) -> StateScreen:
    found = screen.app.screen
    assert isinstance(found, StateScreen)
    return found


def status_text(screen: Screen) -> str:
    return screen.app.screen.query_one(StatusBar).text


def rows(screen: Screen) -> list[str]:
    """The list as it is: heads by their title, facts by their words."""
    model = state(screen).facts
    found = []
    for index in range(model.total):
        row = model.row(index)
        assert row is not None
        if isinstance(row, GroupHead):
            found.append(f"{row.layer} {row.title} {row.count}")
        elif isinstance(row, QueueRow):
            found.append(row.content)
        else:
            found.append(f"{row.key} = {row.value}")
    return found
