"""What a run said, from the Pipelines screen to a context on the Commits screen."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reviewer.engine import KeptTurn
    from reviewer.tui.screens.pipelines import PipelinesScreen


class RunConversation:
    """The turns of the run that a `PipelinesScreen` shows."""

    def __init__(self, screen: PipelinesScreen) -> None:
        self._screen = screen

    async def open_as_context(self) -> None:
        """What the run said as a context: the thread of this node, or everything."""
        from reviewer.tui.context_place import keep_context

        screen, shown, node = self._screen, self._screen.reading.run, self._screen.model.node
        assert shown is not None  # the key needs a run that spoke
        thread = latest_thread(shown.turns, node.name if node is not None else "")
        done = await to_thread(
            screen.engine.pipelines.import_conversation, shown.view.run_id, thread
        )
        await to_thread(keep_context, screen.engine.path, screen.project, done.context.id, None)
        what = f"the thread {thread}" if thread else "all stages"
        screen.say(f"Opened {what} as the context {done.context.name}.")
        screen.app.call_later(screen.app.show_commits)  # type: ignore[attr-defined]


def latest_thread(turns: Sequence[KeptTurn], node: str) -> str | None:
    """The thread that a node spoke in last; None where it never spoke in one."""
    threads = [turn.thread for turn in turns if turn.node == node]
    return next((thread for thread in reversed(threads) if thread), None)
