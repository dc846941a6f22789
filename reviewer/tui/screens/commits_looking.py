"""Looking on the Commits screen: panes and zoom, the source, an editor, the clipboard."""

from __future__ import annotations

from asyncio import to_thread
from typing import TYPE_CHECKING

from textual.widget import Widget

from reviewer.errors import SourceError
from reviewer.tui.bulk import stopped
from reviewer.tui.widgets.commit_row import SHORT

if TYPE_CHECKING:
    from reviewer.tui.screens.commits import CommitsScreen


class CommitsLooking:
    """What `o`, `E`, `y`, enter, zoom, tab and escape do on a `CommitsScreen`."""

    def __init__(self, screen: CommitsScreen) -> None:
        self._screen = screen
        self._zoomed = ""

    # the source

    async def _place(self) -> tuple[str, int]:
        """(file, 0-based line) of the commit under the cursor. Raises SourceError."""
        reading = self._screen.reading
        view = await to_thread(self._screen.commit.current_view)
        path = reading.context.source_path if reading.context is not None else None
        if path is None or view.source_line is None:
            raise SourceError(
                f"{view.row.hash[:SHORT]} names no line of a file: it was not imported from one."
            )
        return path, view.source_line

    async def open_source(self) -> None:
        """Show the transcript at the line."""
        from reviewer.tui.screens.places import line_of_file, open_place

        path, line = await self._place()
        open_place(self._screen, self._screen.engine, line_of_file(path, line))

    async def open_editor(self) -> None:
        """Open the transcript at the line in the user's editor."""
        from reviewer.tui.editor import open_in_editor

        path, line = await self._place()
        self._screen.say(open_in_editor(self._screen.app, path, line + 1))

    async def copy(self) -> None:
        """Copy the text to the clipboard."""
        view = await to_thread(self._screen.commit.current_view)
        self._screen.app.copy_to_clipboard(view.text)
        self._screen.say(f"Copied {view.row.hash[:SHORT]} ({len(view.text):,} characters).")

    async def compress_from(self) -> None:
        """Go to the Compress screen, which begins at the commit under the cursor."""
        from reviewer.tui.app import ReviewerApp

        screen, number = self._screen, self._screen.model.current_id
        if isinstance(screen.app, ReviewerApp) and number is not None:
            screen.reading.keep_place()  # the other screen shows the context that was left last
            await screen.app.show_compress_from(number)

    # panes

    @property
    def zoomed(self) -> bool:
        """Whether one pane fills the screen."""
        return bool(self._zoomed)

    def _panes(self) -> list[Widget]:
        screen = self._screen
        return [screen.list, screen.text, screen.survival]

    def read_text(self) -> None:
        """Fill the screen with the text, or go back from it."""
        screen = self._screen
        if self._zoomed:
            self.unzoom()
            screen.list.focus(scroll_visible=False)
            return
        screen.text.focus(scroll_visible=False)
        self._zoom(screen.text)

    def zoom(self) -> None:
        """Fill the screen with the focused pane."""
        focused = self._screen.focused
        self._zoom(focused if focused in self._panes() else self._screen.list)

    def _zoom(self, pane: Widget | None) -> None:
        self.unzoom()
        if pane is not None:
            self._zoomed = f"zoom-{pane.id}"
            self._screen.add_class(self._zoomed)

    def unzoom(self) -> None:
        """Show all panes."""
        if self._zoomed:
            self._screen.remove_class(self._zoomed)
            self._zoomed = ""

    def next_pane(self) -> None:
        """Focus the next pane."""
        self._step(1)

    def previous_pane(self) -> None:
        """Focus the pane before."""
        self._step(-1)

    def _step(self, step: int) -> None:
        panes, focused, zoomed = self._panes(), self._screen.focused, self.zoomed
        at = panes.index(focused) if focused in panes else 0
        pane = panes[(at + step) % len(panes)]
        self.unzoom()
        pane.focus(scroll_visible=False)
        if zoomed:
            self._screen.call_after_refresh(lambda: self._zoom(pane))

    def back(self) -> None:
        """Leave one thing: an act that goes on, range and marks, zoom, pane, filter, screen."""
        screen, model = self._screen, self._screen.model
        if stopped(screen):
            return
        if model.range_from is not None or model.marks:
            screen.marking.clear()
        elif self._zoomed:
            self.unzoom()
            screen.list.focus(scroll_visible=False)
        elif screen.focused is not screen.list:
            screen.list.focus(scroll_visible=False)
        elif screen.reading.filter:
            screen.filtering.clear()
        else:
            self.leave()

    def leave(self) -> None:
        """Back to the queue."""
        self._screen.dismiss()
