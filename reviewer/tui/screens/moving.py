"""The move keys of a screen that consists of one pane of text."""

from __future__ import annotations

from reviewer.tui.widgets.text_pane import TextPane


class Moving:
    """Hands the registry's move actions on to a pane."""

    @property
    def pane(self) -> TextPane:
        """The pane that moves."""
        raise NotImplementedError

    def line_down(self) -> None:
        """One row down."""
        self.pane.scroll_line_down()

    def line_up(self) -> None:
        """One row up."""
        self.pane.scroll_line_up()

    def half_down(self) -> None:
        """Half a page down."""
        self.pane.scroll_half_down()

    def half_up(self) -> None:
        """Half a page up."""
        self.pane.scroll_half_up()

    def page_down(self) -> None:
        """A page down."""
        self.pane.page_down()

    def page_up(self) -> None:
        """A page up."""
        self.pane.page_up()

    def go_home(self) -> None:
        """To the first row."""
        self.pane.go_home()

    def go_end(self) -> None:
        """To the last row."""
        self.pane.go_end()
