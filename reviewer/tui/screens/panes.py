"""The panes of a screen beside its list: which one has the focus, which one fills the screen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from textual.screen import Screen
from textual.widget import Widget


class Panes:
    """What zoom, tab and the way back do between panes; the first pane is the list."""

    def __init__(
        self,
        screen: Screen[Any],
        panes: Sequence[Widget],
        zoom_changed: Callable[[], object] | None = None,
    ) -> None:
        """`panes` in the order of tab; `zoom_changed` is called once they are laid out anew."""
        self._screen = screen
        self._panes = tuple(panes)
        self._zoom_changed = zoom_changed
        self._zoomed = ""
        """The class of the screen while one pane fills it: `zoom-` and the pane's id."""

    @property
    def zoomed(self) -> bool:
        """Whether one pane fills the screen."""
        return bool(self._zoomed)

    def zoom(self) -> None:
        """Fill the screen with the focused pane."""
        focused = self._screen.focused
        self.fill(focused if focused in self._panes else self._panes[0])

    def fill(self, pane: Widget) -> None:
        """Fill the screen with a pane."""
        self.unzoom()
        self._zoomed = f"zoom-{pane.id}"
        self._screen.add_class(self._zoomed)
        self._tell()

    def unzoom(self) -> None:
        """Show all panes."""
        if self._zoomed:
            self._screen.remove_class(self._zoomed)
            self._zoomed = ""
            self._tell()

    def _tell(self) -> None:
        if self._zoom_changed is not None:
            self._screen.call_after_refresh(self._zoom_changed)

    def read(self, pane: Widget) -> None:
        """Fill the screen with a pane and go there, or go back from it."""
        if self._zoomed:
            self.back()
        else:
            self._focus(pane)
            self.fill(pane)

    def next(self) -> None:
        """Focus the next pane."""
        self._step(1)

    def previous(self) -> None:
        """Focus the pane before."""
        self._step(-1)

    def _step(self, step: int) -> None:
        focused, zoomed = self._screen.focused, self.zoomed
        at = self._panes.index(focused) if focused in self._panes else 0
        pane = self._panes[(at + step) % len(self._panes)]
        self.unzoom()
        self._focus(pane)
        if zoomed:
            self.fill(pane)

    def _focus(self, pane: Widget) -> None:
        """Focus a pane at once: a key that was typed ahead is about the pane it leads to."""
        self._screen.set_focus(pane, scroll_visible=False)

    def back(self) -> bool:
        """Leave the zoom, else the pane, for the list. False where there is neither to leave."""
        if not self._zoomed and self._screen.focused is self._panes[0]:
            return False
        self.unzoom()
        self._focus(self._panes[0])
        return True
