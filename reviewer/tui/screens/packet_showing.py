"""Drawing on the Packet screen: the lines above, the list and why, the packet itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.timer import Timer

from reviewer.text.display import display_line
from reviewer.tui.kit.text import Block, count
from reviewer.tui.resting import Resting
from reviewer.tui.theme import glyphs
from reviewer.tui.widgets.packet_budget import AboutWords
from reviewer.tui.widgets.packet_text import compare_blocks, packet_blocks, row_of, why_blocks

if TYPE_CHECKING:
    from reviewer.storeless import Packet
    from reviewer.tui.screens.packet import PacketScreen

FOLLOW_SECONDS = 0.02
"""The packet follows the budget after so long, so that a held key costs no frame of it."""


class PacketShowing:
    """Draws what a `PacketScreen` has read."""

    def __init__(self, screen: PacketScreen) -> None:
        self._screen = screen
        self._model = screen.model
        self._follow: Timer | None = None
        self._blocks: list[Block] = []
        self._resting = Resting(screen, self._draw_item)

    def show_packet(self, packet: Packet) -> None:
        """Show a packet."""
        self._model.show(packet)
        self.draw_all()

    def show_nothing(self) -> None:
        """The source cannot be read."""
        self._model.forget()
        self.draw_all()

    def draw_all(self) -> None:
        """Draw what stands above and the list at once, the packet right after."""
        self.draw_above()
        self.draw_list()
        if self._follow is None:
            self._follow = self._screen.set_timer(FOLLOW_SECONDS, self._draw_text)

    def draw_above(self) -> None:
        """Draw the budget, the task, the date and the source."""
        screen, reading, packet = self._screen, self._screen.reading, self._model.packet
        screen.budget_line.show(reading.budget)
        problems = len(packet.problems) if packet else 0
        moment = packet.as_of if packet else None
        screen.about_line.show(
            AboutWords(
                reading.task,
                f"{moment:%Y-%m-%d}" if moment else "today",
                display_line(reading.source_words),
                count(problems, "problem") if problems else "",
            )
        )

    def draw_list(self) -> None:
        """Draw the sections, the list and why its row is as it is."""
        screen, model = self._screen, self._model
        screen.list.empty = self._empty()
        screen.bars.refresh()
        pair = model.smaller_larger
        arrow = "->" if glyphs(screen.app).rule == "-" else "→"
        compared = f"{pair[0].budget:,} {arrow} {pair[1].budget:,}" if pair else ""
        screen.bars_rule.show("Sections", compared or "used of at most")
        shown = f"{model.shown:,} shown" if model.filter else ""
        screen.list_rule.show("Items", shown or compared, focused=screen.list.has_focus)
        screen.set_class(not model.rows and not model.filter, "-empty")
        screen.list.rows_changed()
        self._draw_why()

    def _empty(self) -> tuple[str, ...]:
        """What the list says where it has nothing to show."""
        reading = self._screen.reading
        if not reading.was_read:
            return ("Reading ...",)
        if reading.trouble:
            return (reading.trouble, "O opens another folder, S goes to the other source.")
        if self._model.filter:
            return ("No item has these words.", "escape clears the filter.")
        if reading.folder is not None:
            return ("This folder says nothing yet.", "R reads it again, S goes to the store.")
        near = "S reads the .context folder here" if reading.near else "O opens a .context folder"
        return ("Nothing is active or trusted yet.", f"Promote candidates (F2), or {near}.")

    def cursor_moved(self) -> None:
        """The panes follow the cursor, while it runs when it rests."""
        self._resting.moved()

    def _draw_item(self) -> None:
        """What stands beside the list about the item under the cursor."""
        self._screen.bars.follow()
        self._draw_why()
        self._scroll_text()

    def _draw_why(self) -> None:
        title, blocks = why_blocks(self._model, glyphs(self._screen.app))
        self._screen.why.show(blocks, title=title)

    def _draw_text(self) -> None:
        """The packet, or what the larger of two budgets buys."""
        self._follow = None
        pane, packet, pair = self._screen.text, self._model.packet, self._model.smaller_larger
        if packet is None:
            pane.show([], title="Packet")
        elif pair is not None:
            self._blocks = []
            title = f"What {pair[1].budget - pair[0].budget:,} more tokens buy"
            pane.show(compare_blocks(*pair, glyphs(self._screen.app)), title=title)
        else:
            self._blocks = packet_blocks(packet.markdown)
            self._scroll_text()

    def _scroll_text(self) -> None:
        """The packet, from the item under the cursor on where it stands in it."""
        packet, item = self._model.packet, self._model.item
        if packet is None or not self._blocks:
            return
        place = row_of(self._blocks, item) if item is not None else None
        self._screen.text.show(
            self._blocks,
            title=f"Packet {glyphs(self._screen.app).dot} {packet.tokens_used:,} tokens",
            hints=("y copy  W write", "y copy"),
            top=None if place is None else max(place - 1, 0),
            keep_scroll=True,
        )
