"""What a screen leaves behind is cleared away between two keys, not in the middle of one."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

from reviewer.tui.drawn_lines import forget_lines

if TYPE_CHECKING:
    from textual.app import App
    from textual.dom import DOMNode
    from textual.screen import Screen
    from textual.timer import Timer

AFTER_SECONDS = 0.15
"""From leaving a screen until it is cleared away: the next one is drawn by then."""
SELDOM = 40
"""The collector goes through everything by itself four times less often than it would."""


class Tidying:
    """Collects the garbage of one screen at a time.

    Widgets refer to each other in circles. Left to itself the collector waits until those of four
    or five screens have gathered, and frees them all while a key waits: 100 ms and more, where one
    screen costs a fifth of that.
    """

    def __init__(self, app: App[int]) -> None:
        """`app` keeps the time."""
        self._app = app
        self._timer: Timer | None = None
        self._left: list[DOMNode] = []

    @staticmethod
    def begin() -> None:
        """From now on the collector works, but not on what there is already."""
        gc.freeze()
        young, middle, _ = gc.get_threshold()
        gc.set_threshold(young, middle, SELDOM)
        gc.enable()

    def soon(self, left: Screen[Any]) -> None:
        """A screen is being left. Several in a row are cleared away together."""
        self._left += left.walk_children(with_self=True)
        if self._timer is not None:
            self._timer.stop()
        self._timer = self._app.set_timer(AFTER_SECONDS, self._tidy)

    def _tidy(self) -> None:
        self._timer = None
        forget_lines(self._left)
        self._left.clear()
        if gc.isenabled():
            gc.collect()
