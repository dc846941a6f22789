"""The move keys of a screen, handed on to its pane of text or its list."""

from __future__ import annotations

import sys
from typing import Protocol

from reviewer.tui.kit.text_pane import TextPane


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


class Listed(Protocol):
    """A list with a cursor."""

    @property
    def page(self) -> int:
        """How many rows a page has."""
        ...

    def move_by(self, rows: int) -> None:
        """Move the cursor by so many rows."""
        ...

    def move_to(self, index: int) -> None:
        """Put the cursor on a row; beyond the ends it goes to the end."""
        ...


class ListMoving:
    """Hands the registry's move actions on to a list, whatever pane has the focus."""

    @property
    def moved_list(self) -> Listed:
        """The list that moves."""
        raise NotImplementedError

    def line_down(self) -> None:
        """One row down."""
        self.moved_list.move_by(1)

    def line_up(self) -> None:
        """One row up."""
        self.moved_list.move_by(-1)

    def half_down(self) -> None:
        """Half a page down."""
        self.moved_list.move_by(max(self.moved_list.page // 2, 1))

    def half_up(self) -> None:
        """Half a page up."""
        self.moved_list.move_by(-max(self.moved_list.page // 2, 1))

    def page_down(self) -> None:
        """A page down."""
        self.moved_list.move_by(self.moved_list.page)

    def page_up(self) -> None:
        """A page up."""
        self.moved_list.move_by(-self.moved_list.page)

    def go_home(self) -> None:
        """To the first row."""
        self.moved_list.move_to(0)

    def go_end(self) -> None:
        """To the last row."""
        self.moved_list.move_to(sys.maxsize)
