"""A text field of one line that shows hidden characters as marks, whatever is pasted into it."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import TextArea

from reviewer.tui.widgets.edit_pane import EditorArea

_LEAVES_THE_LINE = {"up", "down", "pageup", "pagedown", "shift+up", "shift+down"}


def _within_a_line() -> list[BindingType]:
    bindings = [each for each in TextArea.BINDINGS if isinstance(each, Binding)]
    return [each for each in bindings if not _LEAVES_THE_LINE & set(each.key.split(","))]


class Field(EditorArea, inherit_bindings=False):
    """One line; keys that would leave it go to the pane around."""

    DEFAULT_CSS = """
    Field { border: none; padding: 0; height: 1; width: 1fr; background: $panel;
            scrollbar-size: 0 0; overflow: hidden hidden; }
    Field:focus { border: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = _within_a_line()

    class Entered(Message):
        """Enter was pressed."""

        def __init__(self, field: Field) -> None:
            super().__init__()
            self.field = field

    def __init__(self, placeholder: str = "", *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(
            highlight_cursor_line=False,
            compact=True,
            soft_wrap=False,
            tab_behavior="focus",
            placeholder=placeholder,
            id=id,
        )
        self.cursor_blink = False

    @property
    def value(self) -> str:
        """What was typed, as one line."""
        return " ".join(self.text.splitlines()).strip()

    def fill(self, text: str) -> None:
        """Put a text in, with the cursor at its end."""
        self.load_text(" ".join(text.splitlines()))
        self.move_cursor(self.document.end)

    def _on_key(self, event: events.Key) -> None:  # type: ignore[override]
        if event.key == "enter":
            event.prevent_default()
            event.stop()
            self.post_message(self.Entered(self))
