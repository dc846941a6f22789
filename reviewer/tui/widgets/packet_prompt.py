"""One field below the list: a budget, a task, a date, a path."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.message import Message

from reviewer.tui.acting import Acting
from reviewer.tui.kit.edit_pane import Field
from reviewer.tui.kit.line import Line, Part
from reviewer.tui.legacy_actions import bindings_for
from reviewer.tui.theme import Glyphs, Palette

NAME_CELLS = 9


class PromptName(Line):
    """What the field holds, before it."""

    DEFAULT_CSS = f"PromptName {{ width: {NAME_CELLS}; }}"

    def __init__(self) -> None:
        super().__init__()
        self._words = ""

    def show(self, words: str) -> None:
        """Say what is asked."""
        self._words = words
        self.refresh()

    def sides(self, style: Palette, sign: Glyphs) -> tuple[list[Part], list[list[Part]]]:
        """The name."""
        return [(f" {self._words} ", style.accent)], []


class PromptBar(Acting, Horizontal):
    """Opens for one question at a time; posts what is typed, what is taken, and when it is left."""

    DEFAULT_CSS = """
    PromptBar { height: 1; display: none; }
    PromptBar.-open { display: block; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("packet_field")]

    class Typed(Message):
        """The text changed."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Taken(Message):
        """Enter was pressed."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Left(Message):
        """The field was left with escape."""

    def compose(self) -> ComposeResult:
        """The name and the field."""
        yield PromptName()
        yield Field(id="packet-field")

    @property
    def field(self) -> Field:
        """The field."""
        return self.query_one(Field)

    @property
    def is_open(self) -> bool:
        """Whether something is asked."""
        return self.has_class("-open")

    def open(self, name: str, text: str, placeholder: str) -> None:
        """Ask for something; `text` stands in the field already."""
        self.query_one(PromptName).show(name)
        self.add_class("-open")
        field = self.field
        field.placeholder = placeholder
        with field.prevent(Field.Changed):
            field.fill(text)
        field.focus(scroll_visible=False)

    def close(self) -> None:
        """Put the field away."""
        self.remove_class("-open")

    def leave(self) -> None:
        """Leave without taking anything."""
        self.post_message(self.Left())

    @on(Field.Changed)
    def _changed(self, event: Field.Changed) -> None:
        event.stop()
        if self.is_open:
            self.post_message(self.Typed(self.field.value))

    @on(Field.Entered)
    def _entered(self, event: Field.Entered) -> None:
        event.stop()
        self.post_message(self.Taken(self.field.value))
