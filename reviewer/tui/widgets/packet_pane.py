"""The packet as text. Lines that were laid out for another budget are not laid out again."""

from __future__ import annotations

from textual.geometry import Size
from textual.scroll_view import ScrollView

from reviewer.tui.kit.text import Block, Line, lay_out
from reviewer.tui.kit.text_pane import HEADER_ROWS, TextPane
from reviewer.tui.theme import glyphs

MOST_KEPT = 20_000
"""Lines that are kept laid out."""


class PacketPane(TextPane):
    """A pane of text whose blocks mostly stay when it is shown again."""

    def __init__(self, *, title: str = "", id: str | None = None) -> None:  # noqa: A002
        super().__init__(title=title, id=id)
        self._laid_out: dict[Block, tuple[Line, ...]] = {}
        self._laid_out_for = (0, "")

    def _arrange(self) -> None:
        width, ellipsis = self.size.width - 1, glyphs(self.app).ellipsis
        if width <= 0:
            return
        if self._laid_out_for != (width, ellipsis) or len(self._laid_out) > MOST_KEPT:
            self._laid_out_for = (width, ellipsis)
            self._laid_out.clear()
        lines: list[Line] = []
        for index, block in enumerate(self._blocks):
            laid_out = self._laid_out.get(block)
            if laid_out is None:
                laid_out = self._laid_out[block] = lay_out([block], width, ellipsis)
            lines += [Line(line.runs, index, line.marked) for line in laid_out]
        self._lines = tuple(lines)
        self.set_reactive(ScrollView.virtual_size, Size(self.size.width, len(lines) + HEADER_ROWS))
