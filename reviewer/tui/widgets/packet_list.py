"""Items of a packet by section: state, score, tokens, title; only the lines in sight are drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.strip import Strip

from reviewer.text.display import display_line
from reviewer.tui.kit.line import Part, cells_of, line_of
from reviewer.tui.kit.row_list import RowList
from reviewer.tui.screens.packet_model import STATES, ItemRow, PacketModel, SectionRow
from reviewer.tui.theme import Glyphs, Palette

if TYPE_CHECKING:
    from reviewer.storeless import PacketItem

WORDS = {"full": "full ", "short": "short", "title": "title", "dropped": "drop "}
ROOMY = 46


class PacketList(RowList):
    """Draws a `PacketModel` and moves its cursor."""

    def __init__(self, model: PacketModel, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.model = model

    @property
    def total(self) -> int:
        """How many rows there are."""
        return len(self.model.rows)

    @property
    def cursor(self) -> int:
        """The row under the cursor."""
        return self.model.cursor

    def put_cursor(self, index: int) -> None:
        """Put the cursor on a row that exists."""
        self.model.cursor = index

    def read_window(self, start: int, stop: int) -> None:
        """All rows are there already."""

    def row_strip(self, at: int, width: int, style: Palette, sign: Glyphs) -> Strip:
        """One heading or item."""
        row, here = self.model.rows[at], at == self.model.cursor
        bar = sign.bar if here and self.has_focus else " "
        accent = style.accent_here if here else style.accent
        fill = style.text_here if here else style.text
        parts: list[Part] = [(bar, accent)]
        if isinstance(row, SectionRow):
            parts += self._heading(row, style, sign, here=here)
        else:
            parts += self._item(row, width, style, sign, here=here)
        return line_of(parts, width, fill, sign.ellipsis)

    def _heading(self, row: SectionRow, style: Palette, sign: Glyphs, *, here: bool) -> list[Part]:
        dim, strong = (style.dim_here, style.strong_here) if here else (style.dim, style.strong)
        words = [
            f"{number:,} {word.strip()}"
            for number, word in zip(row.counts, WORDS.values(), strict=True)
            if number
        ]
        return [(row.name.capitalize(), strong), (f" {sign.dot} {', '.join(words)}", dim)]

    def _item(
        self, row: ItemRow, width: int, style: Palette, sign: Glyphs, *, here: bool
    ) -> list[Part]:
        item = row.item
        text, dim = (style.text_here, style.dim_here) if here else (style.text, style.dim)
        accent, warm = (style.accent_here, style.warm_here) if here else (style.accent, style.warm)
        chosen = " "
        if item.id in self.model.pinned:
            chosen = sign.pinned
        elif item.id in self.model.muted:
            chosen = sign.skip
        parts: list[Part] = [(chosen, warm)]
        if row.before is not None and row.before.state != item.state:
            parts += [
                (f"{state_sign(row.before, sign)}{WORDS[row.before.state]}", dim),
                (">" if sign.rule == "-" else "→", accent),
                (f"{state_sign(item, sign)}{WORDS[item.state]} ", accent),
            ]
        else:
            how = {"full": accent, "dropped": warm}.get(str(item.state), text)
            parts.append((f"{state_sign(item, sign)} {WORDS[item.state]} ", how))
            if width >= ROOMY:
                score = "    " if item.score is None else f"{item.score.total:.2f}"
                parts.append((f"{score} ", dim))
        if width >= ROOMY:
            needs = item.full_tokens if item.state == "dropped" else item.tokens
            parts.append((f"{needs or 0:>5,} ", dim))
        shown = dim if item.state == "dropped" else text
        room = width - cells_of(parts) - 2
        title = line_of([(display_line(item.title), shown)], max(room, 4), shown, sign.ellipsis)
        return [*parts, *((segment.text, segment.style or shown) for segment in title)]


def state_sign(item: PacketItem, sign: Glyphs) -> str:
    """The sign of how much of an item is shown."""
    signs = (sign.shades[0], sign.shades[1], sign.shades[3], sign.rejected)
    return signs[STATES.index(str(item.state))]
