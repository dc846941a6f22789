"""The field that a filter is typed into."""

from __future__ import annotations

from typing import ClassVar, Protocol

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.widgets import Input

from reviewer.tui.acting import Acting
from reviewer.tui.kit.line import Line, Part
from reviewer.tui.legacy_actions import bindings_for
from reviewer.tui.theme import Glyphs, Palette

HINT = "words  type:project  conf>0.5  -word"


class Filtering(Protocol):
    """What is typed goes to it."""

    def typed(self, text: str) -> None:
        """The text changed."""
        ...

    def keep(self) -> None:
        """Keep the filter and go back to the list."""
        ...

    def clear(self) -> None:
        """Clear the filter and go back to the list."""
        ...


class FilterInput(Acting, Input):
    """The text field; `enter` keeps the filter, `escape` clears it."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("filter")]

    def __init__(self, filtering: Filtering) -> None:
        super().__init__(placeholder=HINT, compact=True, select_on_focus=False)
        self._filtering = filtering
        self.cursor_blink = False

    def keep(self) -> None:
        """Keep the filter."""
        self._filtering.keep()

    def clear_filter(self) -> None:
        """Clear the filter."""
        self._filtering.clear()


class FilterSign(Line):
    """The sign before the field."""

    DEFAULT_CSS = "FilterSign { width: 3; }"

    def sides(self, style: Palette, sign: Glyphs) -> tuple[list[Part], list[list[Part]]]:
        """` / `."""
        return [(" / ", style.accent)], []


class FilterBar(Horizontal):
    """One line below the list."""

    DEFAULT_CSS = """
    FilterBar { height: 1; display: none; }
    FilterBar.-open { display: block; }
    """

    def __init__(self, filtering: Filtering) -> None:
        super().__init__(id="filter")
        self._filtering = filtering
        self.field = FilterInput(filtering)

    def compose(self) -> ComposeResult:
        """The sign and the field; its placeholder says what can be typed."""
        yield FilterSign()
        yield self.field

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        self._filtering.typed(event.value)
