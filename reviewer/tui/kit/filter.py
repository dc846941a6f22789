"""The filter field below a list."""

from __future__ import annotations

from collections.abc import Callable

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Input, Static

from reviewer.tui.kit import keys
from reviewer.tui.kit.actor import Actor


class FilterInput(Actor, Input, pane=keys.FILTER_FIELD):
    """The text field; `enter` keeps the filter, `escape` clears it."""

    def __init__(self, hint: str, keep: Callable[[], object], clear: Callable[[], object]) -> None:
        super().__init__(placeholder=hint, compact=True, select_on_focus=False)
        self.cursor_blink = False
        self.action_keep_filter, self.action_clear_filter = keep, clear


class FilterBar(Horizontal):
    """A slash and the field; the screen applies the filter after each key."""

    DEFAULT_CSS = """
    FilterBar { height: 1; display: none; }
    FilterBar.-open { display: block; }
    FilterBar > Static { width: 3; color: $accent; }
    """

    def __init__(
        self,
        hint: str,
        typed: Callable[[str], object],
        keep: Callable[[], object],
        clear: Callable[[], object],
    ) -> None:
        """`typed` gets the text after each key."""
        super().__init__(id="filter")
        self.field = FilterInput(hint, keep, clear)
        self._try = typed

    def compose(self) -> ComposeResult:
        yield Static(" / ")
        yield self.field

    def open(self) -> None:
        self.add_class("-open")
        self.screen.set_focus(self.field, scroll_visible=False)
        self.field.cursor_position = len(self.field.value)

    def show(self, text: str) -> None:
        """Show a filter without applying it; an empty one closes the bar."""
        with self.field.prevent(Input.Changed):
            self.field.value = text
        self.set_class(bool(text), "-open")

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        if event.value == self.field.value:  # the field may have been cleared since
            self._try(event.value)
