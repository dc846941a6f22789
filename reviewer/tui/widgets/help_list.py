"""A list of actions in columns: key, name, what it does or why it does nothing now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from reviewer.tui.acting import Acting
from reviewer.tui.actions import Action
from reviewer.tui.theme import glyphs, palette
from reviewer.tui.widgets.bars import StatusBar
from reviewer.tui.widgets.line import cut, line_of
from reviewer.tui.widgets.text_layout import wrap

KEY_CELLS = 16
WHEEL_LINES = 3


@dataclass(frozen=True)
class HelpRow:
    """A heading, or an action with the node that runs it."""

    heading: str = ""
    action: Action | None = None
    node: Acting | None = None
    keys: str = ""
    reason: str | None = None

    @property
    def title(self) -> str:
        """What the action is called as things stand."""
        if self.action is None or self.node is None:
            return self.heading
        return self.action.titled(self.node.situation())

    @property
    def explanation(self) -> str:
        """Why the action does nothing now, or what it does."""
        return self.reason or (self.action.help if self.action else "")


class HelpList(ScrollView, can_focus=True, inherit_bindings=False):
    """Draws rows and moves a cursor over those that are actions."""

    class Moved(Message):
        """The cursor stands on another row."""

    DEFAULT_CSS = "HelpList { height: 1fr; width: 1fr; overflow: hidden hidden; }"

    def __init__(self, rows: Sequence[HelpRow], *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.rows = list(rows)
        self._titles = [row.title for row in rows]
        self._title_cells = max((len(each) + 2 for each in self._titles), default=0)
        self.cursor = 1 if len(self.rows) > 1 else 0

    @property
    def current(self) -> HelpRow:
        """The row under the cursor."""
        return self.rows[self.cursor] if self.rows else HelpRow()

    @property
    def page(self) -> int:
        """How many rows a page has."""
        return max(self.size.height - 1, 1)

    @property
    def allow_vertical_scroll(self) -> bool:
        """Whether there is more than fits: Textual itself asks for a scrollbar, which is hidden."""
        return self.max_scroll_y > 0

    def on_resize(self) -> None:
        """Keep the cursor in sight at another size."""
        self.set_reactive(ScrollView.virtual_size, Size(self.size.width, len(self.rows)))
        self._keep_in_sight()
        self.refresh()

    def move_by(self, rows: int) -> None:
        """Move the cursor by so many rows, over headings."""
        self.move_to(self.cursor + rows)

    def move_to(self, index: int) -> None:
        """Move the cursor; from a heading on to the next action in the same direction."""
        step = 1 if index >= self.cursor else -1
        wanted = max(0, min(index, len(self.rows) - 1))
        onward = range(wanted, len(self.rows)) if step > 0 else range(wanted, -1, -1)
        back = range(wanted, -1, -1) if step > 0 else range(wanted, len(self.rows))
        self.cursor = next(
            (at for at in (*onward, *back) if self.rows[at].action is not None), self.cursor
        )
        self._keep_in_sight()
        self.refresh()
        self.post_message(self.Moved())

    def _keep_in_sight(self) -> None:
        height, top = max(self.size.height, 1), self.scroll_offset.y
        above = (
            self.cursor - 1 if self.cursor and self.rows[self.cursor - 1].heading else self.cursor
        )
        last = max(len(self.rows) - height, 0)
        wanted = min(max(top, self.cursor - height + 1), above, last)
        for position in (ScrollView.scroll_y, ScrollView.scroll_target_y):
            self.set_reactive(position, float(wanted))

    def on_click(self, event: events.Click) -> None:
        """Go to the clicked action."""
        at = self.scroll_offset.y + event.y
        if at < len(self.rows) and self.rows[at].action is not None:
            self.move_to(at)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """The wheel moves the cursor."""
        event.stop()
        self.move_by(WHEEL_LINES)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """The wheel moves the cursor."""
        event.stop()
        self.move_by(-WHEEL_LINES)

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
                self._titles[at].ljust(self._title_cells),
                dim if row.reason else text,
            ),
            (row.reason or row.action.help, dim),
        ]
        return line_of(parts, width, text, sign.ellipsis)


class Explanation(StatusBar):
    """The whole sentence about the row under the cursor, on as many lines as the longest needs."""

    def __init__(self, rows: Sequence[HelpRow], *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._sentences = [row.explanation for row in rows]
        self._fitted = 0

    def _fit(self) -> None:
        """Make room for the longest sentence, so that the list above does not jump."""
        width = max(self.size.width - 2, 8)
        if width != self._fitted:
            self._fitted = width
            lines = (len(wrap(each, width)) for each in self._sentences)
            self.styles.height = max(lines, default=1)

    def render_line(self, y: int) -> Strip:
        """One line of the sentence."""
        style, sign = palette(self.app), glyphs(self.app)
        ranges = wrap(self.text, max(self.size.width - 2, 8))
        words = self.text[slice(*ranges[y])] if y < len(ranges) else ""
        return line_of([(f" {words}", style.text)], self.size.width, style.text, sign.ellipsis)
