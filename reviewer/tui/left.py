"""Whether something that comes late still finds the screen that it was meant for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.app import ScreenStackError
from textual.await_complete import AwaitComplete
from textual.css.query import NoMatches
from textual.dom import NoScreen
from textual.widget import MountError

if TYPE_CHECKING:
    from textual.dom import DOMNode
    from textual.screen import Screen

    _Screen = Screen[Any]
else:
    # Textual inherits styles along the first base that is a node: this must not be one
    _Screen = object

GONE = (NoMatches, MountError, NoScreen, ScreenStackError)
"""What Textual raises when a screen is asked for a pane that it has lost."""


class LeftOnce(_Screen):
    """A screen that is left once: keys that were typed ahead leave no other one with it."""

    def dismiss(self, result: Any = None) -> AwaitComplete:
        """Leave this screen, if it is still the one on top."""
        return super().dismiss(result) if self.is_active else AwaitComplete()


def was_left(node: DOMNode) -> bool:
    """Whether the screen of a node is neither shown nor lies under another one.

    Its panes go one after another then, while an act that it began may still go on.
    """
    try:
        return node.screen not in node.app.screen_stack
    except (NoScreen, ScreenStackError):
        return True
