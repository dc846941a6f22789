"""Which of the six modes the Pipelines screen shows below, all of them, or what was said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reviewer.tui.screens.pipelines_values import MODES
from reviewer.tui.widgets.pipeline_text import shown_text

if TYPE_CHECKING:
    from reviewer.tui.screens.pipelines import PipelinesScreen

ALL, SAID = "all", "said"


class PipelinesModes:
    """What `0` to `7` do on a `PipelinesScreen`."""

    def __init__(self, screen: PipelinesScreen) -> None:
        self._screen = screen
        self.view = ""
        """A mode that was chosen, `all` or `said`; empty for the mode that resolves."""

    def reset(self) -> None:
        """Another pipeline: as it resolves, all panes."""
        self.view = ""
        self._screen.panes.unzoom()

    def view_full(self) -> None:
        """What the thread carries."""
        self.choose(MODES[0])

    def view_truncate(self) -> None:
        """The preamble of truncate."""
        self.choose(MODES[1])

    def view_compact(self) -> None:
        """The preamble of compact."""
        self.choose(MODES[2])

    def view_low(self) -> None:
        """The preamble of summary:low."""
        self.choose(MODES[3])

    def view_medium(self) -> None:
        """The preamble of summary:medium."""
        self.choose(MODES[4])

    def view_high(self) -> None:
        """The preamble of summary:high."""
        self.choose(MODES[5])

    def view_said(self) -> None:
        """What the node was asked and answered."""
        self.choose(SAID)

    def view_all(self) -> None:
        """All six side by side over the whole screen, or one again."""
        self.choose(ALL)
        if self.view == ALL:
            self._screen.panes.fill(self._screen.handed)
        else:
            self._screen.panes.unzoom()

    def choose(self, view: str) -> None:
        """Show a mode; the same again shows the one that resolves."""
        was_all = self.view == ALL
        self.view = "" if self.view == view else view
        if was_all and view != ALL:
            self._screen.panes.unzoom()
        self._screen.showing.draw_handed(anew=True)

    @property
    def mode(self) -> str:
        """What is shown: a mode, `all` or `said`."""
        handed = self._screen.row.handed
        return self.view or (handed.way.fidelity.value if handed is not None else MODES[2])

    @property
    def text(self) -> str:
        """The text that is shown below."""
        handed = self._screen.row.handed
        return shown_text(self.mode, handed) if handed is not None else ""
