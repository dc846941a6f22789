"""Reads the Pipelines screen."""

from __future__ import annotations

from reviewer.tui.pipelines.model import NodeRow
from reviewer.tui.pipelines.screen import PipelinesScreen
from tests.present import present
from tests.tui.conftest import Screen


def shown(screen: Screen) -> PipelinesScreen:
    found = screen.app.screen
    assert isinstance(found, PipelinesScreen)
    return found


def rows(screen: Screen) -> list[str]:
    """The rows as words: `knead`, `taste>done`."""
    return [
        row.node.name
        if isinstance(row, NodeRow)
        else f"{present(row.entry.edge).source}>{row.entry.node.name}"
        for row in shown(screen).graph.rows
    ]


def at(screen: Screen) -> str:
    return rows(screen)[shown(screen).graph.cursor]


async def until_it(screen: Screen, word: str) -> None:
    """Wait until the title shows this state of the run."""
    await screen.until(lambda: word in shown(screen).progress_words())
    await screen.settle()


async def until_ended(screen: Screen) -> None:
    """Wait until no run is under way and the screen shows how it ended."""
    await screen.until(lambda: screen.app.background_run is None)
    await screen.settle()
