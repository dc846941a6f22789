"""The segments of a context: only the lines in sight are drawn."""

from __future__ import annotations

from textual.strip import Strip

from reviewer.tui.compress_model import CompressModel
from reviewer.tui.kit.line import line_of
from reviewer.tui.kit.row_list import RowList
from reviewer.tui.theme import Glyphs, Palette
from reviewer.tui.widgets.compress_row import segment_strip, state_sign


class SegmentList(RowList):
    """Draws a `CompressModel` and moves its cursor."""

    def __init__(self, model: CompressModel, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.model = model
        self.drafts: frozenset[int] = frozenset()
        """First commits of the segments that have a draft."""

    @property
    def total(self) -> int:
        """How many segments there are."""
        return len(self.model.segments) if self.model.plan is not None else 0

    @property
    def cursor(self) -> int:
        """The row under the cursor."""
        return self.model.cursor

    def put_cursor(self, index: int) -> None:
        """Put the cursor on a row that exists."""
        self.model.cursor = index

    def read_window(self, start: int, stop: int) -> None:
        """The rows are there already."""

    def row_strip(self, at: int, width: int, style: Palette, sign: Glyphs) -> Strip:
        """One segment."""
        model = self.model
        if model.plan is None:
            return line_of([], width, style.text, sign.ellipsis)
        segment, choice = model.segments[at], model.plan.choices[at]
        first = choice.sources[0] if choice.sources else 0
        state = state_sign(
            trouble=bool(model.trouble(choice)),
            hand=model.writer(choice) == "by hand",
            draft=first in self.drafts,
            waits=model.waits(choice),
            sign=sign,
        )
        return segment_strip(
            segment,
            choice,
            model.size(choice),
            state,
            width,
            style,
            sign,
            digits=len(model.segments[-1].id) - 1,
            here=at == model.cursor,
            focused=self.has_focus,
        )
