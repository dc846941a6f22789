"""How a pane of text scrolls: at once, without animation."""

from __future__ import annotations

from textual.scroll_view import ScrollView


class Scrolling(ScrollView):
    """What the registry's scroll actions run."""

    @property
    def room(self) -> int:
        """Rows in sight that scroll."""
        return self.size.height

    def scroll_rows(self, rows: int) -> None:
        """Scroll by so many rows at once, without animation."""
        self.scroll_to(y=self.scroll_offset.y + rows, animate=False)

    def scroll_line_down(self) -> None:
        """One row down."""
        self.scroll_rows(1)

    def scroll_line_up(self) -> None:
        """One row up."""
        self.scroll_rows(-1)

    def scroll_half_down(self) -> None:
        """Half of the pane's height down."""
        self.scroll_rows(max(self.room // 2, 1))

    def scroll_half_up(self) -> None:
        """Half of the pane's height up."""
        self.scroll_rows(-max(self.room // 2, 1))

    def page_down(self) -> None:
        """The pane's height down, one row kept."""
        self.scroll_rows(max(self.room - 1, 1))

    def page_up(self) -> None:
        """The pane's height up, one row kept."""
        self.scroll_rows(-max(self.room - 1, 1))

    def go_home(self) -> None:
        """To the first row."""
        self.scroll_to(y=0, animate=False)

    def go_end(self) -> None:
        """To the last row."""
        self.scroll_to(y=self.max_scroll_y, animate=False)
