"""Looking on the Pipelines screen: modes, panes and zoom, the source, an editor, the clipboard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widget import Widget

from reviewer.tui.screens.pipelines_model import EdgeRow
from reviewer.tui.screens.pipelines_values import MODES
from reviewer.tui.widgets.pipeline_text import shown_text

if TYPE_CHECKING:
    from reviewer.tui.screens.pipelines import PipelinesScreen

ALL, SAID = "all", "said"


class PipelinesLooking:
    """What `0` to `7`, `o`, `E`, `y`, zoom, tab and escape do on a `PipelinesScreen`."""

    def __init__(self, screen: PipelinesScreen) -> None:
        self._screen = screen
        self._zoomed = ""
        self.view = ""
        """A mode that was chosen, `all` or `said`; empty for the mode that resolves."""
        self.follows = True
        """The cursor goes with a run; not any more once a person has moved it."""
        self.followed_to = ""
        """The node that it went to with the run last."""

    def reset(self) -> None:
        """Another pipeline: as it resolves, all panes."""
        self.view = ""
        self.unzoom()

    # modes

    def view_full(self) -> None:
        """What the thread carries."""
        self._choose(MODES[0])

    def view_truncate(self) -> None:
        """The preamble of truncate."""
        self._choose(MODES[1])

    def view_compact(self) -> None:
        """The preamble of compact."""
        self._choose(MODES[2])

    def view_low(self) -> None:
        """The preamble of summary:low."""
        self._choose(MODES[3])

    def view_medium(self) -> None:
        """The preamble of summary:medium."""
        self._choose(MODES[4])

    def view_high(self) -> None:
        """The preamble of summary:high."""
        self._choose(MODES[5])

    def view_said(self) -> None:
        """What the node was asked and answered."""
        self._choose(SAID)

    def view_all(self) -> None:
        """All six side by side over the whole screen, or one again."""
        before = self.view
        self._choose(ALL)
        if self.view == ALL:
            self._zoom(self._screen.handed)
        elif before == ALL:
            self.unzoom()

    def _choose(self, view: str) -> None:
        """Show a mode; the same again shows the one that resolves."""
        was_all = self.view == ALL
        self.view = "" if self.view == view else view
        if was_all and view != ALL:
            self.unzoom()
        self._screen.draw_handed(anew=True)

    @property
    def mode(self) -> str:
        """What is shown: a mode, `all` or `said`."""
        handed = self._screen.reading.handed
        return self.view or (handed.way.fidelity.value if handed is not None else MODES[2])

    @property
    def text(self) -> str:
        """The text that is shown below."""
        handed = self._screen.reading.handed
        return shown_text(self.mode, handed) if handed is not None else ""

    # the source

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
        text = self.text
        self._screen.app.copy_to_clipboard(text)
        self._screen.say(f"Copied {self.mode} ({len(text):,} characters).")

    # panes

    @property
    def zoomed(self) -> bool:
        """Whether one pane fills the screen."""
        return bool(self._zoomed)

    def _panes(self) -> list[Widget]:
        screen = self._screen
        return [screen.list, screen.way, screen.handed]

    def read_text(self) -> None:
        """Fill the screen with the text below, or go back from it."""
        screen = self._screen
        if self._zoomed:
            self.unzoom()
            screen.list.focus(scroll_visible=False)
            return
        screen.handed.focus(scroll_visible=False)
        self._zoom(screen.handed)

    def zoom(self) -> None:
        """Fill the screen with the focused pane."""
        focused = self._screen.focused
        self._zoom(focused if focused in self._panes() else self._screen.list)

    def _zoom(self, pane: Widget | None) -> None:
        self.unzoom()
        if pane is not None:
            self._zoomed = f"zoom-{pane.id}"
            self._screen.add_class(self._zoomed)
            self._screen.call_after_refresh(self._screen.draw_handed)

    def unzoom(self) -> None:
        """Show all panes."""
        if self._zoomed:
            self._screen.remove_class(self._zoomed)
            self._zoomed = ""
            self._screen.call_after_refresh(self._screen.draw_handed)

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
        """Leave one thing: the zoom, the pane, the chosen mode, the screen."""
        screen = self._screen
        if self._zoomed:
            self.unzoom()
            if self.view == ALL:
                self._choose(ALL)
            screen.list.focus(scroll_visible=False)
        elif screen.focused is not screen.list:
            screen.list.focus(scroll_visible=False)
        elif self.view:
            self._choose(self.view)
        else:
            self.leave()

    def leave(self) -> None:
        """Back to the queue; a run goes on."""
        self._screen.dismiss()
