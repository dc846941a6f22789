"""From a key to the function behind it, with the reason or the error as a sentence."""

from __future__ import annotations

from asyncio import ensure_future, wait, wait_for
from collections.abc import Awaitable, Callable
from inspect import isawaitable
from operator import attrgetter
from typing import TYPE_CHECKING

from textual.actions import SkipAction
from textual.dom import DOMNode

from reviewer.errors import ReviewerError
from reviewer.tui.kit.bars import StatusBar
from reviewer.tui.left import GONE, was_left
from reviewer.tui.legacy_actions import ACTIONS
from reviewer.tui.situation import Situation

PATIENCE_SECONDS = 0.25
WAITING = "Waiting for another program that is writing ..."

READ_ONLY = "The store is read-only: it can be looked at, and nothing can be decided in it."
BEGIN_WITH_TYPING = frozenset({"edit", "commit_edit", "retain", "state_new", "state_edit"})
"""What would be refused only after a person has typed, and could not even be kept as a draft."""

if TYPE_CHECKING:
    from reviewer.engine import Engine

    _Node = DOMNode
else:
    # Textual inherits styles along the first base that is a node: this must not be one
    _Node = object


class Acting(_Node):
    """A node whose bindings come from the registry: `BINDINGS = bindings_for(pane)`."""

    def situation(self) -> Situation:
        """What decides which actions can run; screens with more to say override it."""
        screen: DOMNode = self.screen
        if screen is not self and isinstance(screen, Acting):
            return screen.situation()
        return Situation()

    def say(self, text: str, *, bad: bool = False) -> None:
        """Put a sentence into the status line of the screen, or of the one it was left for."""
        screen = self.app.screen if was_left(self) else self.screen
        for bar in screen.query(StatusBar):
            bar.say(text, bad=bad)

    async def action_act(self, action_id: str) -> None:
        """Run an action of the registry, or say why it does nothing now."""
        action = ACTIONS[action_id]
        reason = action.why_disabled(self.situation()) if action.why_disabled else None
        if reason:
            self.say(reason)
            return
        engine: Engine | None = getattr(self.app, "engine", None)
        if engine is not None and engine.read_only and action_id in BEGIN_WITH_TYPING:
            self.say(READ_ONLY, bad=True)
            return
        act = getattr(self.app, "act_that_waits", None)
        if act is not None and not act.done() and action.group == "Decide":
            bulk = getattr(self.app, "bulk", None)
            self.say(f"{bulk.sentence if bulk else WAITING} This key did nothing.")
            return
        await self.patiently(lambda: attrgetter(action.run)(self)())

    async def patiently(self, run: Callable[[], object]) -> None:
        """Run something; what goes wrong becomes a sentence.

        The keys wait for it, unless it waits for another program, or is an act on so many rows
        that it takes long: then it goes on behind the screen, which says so. When the screen is
        left meanwhile, the act is done all the same, and has nothing left to draw.
        """
        try:
            result = run()
        except (ReviewerError, OSError) as error:
            self.say(str(error), bad=True)
            return
        except GONE:
            if not was_left(self):
                raise
            return
        if not isawaitable(result):
            return
        act = ensure_future(self._guarded(result))
        engine: Engine | None = getattr(self.app, "engine", None)
        while not act.done():
            await wait({act}, timeout=PATIENCE_SECONDS)
            bulk = getattr(self.app, "bulk", None)
            waits = engine is not None and engine.waits_to_write()
            if not act.done() and (waits or bulk is not None):
                self.say(WAITING if waits or bulk is None else bulk.sentence)
                self.app.act_that_waits = act  # type: ignore[attr-defined]
                self.app.run_worker(wait_for(act, None), group="act that waits")
                return
        act.result()

    async def _guarded(self, result: Awaitable[object]) -> None:
        try:
            await result
        except (ReviewerError, OSError) as error:
            self.say(str(error), bad=True)
        except GONE:
            if not was_left(self):
                raise


def pass_on() -> None:
    """Let the key go on to the screen around this pane.

    Raises:
        SkipAction: always; Textual then tries the next binding of the same key.
    """
    raise SkipAction
