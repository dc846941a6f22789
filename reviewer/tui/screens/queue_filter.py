"""The filter: typed below the list, answered while it is typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace
from textual.timer import Timer

from reviewer.errors import FilterError

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
        self.invalid = False
        """What stands in the field is no filter."""

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
        """Ask for what a text finds; a text that means nothing changes no list."""
        loader, status = self._screen.loader, self._screen.status
        problem = self._problem(text)
        self.invalid = bool(problem)
        if problem:
            status.say(problem, bad=True)
            return
        status.recover()
        if text != loader.asked.filter:
            loader.ask(
                replace(loader.query, filter=text),
                quick=bool(text),
                here=None if text else self.left_row,
            )

    def _problem(self, text: str) -> str:
        """Why a text is no filter; empty when it is one."""
        query = replace(self._screen.loader.query, filter=text)
        try:
            self._screen.engine.queue.check(query)
        except FilterError as error:
            return str(error)
        return ""

    def settle(self) -> None:
        """Let the field say what the list shows, and no more, when no keys go into it."""
        if self._bar is None or self.focused:
            return
        text = self._screen.loader.asked.filter
        if self._rest is not None:
            self._rest.stop()
        if self.invalid:
            self.invalid = False
            self._screen.status.recover()
        self._show(text)

    def _show(self, text: str) -> None:
        if self._bar is None:
            return
        from textual.widgets import Input

        with self._bar.field.prevent(Input.Changed):
            self._bar.field.value = text
        self._bar.set_class(bool(text), "-open")

    def keep(self) -> None:
        """Back to the list, with the filter; one that cannot be understood keeps the keys."""
        if self._bar is None:
            return
        text = self._bar.field.value
        if self._rest is not None:
            self._rest.stop()
        self._run(text)
        if self.invalid:
            return
        if not text:
            self._bar.remove_class("-open")
        self._screen.list.focus(scroll_visible=False)

    def clear(self) -> None:
        """Back to the list, without a filter; the cursor stays on its row."""
        if self._rest is not None:
            self._rest.stop()
        self._show("")
        self._run("")
        self._screen.list.focus(scroll_visible=False)
