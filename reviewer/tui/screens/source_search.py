"""The search line of the source screen, and going from match to match."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import Input

from reviewer.tui.widgets.source_search import Match, search_file, search_records

if TYPE_CHECKING:
    from reviewer.tui.screens.source import SourceScreen


class SearchLine(Input):
    """What to search for. Enter searches, escape leaves."""

    DEFAULT_CSS = """
    SearchLine { height: 1; border: none; padding: 0 1; display: none; background: $panel; }
    SearchLine:focus { border: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "leave", show=False)]

    def __init__(self, searching: Searching) -> None:
        super().__init__(placeholder="search for")
        self._searching = searching
        self.cursor_blink = False

    def action_leave(self) -> None:
        """Close the line."""
        self._searching.close()

    async def action_submit(self) -> None:
        """Search for what was typed."""
        self._searching.begin(self.value)


class Searching:
    """What `/`, `n` and `N` do on a `SourceScreen`."""

    def __init__(self, screen: SourceScreen) -> None:
        self._screen = screen
        self._needle = ""
        self.match: Match | None = None

    def open(self) -> None:
        """Ask what to search for."""
        line = self._screen.query_one(SearchLine)
        line.display = True
        line.value = self._needle
        line.focus()

    def close(self) -> None:
        """Put the search line away."""
        self._screen.query_one(SearchLine).display = False
        self._screen.pane.focus()

    def begin(self, needle: str) -> None:
        """Search for other words, from the line in use on."""
        self.close()
        self._needle = needle
        if needle:
            self._search(1)

    def next(self) -> None:
        """The next place that holds what was searched for."""
        self._search(1)

    def previous(self) -> None:
        """The place before."""
        self._search(-1)

    def _search(self, step: int) -> None:
        screen = self._screen
        if not self._needle:
            self.open()
            return
        needle, evidence, in_file = self._needle, screen.evidence, screen.shows_file
        start = (self.match.at if self.match else screen.cited_number) + step

        def look() -> Match | None:
            if not in_file:
                return search_records(evidence, needle, start, step)
            path = evidence.record.path
            return search_file(screen.engine.sources, path, needle, start, step)

        def found(match: Match | None) -> None:
            if match is None:
                where, key = ("below", "N") if step > 0 else ("above", "n")
                other = "above" if step > 0 else "below"
                screen.trouble(f'"{needle}" does not occur {where}; {key} searches {other}.')
            elif in_file == screen.shows_file:
                self.match = match
                screen.go_to(match.line)

        screen.read(look, found, group="search")
