"""The line below a list that a filter is typed into."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Input, Static

from reviewer.tui.kit import keys
from reviewer.tui.kit.actor import Actor
from reviewer.tui.kit.field import Field

REST_SECONDS = 0.015
"""Pause in the typing before the filter runs."""


class FilterInput(Actor, Field, pane=keys.FILTER_FIELD):
    """The text field; `enter` keeps the filter, `escape` clears it."""

    def action_keep_filter(self) -> None:
        self.post_message(FilterBar.Kept(self.value))

    def action_clear_filter(self) -> None:
        self.post_message(FilterBar.Cleared())


class FilterBar(Horizontal):
    """A slash and the field. It posts the typed text; the screen interprets it."""

    DEFAULT_CSS = """
    FilterBar { height: 1; display: none; }
    FilterBar.-open { display: block; }
    FilterBar > Static { width: 3; color: $accent; }
    FilterBar > FilterInput { width: 1fr; background: $background; border: none; padding: 0; }
    FilterBar > FilterInput:focus { border: none; background: $background; }
    """

    class Typed(Message):
        """Typing paused."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Kept(Typed):
        """Keep the filter; the keys go back to the list."""

    class Cleared(Message):
        """Drop the filter; the keys go back to the list."""

    def __init__(self, hint: str) -> None:
        super().__init__(id="filter")
        self.field = FilterInput(hint=hint, select_on_focus=False)
        self._timer: Timer | None = None

    def compose(self) -> ComposeResult:
        yield Static(" / ")
        yield self.field

    @property
    def focused(self) -> bool:
        return self.field.has_focus

    def open(self) -> None:
        """Show the field and type into it."""
        self.add_class("-open")
        self.screen.set_focus(self.field, scroll_visible=False)
        self.field.cursor_position = len(self.field.value)

    def show(self, text: str) -> None:
        """Show a filter without running it; an empty one closes the bar."""
        self.stop()
        with self.field.prevent(Input.Changed):
            self.field.value = text
        self.set_class(bool(text), "-open")

    def stop(self) -> None:
        """Do not report the text that was typed last."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        self.stop()
        text = event.value
        self._timer = self.set_timer(REST_SECONDS, lambda: self.post_message(self.Typed(text)))
