"""What a level drops, heaviest first; what people pinned in the segment stands below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.strip import Strip

from reviewer.text.display import display_line
from reviewer.tui.kit.line import Part, cut, line_of
from reviewer.tui.kit.row_list import RowList
from reviewer.tui.theme import Glyphs, Palette

if TYPE_CHECKING:
    from reviewer.compressing import SegmentPreview

LONGEST = 200
"""Characters of a lost piece that are drawn."""
WITH_KIND = 34


@dataclass(frozen=True)
class LostRow:
    """A piece of the source, at `turn`, `start:end` of it."""

    text: str
    kind: str
    times: int
    turn: int
    start: int
    end: int
    new: bool = True
    """The level closer to Full still has it."""
    pinned: bool = False
    """It is not lost: a person pinned it."""


def lost_rows(preview: SegmentPreview, new: frozenset[str]) -> list[LostRow]:
    """What a preview lost, then what is pinned in it."""
    rows = [
        LostRow(each.text, each.kind, each.times, each.turn, each.start, each.end, each.text in new)
        for each in preview.fidelity.lost_information
    ]
    missing = set(preview.compressed.anchors_missing)
    rows += [
        LostRow(each.content, "pinned", 1, each.turn, each.start, each.end, pinned=True)
        for each in preview.compressed.anchors
        if each.source == "pinned" and each not in missing
    ]
    return rows


class LostList(RowList):
    """Rows of what is lost, with a cursor."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.rows: Sequence[LostRow] = ()
        self._cursor = 0

    def show(self, rows: Sequence[LostRow], *, keep: bool) -> None:
        """Show other rows, the cursor on the first, or where it is with `keep`."""
        self.rows = rows
        self._cursor = max(0, min(self._cursor if keep else 0, len(rows) - 1))
        self.rows_changed()

    @property
    def current(self) -> LostRow | None:
        """The row under the cursor."""
        return self.rows[self._cursor] if self._cursor < len(self.rows) else None

    @property
    def total(self) -> int:
        """How many there are."""
        return len(self.rows)

    @property
    def cursor(self) -> int:
        """The row under the cursor."""
        return self._cursor

    def put_cursor(self, index: int) -> None:
        """Put the cursor on a row that exists."""
        self._cursor = index

    def read_window(self, start: int, stop: int) -> None:
        """The rows are there already."""

    def row_strip(self, at: int, width: int, style: Palette, sign: Glyphs) -> Strip:
        """`− VendorClient.list_all  ×7 identifier`; `·` was lost at the level above already."""
        row, here = self.rows[at], at == self._cursor
        text = style.text_here if here else style.text
        dim = style.dim_here if here else style.dim
        warm = style.warm_here if here else style.warm
        accent = style.accent_here if here else style.accent
        mark: Part = (sign.minus, warm) if row.new else (sign.dot, dim)
        if row.pinned:
            mark = (sign.pinned, accent)
        times = f" {sign.times}{row.times:,}" if row.times > 1 else ""
        kind = f" {row.kind} " if width >= WITH_KIND else " "
        bar: Part = (sign.bar if here else " ", accent if self.has_focus else dim)
        room = width - 3 - len(times) - len(kind)
        words = cut(display_line(row.text[:LONGEST]), max(room, 0), sign.ellipsis)
        style_of = style.strong_here if here else text if row.new or row.pinned else dim
        left = line_of(
            [bar, mark, (" ", text), (words, style_of), (times, warm)],
            width - len(kind),
            text,
            sign.ellipsis,
        )
        return Strip([*left, *line_of([(kind, dim)], len(kind), text, sign.ellipsis)], width)
