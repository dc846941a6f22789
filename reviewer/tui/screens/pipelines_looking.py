"""Looking on the Pipelines screen: the source, an editor, the clipboard, the way back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reviewer.tui.screens.pipelines_model import EdgeRow
from reviewer.tui.screens.pipelines_modes import ALL

if TYPE_CHECKING:
    from reviewer.tui.screens.pipelines import PipelinesScreen


class PipelinesLooking:
    """What `o`, `E`, `y` and escape do on a `PipelinesScreen`."""

    def __init__(self, screen: PipelinesScreen) -> None:
        self._screen = screen

    def _line(self) -> int:
        row = self._screen.model.current
        if isinstance(row, EdgeRow) and row.way.edge is not None:
            return row.way.edge.line
        node = self._screen.model.node
        return node.line if node is not None else 0

    def open_source(self) -> None:
        """Show the DOT file at the line."""
        from reviewer.tui.screens.places import line_of_file, open_place

        place = line_of_file(str(self._screen.reading.path), self._line())
        open_place(self._screen, self._screen.engine, place)

    def open_editor(self) -> None:
        """Open the DOT file at the line in the user's editor."""
        from reviewer.tui.editor import open_in_editor

        path = str(self._screen.reading.path)
        self._screen.say(open_in_editor(self._screen.app, path, self._line() + 1))
        self._screen.reading.watch()

    def copy(self) -> None:
        """Copy the text below."""
        modes = self._screen.modes
        text = modes.text
        self._screen.app.copy_to_clipboard(text)
        self._screen.say(f"Copied {modes.mode} ({len(text):,} characters).")

    def read_text(self) -> None:
        """Fill the screen with the text below, or go back from it."""
        self._screen.panes.read(self._screen.handed)

    def back(self) -> None:
        """Leave one thing: the zoom, the pane, the chosen mode, the screen."""
        panes, modes = self._screen.panes, self._screen.modes
        all_modes = panes.zoomed and modes.view == ALL
        if panes.back():
            if all_modes:
                modes.choose(ALL)
        elif modes.view:
            modes.choose(modes.view)
        else:
            self.leave()

    def leave(self) -> None:
        """Back to the queue; a run goes on."""
        self._screen.dismiss()
