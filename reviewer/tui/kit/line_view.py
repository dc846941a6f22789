"""The base of lists and panes of text: they draw line by line (Textual's Line API), and neither
keys nor new text cause a layout of the screen.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from textual.geometry import Size
from textual.scroll_view import ScrollView

from reviewer.tui.kit import keys
from reviewer.tui.kit.action import Action
from reviewer.tui.kit.actor import Actor


class LineView(Actor, ScrollView, can_focus=True, inherit_bindings=False, pane=keys.MOVING):
    """Lines without a scroll bar, whose appearance would cause a layout of the screen."""

    DEFAULT_CSS = "LineView { height: 1fr; width: 1fr; overflow: hidden hidden; }"

    @property
    def height(self) -> int:
        return self.size.height

    def move_by(self, lines: int) -> None:
        """Go down, or up; too far stops at the end."""
        raise NotImplementedError

    def _method(self, action: Action) -> Callable[[], object]:
        """Every key of this pane goes a number of lines; of a page, one line stays visible."""
        page = max(self.height - 1, 1)
        half, whole = max(page // 2, 1), self.virtual_size.height
        lines = {
            keys.LINE_DOWN: 1,
            keys.LINE_UP: -1,
            keys.HALF_DOWN: half,
            keys.HALF_UP: -half,
            keys.PAGE_DOWN: page,
            keys.PAGE_UP: -page,
            keys.GO_HOME: -whole,
            keys.GO_END: whole,
        }
        return partial(self.move_by, lines[action])

    def count_lines(self, lines: int) -> None:
        """Set the number of lines that can be scrolled."""
        self.set_reactive(ScrollView.virtual_size, Size(self.size.width, lines))

    def put_top(self, line: int) -> None:
        """Scroll so that a line is the first visible one; the caller draws."""
        top = float(max(0, min(line, self.max_scroll_y)))
        for position in (ScrollView.scroll_y, ScrollView.scroll_target_y):
            self.set_reactive(position, top)
