"""Reads the Pipelines screen."""

from __future__ import annotations

from reviewer.tui.pipelines.screen import PipelinesScreen
from tests.present import present
from tests.tui.conftest import Screen


def shown(screen: Screen) -> PipelinesScreen:
    return screen.top(PipelinesScreen)


def rows(screen: Screen) -> list[str]:
    """The names of the nodes."""
    return [stop.node.name for stop in shown(screen).nodes.rows]


def at(screen: Screen) -> str:
    return present(shown(screen).nodes.current).node.name


def states(screen: Screen) -> dict[str, tuple[str, int]]:
    """The activity or outcome of each node, and how often it ran."""
    return {
        name: (state.now or state.outcome, state.runs)
        for name, state in shown(screen).nodes.states.items()
    }


async def until_it(screen: Screen, word: str) -> None:
    """Wait until the title shows this state of the run."""
    await screen.until(lambda: word in shown(screen).run_words())
    await screen.settle()


async def until_ended(screen: Screen) -> None:
    """Wait until no run is under way and the screen shows how it ended."""
    await screen.until(lambda: screen.app.background_run is None)
    await screen.settle()
