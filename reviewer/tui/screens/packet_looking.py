"""Looking on the Packet screen: the source of an item, sections, the clipboard, the way back."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reviewer.tui.screens.packet import PacketScreen


class PacketLooking:
    """What `o`, `n`, `N`, `y` and escape do on a `PacketScreen`."""

    def __init__(self, screen: PacketScreen) -> None:
        self._screen = screen

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

    def next_section(self) -> None:
        """To the next section."""
        self._to_section(1)

    def previous_section(self) -> None:
        """To the section before."""
        self._to_section(-1)

    def _to_section(self, step: int) -> None:
        index = self._screen.model.next_section(step)
        if index is not None:
            self._screen.list.move_to(index)

    def back(self) -> None:
        """Leave one thing: the zoom, the pane, the filter, the comparison, the screen."""
        screen = self._screen
        if screen.panes.back():
            return
        if screen.model.filter:
            screen.filtering.clear()
        elif screen.model.kept is not None:
            screen.budgeting.compare()
        else:
            self.leave()

    def leave(self) -> None:
        """Back to the queue."""
        self._screen.dismiss()
