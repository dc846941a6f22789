"""Looking on the Packet screen: the source of an item, the clipboard, panes and zoom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widget import Widget

if TYPE_CHECKING:
    from reviewer.tui.screens.packet import PacketScreen


class PacketLooking:
    """What `o`, `y`, zoom, tab and escape do on a `PacketScreen`."""

    def __init__(self, screen: PacketScreen) -> None:
        self._screen = screen
        self._zoomed = ""

    def open_source(self) -> None:
        """Show the file at the line of the item; of a memory, its evidence."""
        from reviewer.tui.screens.places import line_of_file, open_place

        screen, item = self._screen, self._screen.model.item
        if item is None:
            return
        kind, _, number = item.place.rpartition(":")
        if screen.reading.folder is not None and screen.model.packet is not None:
            path = f"{screen.model.packet.source}/{kind}"
            open_place(screen, screen.engine, line_of_file(path, int(number) - 1))
            return
        evidence = screen.engine.queue.evidence(int(number)) if kind == "m" else []
        if evidence:
            open_place(screen, screen.engine, evidence[0])
        else:
            screen.say("This was written by hand: it has no source but its author.")

    def copy(self) -> None:
        """Copy the packet."""
        packet = self._screen.model.packet
        if packet is not None:
            self._screen.app.copy_to_clipboard(packet.markdown)
            self._screen.say(f"Copied the packet: {packet.tokens_used:,} tokens.")

    # panes

    @property
    def zoomed(self) -> bool:
        """Whether one pane fills the screen."""
        return bool(self._zoomed)

    def _panes(self) -> list[Widget]:
        screen = self._screen
        return [screen.list, screen.why, screen.text]

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
        """Leave one thing: the zoom, the pane, the filter, the comparison, the screen."""
        screen = self._screen
        if self._zoomed:
            self.unzoom()
            screen.list.focus(scroll_visible=False)
        elif screen.focused is not screen.list:
            screen.list.focus(scroll_visible=False)
        elif screen.model.filter:
            screen.filtering.clear()
        elif screen.model.kept is not None:
            screen.budgeting.compare()
        else:
            self.leave()

    def leave(self) -> None:
        """Back to the queue."""
        self._screen.dismiss()
