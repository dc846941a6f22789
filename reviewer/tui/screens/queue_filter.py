"""The filter: typed below the list, answered while it is typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace
from textual.timer import Timer

if TYPE_CHECKING:
    from reviewer.tui.screens.queue import QueueScreen
    from reviewer.tui.widgets.filter_bar import FilterBar

REST_SECONDS = 0.015


class Filtering:
    """Opens, runs and clears the filter of a `QueueScreen`."""

    def __init__(self, screen: QueueScreen) -> None:
        self._screen = screen
        self._bar: FilterBar | None = None
        self._rest: Timer | None = None
        self.left_row: int | None = None
        """The row that the cursor was on before the filter, until it is moved in the result."""

    @property
    def focused(self) -> bool:
        """Whether keys go into the field."""
        return self._bar is not None and self._bar.field.has_focus

    async def open(self) -> None:
        """Show the field with the filter as it is, and type into it."""
        if self._bar is None:
            from reviewer.tui.widgets.filter_bar import FilterBar

            self._bar = FilterBar(self)
            await self._screen.query_one("#left").mount(self._bar)
        self._bar.add_class("-open")
        if not self._screen.loader.query.filter:
            self.left_row = self._screen.model.current_id
        field = self._bar.field
        self._screen.set_focus(field, scroll_visible=False)
        field.cursor_position = len(field.value)

    def typed(self, text: str) -> None:
        """Run the filter when the typing rests for a moment."""
        if self._rest is not None:
            self._rest.stop()
        self._rest = self._screen.set_timer(REST_SECONDS, lambda: self._run(text))

    def _run(self, text: str) -> None:
        query = self._screen.loader.query
        if text != query.filter:
            self._screen.loader.ask(
                replace(query, filter=text), quick=bool(text), here=None if text else self.left_row
            )

    def keep(self) -> None:
        """Back to the list, with the filter."""
        if self._bar is None:
            return
        text = self._bar.field.value
        if self._rest is not None:
            self._rest.stop()
        self._run(text)
        if not text:
            self._bar.remove_class("-open")
        self._screen.list.focus(scroll_visible=False)

    def clear(self) -> None:
        """Back to the list, without a filter; the cursor stays on its row."""
        if self._bar is not None:
            self._bar.field.value = ""
            self._bar.remove_class("-open")
        if self._rest is not None:
            self._rest.stop()
        self._run("")
        self._screen.list.focus(scroll_visible=False)
