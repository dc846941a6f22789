"""A list of actions in columns: key, name, what it does or why it does nothing now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from reviewer.tui.acting import Acting
from reviewer.tui.actions import Action
from reviewer.tui.theme import glyphs, palette
from reviewer.tui.widgets.line import cut, line_of

KEY_CELLS, TITLE_CELLS = 16, 18


@dataclass(frozen=True)
class HelpRow:
    """A heading, or an action with the node that runs it."""

    heading: str = ""
    action: Action | None = None
    node: Acting | None = None
    keys: str = ""
    reason: str | None = None


class HelpList(ScrollView, can_focus=True):
    """Draws rows and moves a cursor over those that are actions."""

    class Moved(Message):
        """The cursor stands on another row."""

    DEFAULT_CSS = "HelpList { height: 1fr; width: 1fr; overflow: hidden hidden; }"

    def __init__(self, rows: Sequence[HelpRow], *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.rows = list(rows)
        self.cursor = 1 if len(self.rows) > 1 else 0

    @property
    def current(self) -> HelpRow:
        """The row under the cursor."""
        return self.rows[self.cursor] if self.rows else HelpRow()

    @property
    def page(self) -> int:
        """How many rows a page has."""
        return max(self.size.height - 1, 1)

    def on_resize(self) -> None:
        """Keep the cursor in sight at another size."""
        self.virtual_size = Size(self.size.width, len(self.rows))
        self._keep_in_sight()

    def move_by(self, rows: int) -> None:
        """Move the cursor by so many rows, over headings."""
        self.move_to(self.cursor + rows)

    def move_to(self, index: int) -> None:
        """Move the cursor; from a heading on to the next action in the same direction."""
        step = 1 if index >= self.cursor else -1
        at = max(0, min(index, len(self.rows) - 1))
        while 0 <= at < len(self.rows) and self.rows[at].action is None:
            at += step
        if not 0 <= at < len(self.rows):
            at = self.cursor
        self.cursor = at
        self._keep_in_sight()
        self.refresh()
        self.post_message(self.Moved())

    def _keep_in_sight(self) -> None:
        height, top = max(self.size.height, 1), self.scroll_offset.y
        above = (
            self.cursor - 1 if self.cursor and self.rows[self.cursor - 1].heading else self.cursor
        )
        wanted = min(max(top, self.cursor - height + 1), above)
        if wanted != top:
            self.scroll_to(y=wanted, animate=False, immediate=True)

    def render_line(self, y: int) -> Strip:
        """One row of the list."""
        style, sign = palette(self.app), glyphs(self.app)
        width, at = self.size.width, self.scroll_offset.y + y
        if at >= len(self.rows):
            return line_of([], width, style.text, sign.ellipsis)
        row = self.rows[at]
        if row.action is None:
            return line_of([(" " + row.heading, style.strong)], width, style.text, sign.ellipsis)
        here = at == self.cursor
        text = style.text_here if here else style.text
        dim = style.dim_here if here else style.dim
        key = style.accent_here if here else style.accent
        keys = cut(row.keys or "palette", KEY_CELLS - 2, sign.ellipsis).ljust(KEY_CELLS)
        parts = [
            (sign.bar if here else " ", key),
            ("  " + keys, dim if row.reason else key),
            (
                cut(row.action.title, TITLE_CELLS - 2, sign.ellipsis).ljust(TITLE_CELLS),
                dim if row.reason else text,
            ),
            (row.reason or row.action.help, dim),
        ]
        return line_of(parts, width, text, sign.ellipsis)
