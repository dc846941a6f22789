"""The commits of a context: only the lines in sight are read and drawn."""

from __future__ import annotations

from collections.abc import Collection

from textual.strip import Strip

from reviewer.tui.commits_model import CommitsModel
from reviewer.tui.kit.row_list import RowList
from reviewer.tui.theme import Glyphs, Palette
from reviewer.tui.widgets.commit_row import commit_strip


class CommitList(RowList):
    """Draws a `CommitsModel` and moves its cursor."""

    def __init__(self, model: CommitsModel, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.model = model
        self.last_number = 0
        """The highest number in the list: it says how wide the column is."""

    @property
    def total(self) -> int:
        """How many commits the list has."""
        return len(self.model.ids)

    @property
    def cursor(self) -> int:
        """The row under the cursor."""
        return self.model.cursor

    def put_cursor(self, index: int) -> None:
        """Put the cursor on a row that exists."""
        self.model.cursor = index

    def read_window(self, start: int, stop: int) -> None:
        """Read the rows of a window at once."""
        self.model.window(start, stop)

    def redraw_commits(self, ids: Collection[int]) -> None:
        """Draw those commits again that are in sight."""
        top = self.scroll_offset.y
        for at in range(top, min(top + self.height, self.total)):
            if self.model.ids[at] in ids:
                self.refresh_line(at)

    @property
    def moves_redraw_all(self) -> bool:
        """A range that is being drawn changes with the cursor."""
        return self.model.range_from is not None

    def row_strip(self, at: int, width: int, style: Palette, sign: Glyphs) -> Strip:
        """One commit."""
        model = self.model
        return commit_strip(
            model.row(at),
            width,
            style,
            sign,
            here=at == model.cursor,
            focused=self.has_focus,
            marked=model.is_marked(at),
            digits=len(str(self.last_number)),
        )
