"""The filter of the Commits screen: typed below the list, answered while it is typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.timer import Timer
from textual.widgets import Input

from reviewer.errors import FilterError
from reviewer.tui.widgets.filter_bar import FilterBar

if TYPE_CHECKING:
    from reviewer.tui.screens.commits import CommitsScreen

REST_SECONDS = 0.02
NO_CONTEXT = 0
"""Holds no commits: asking it only reads the filter."""
HINT = "words  priority:pinned  role:user  tokens>500  -word"


class CommitFilter:
    """Opens, runs and clears the filter of a `CommitsScreen`."""

    def __init__(self, screen: CommitsScreen) -> None:
        self._screen = screen
        self._bar: FilterBar | None = None
        self._rest: Timer | None = None
        self.left_row: int | None = None
        """The commit that the cursor was on before the filter, until it is moved in the result."""
        self.invalid = False
        """What stands in the field is no filter."""

    @property
    def focused(self) -> bool:
        """Whether keys go into the field."""
        return self._bar is not None and self._bar.field.has_focus

    async def open(self) -> None:
        """Show the field with the filter as it is, and type into it."""
        screen = self._screen
        if self._bar is None:
            self._bar = FilterBar(self)
            self._bar.field.placeholder = HINT
            await screen.query_one("#left").mount(self._bar)
        self._bar.add_class("-open")
        if not screen.reading.filter:
            self.left_row = screen.model.current_id
        screen.set_focus(self._bar.field, scroll_visible=False)
        self._bar.field.cursor_position = len(self._bar.field.value)

    def typed(self, text: str) -> None:
        """Run the filter when the typing rests for a moment."""
        if self._rest is not None:
            self._rest.stop()
        self._rest = self._screen.set_timer(REST_SECONDS, lambda: self._run(text))

    def _run(self, text: str) -> None:
        """Ask for what a text finds; a text that means nothing changes no list."""
        reading, status = self._screen.reading, self._screen.status
        problem = self._problem(text)
        self.invalid = bool(problem)
        if problem:
            status.say(problem, bad=True)
            return
        status.recover()
        if text != reading.asked_filter:
            reading.ask(text, self.left_row)

    def _problem(self, text: str) -> str:
        """Why a text is no filter; empty when it is one."""
        from reviewer.engine import CommitQuery

        try:
            self._screen.engine.contexts.ids(CommitQuery(NO_CONTEXT, text))
        except FilterError as error:
            return str(error)
        return ""

    def settle(self) -> None:
        """Let the field say what the list shows, and no more, when no keys go into it."""
        if self._bar is None or self.focused:
            return
        if self.invalid:
            self.invalid = False
            self._screen.status.recover()
        text = self._screen.reading.asked_filter
        with self._bar.field.prevent(Input.Changed):
            self._bar.field.value = text
        self._bar.set_class(bool(text), "-open")

    def keep(self) -> None:
        """Back to the list, with the filter; one that cannot be understood keeps the keys."""
        if self._bar is not None:
            self._close(self._bar.field.value)

    def clear(self) -> None:
        """Back to the list, without a filter; the cursor stays on its commit."""
        if self._bar is not None:
            with self._bar.field.prevent(Input.Changed):
                self._bar.field.value = ""
        self._close("")

    def _close(self, text: str) -> None:
        if self._rest is not None:
            self._rest.stop()
        self._run(text)
        if self.invalid or self._bar is None:
            return
        self._bar.set_class(bool(text), "-open")
        self._screen.list.focus(scroll_visible=False)
