"""Looking on the Compress screen: markers, panes and zoom, all levels, the clipboard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widget import Widget

from reviewer.tui.bulk import stopped

if TYPE_CHECKING:
    from reviewer.tui.screens.compress import CompressScreen


class CompressLooking:
    """What enter, `n`, `N`, `a`, `y`, zoom, tab and escape do on a `CompressScreen`."""

    def __init__(self, screen: CompressScreen) -> None:
        self._screen = screen
        self._zoomed = ""

    def enter(self) -> None:
        """On what is lost show it in the original; else expand the marker, or collapse it."""
        screen = self._screen
        if screen.focused is screen.lost:
            self._show_place()
        elif screen.unfolding.folds():
            screen.unfolding.toggle()
        else:
            screen.say("This summary has nothing to expand: 2 and 3 have markers.")

    def _show_place(self) -> None:
        """Show what is lost in the original, and go there."""
        screen = self._screen
        row = screen.lost.current
        if row is None:
            return
        screen.showing.place = row
        self._focus(screen.original)
        screen.showing.draw()

    def next_marker(self) -> None:
        """Go to the next marker."""
        self._focus(self._screen.summary)
        self._screen.unfolding.step(1)

    def previous_marker(self) -> None:
        """Go to the marker before."""
        self._focus(self._screen.summary)
        self._screen.unfolding.step(-1)

    async def all_levels(self) -> None:
        """The four levels side by side, or one again."""
        screen = self._screen
        if screen.has_class("all-levels"):
            self._one_level()
        elif screen.size.width < screen.columns.LEAST:
            screen.say(f"All levels side by side need {screen.columns.LEAST} columns: 1-4 switch.")
        else:
            self.unzoom()
            await screen.columns.make()
            screen.add_class("all-levels")
            choice = screen.model.choice
            self._focus(screen.columns.panes[choice.level if choice is not None else 0])
            screen.columns.draw()

    def _one_level(self) -> None:
        self._screen.remove_class("all-levels")
        self._focus(self._screen.list)

    def copy(self) -> None:
        """Copy the summary to the clipboard."""
        screen, model = self._screen, self._screen.model
        found = model.shown(model.choice) if model.choice is not None else None
        if found is None:
            screen.say("The preview is still being written: once more.")
            return
        content = found.compressed.content
        screen.app.copy_to_clipboard(content)
        screen.say(f"Copied {found.segment.id} ({len(content):,} characters).")

    # panes

    @property
    def zoomed(self) -> bool:
        """Whether one pane fills the screen."""
        return bool(self._zoomed)

    def _panes(self) -> list[Widget]:
        screen = self._screen
        if screen.has_class("all-levels"):
            return list(screen.columns.panes)
        return [screen.list, screen.original, screen.summary, screen.lost, screen.checks]

    def zoom(self) -> None:
        """Fill the screen with the focused pane."""
        focused = self._screen.focused
        if self._screen.has_class("all-levels"):
            self._one_level()
            focused = self._screen.summary
        self._zoom(focused if focused in self._panes() else self._screen.list)

    def _zoom(self, pane: Widget | None) -> None:
        self.unzoom()
        if pane is not None:
            self._zoomed = f"zoom-{pane.id}"
            self._screen.add_class(self._zoomed)
            self._focus(pane)

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
        screen, panes = self._screen, self._panes()
        at = panes.index(screen.focused) if screen.focused in panes else 0
        pane, zoomed = panes[(at + step) % len(panes)], self.zoomed
        self.unzoom()
        self._focus(pane)
        if pane is screen.summary and screen.unfolding.folds() and not screen.unfolding.chosen:
            screen.unfolding.step(1)
        if zoomed:
            screen.call_after_refresh(lambda: self._zoom(pane))

    def _focus(self, pane: Widget) -> None:
        """Focus a pane; where panes are stacked the original stands in the summary's place."""
        screen = self._screen
        screen.set_class(pane is screen.original, "at-original")
        screen.set_focus(pane, scroll_visible=False)

        def again() -> None:
            """What was not displayed yet could not take the focus, or lost it."""
            if screen.focused is None:
                screen.set_focus(pane, scroll_visible=False)

        screen.call_after_refresh(again)

    def back(self) -> None:
        """Leave one thing: what is being written, the zoom, all levels, the pane, the screen."""
        screen = self._screen
        if stopped(screen):
            return
        if screen.writing.running:
            screen.writing.stop()
        elif screen.applying.running:
            screen.applying.stop()
        elif screen.fitting.running:
            screen.fitting.stop()
        elif self._zoomed:
            self.unzoom()
            self._focus(screen.list)
        elif screen.has_class("all-levels"):
            self._one_level()
        elif screen.focused is not screen.list:
            self._focus(screen.list)
        else:
            self.leave()

    def leave(self) -> None:
        """Back to the queue."""
        self._screen.dismiss()
