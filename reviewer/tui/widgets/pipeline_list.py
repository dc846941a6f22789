"""The nodes and edges of a pipeline: only the lines in sight are drawn."""

from __future__ import annotations

from textual.strip import Strip

from reviewer.tui.kit.row_list import RowList
from reviewer.tui.screens.pipelines_model import NodeRow, PipelinesModel
from reviewer.tui.theme import Glyphs, Palette
from reviewer.tui.widgets.pipeline_row import edge_strip, node_strip


class PipelineList(RowList):
    """Draws a `PipelinesModel` and moves its cursor."""

    def __init__(self, model: PipelinesModel, *, id: str | None = None) -> None:  # noqa: A002
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
        """One node or edge."""
        row, here = self.model.rows[at], at == self.model.cursor
        if isinstance(row, NodeRow):
            return node_strip(
                row.node.name,
                row.node.handler,
                row.way,
                self.model.states.get(row.node.name),
                width,
                style,
                sign,
                reachable=row.reachable,
                here=here,
                focused=self.has_focus,
            )
        return edge_strip(
            row.way, width, style, sign, back=row.back, here=here, focused=self.has_focus
        )
