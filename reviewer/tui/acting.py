"""From a key to the function behind it, with the reason or the error as a sentence."""

from __future__ import annotations

from inspect import isawaitable
from operator import attrgetter
from typing import TYPE_CHECKING

from textual.actions import SkipAction
from textual.dom import DOMNode

from reviewer.errors import ReviewerError
from reviewer.tui.actions import ACTIONS
from reviewer.tui.situation import Situation
from reviewer.tui.widgets.bars import StatusBar

if TYPE_CHECKING:
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
        """Put a sentence into the status line of the screen."""
        for bar in self.screen.query(StatusBar):
            bar.say(text, bad=bad)

    async def action_act(self, action_id: str) -> None:
        """Run an action of the registry, or say why it does nothing now."""
        action = ACTIONS[action_id]
        reason = action.why_disabled(self.situation()) if action.why_disabled else None
        if reason:
            self.say(reason)
            return
        try:
            result = attrgetter(action.run)(self)()
            if isawaitable(result):
                await result
        except (ReviewerError, OSError) as error:
            self.say(str(error), bad=True)


def pass_on() -> None:
    """Let the key go on to the screen around this pane.

    Raises:
        SkipAction: always; Textual then tries the next binding of the same key.
    """
    raise SkipAction
