"""The search of the State screen: typed below the list, answered while it is typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.timer import Timer

from reviewer.tui.widgets.filter_bar import FilterBar

if TYPE_CHECKING:
    from reviewer.tui.screens.state import StateScreen

REST_SECONDS = 0.03


class StateSearch:
    """Opens, runs and clears the search of a `StateScreen`."""

    def __init__(self, screen: StateScreen) -> None:
        self._screen = screen
        self._bar: FilterBar | None = None
        self._rest: Timer | None = None

    async def open(self) -> None:
        """Show the field with the search as it is, and type into it."""
        if self._bar is None:
            self._bar = FilterBar(self)
            await self._screen.query_one("#left").mount(self._bar)
        self._bar.add_class("-open")
        self._screen.set_focus(self._bar.field, scroll_visible=False)
        self._bar.field.cursor_position = len(self._bar.field.value)
        self._screen.show_keys("filter")

    def typed(self, text: str) -> None:
        """Search when the typing rests for a moment."""
        if self._rest is not None:
            self._rest.stop()
        self._rest = self._screen.set_timer(REST_SECONDS, lambda: self._run(text))

    def _run(self, text: str) -> None:
        reading = self._screen.reading
        if text != reading.search:
            reading.search = text
            reading.read_list()

    def keep(self) -> None:
        """Back to the list, with the search."""
        if self._bar is not None:
            self._close(self._bar.field.value)

    def clear(self) -> None:
        """Back to the list, without a search."""
        if self._bar is not None:
            self._bar.field.value = ""
        self._close("")

    def _close(self, text: str) -> None:
        if self._rest is not None:
            self._rest.stop()
        self._run(text)
        if not text and self._bar is not None:
            self._bar.remove_class("-open")
        self._screen.list.focus(scroll_visible=False)
        self._screen.show_keys("state")
