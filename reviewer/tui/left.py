"""Whether something that comes late still finds the screen that it was meant for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ScreenStackError
from textual.css.query import NoMatches
from textual.dom import NoScreen
from textual.widget import MountError

if TYPE_CHECKING:
    from textual.dom import DOMNode

GONE = (NoMatches, MountError, NoScreen, ScreenStackError)
"""What Textual raises when a screen is asked for a pane that it has lost."""


def was_left(node: DOMNode) -> bool:
    """Whether the screen of a node is neither shown nor lies under another one.

    Its panes go one after another then, while an act that it began may still go on.
    """
    try:
        return node.screen not in node.app.screen_stack
    except (NoScreen, ScreenStackError):
        return True
