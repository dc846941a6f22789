"""A text field of one line."""

from __future__ import annotations

from textual import events
from textual.widgets import Input

from reviewer.tui.kit.text import cut
from reviewer.tui.theme import glyphs


class Field(Input):
    """Its hint ends with an ellipsis where it does not fit, and its cursor does not blink."""

    def __init__(self, text: str = "", *, hint: str, select_on_focus: bool = True) -> None:
        super().__init__(text, compact=True, select_on_focus=select_on_focus)
        self.hint = hint
        self.cursor_blink = False

    def on_resize(self, event: events.Resize) -> None:
        self.placeholder = cut(self.hint, event.size.width - 1, glyphs(self.app).ellipsis)
