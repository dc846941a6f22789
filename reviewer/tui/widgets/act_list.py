"""The ledger as a list, newest first: only the rows in sight are read and drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rich.cells import set_cell_size
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from reviewer.engine import ActView
from reviewer.text.display import display_line
from reviewer.tui.theme import Glyphs, Palette, glyphs, palette
from reviewer.tui.widgets.line import Part, cells_of, line_of
from reviewer.tui.widgets.phrases import moment

PAGE = 200
"""Acts that are read at a time."""
PAGES_HELD = 20
WHEEL_LINES = 3
ACTOR_CELLS = 8

Read = Callable[[int, int], list[ActView]]
"""Acts older than an id, newest first, so many at most (`engine.history.acts`)."""


class ActList(ScrollView, can_focus=True):
    """Acts have the ids 1 to `total` without gaps; the row `n` is the act `total - n`."""

    DEFAULT_CSS = """
    ActList { height: 1fr; width: 1fr; overflow: hidden hidden; }
    """

    @dataclass
    class Moved(Message):
        """The cursor stands on another act now."""

        act: ActView | None

        def can_replace(self, message: Message) -> bool:
            """A later move makes an earlier one uninteresting."""
            return isinstance(message, ActList.Moved)

    class Opened(Message):
        """An act was double-clicked."""

    def __init__(self, read: Read, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._read = read
        self._pages: dict[int, list[ActView]] = {}
        self.total = 0
        self.cursor = 0
        self.empty: tuple[str, ...] = ()
        """What is said of a ledger without acts, a row each."""

    # what is shown

    def show_total(self, total: int) -> None:
        """The ledger has so many acts now; the cursor stays on its act, or on the newest."""
        act = self.total - self.cursor
        on_newest = self.cursor == 0
        self._pages.clear()
        self.total = total
        self.cursor = 0 if on_newest else max(0, min(total - act, total - 1))
        self.set_reactive(ScrollView.virtual_size, Size(self.size.width, total))
        self._keep_in_sight()
        self.refresh()
        self.post_message(self.Moved(self.current))

    def act_at(self, index: int) -> ActView | None:
        """The act in a row, read with its page."""
        if not 0 <= index < self.total:
            return None
        number, place = divmod(index, PAGE)
        if number not in self._pages:
            if len(self._pages) >= PAGES_HELD:
                self._pages.pop(next(iter(self._pages)))
            self._pages[number] = self._read(self.total - number * PAGE + 1, PAGE)
        page = self._pages[number]
        return page[place] if place < len(page) else None

    @property
    def current(self) -> ActView | None:
        """The act under the cursor."""
        return self.act_at(self.cursor)

    def render_line(self, y: int) -> Strip:
        """The row `y` of what is in sight."""
        style, signs = palette(self.app), glyphs(self.app)
        width, index = self.size.width, self.scroll_offset.y + y
        act = self.act_at(index)
        if act is None:
            words = self.empty[y - 1] if not self.total and 0 < y <= len(self.empty) else ""
            return line_of([("  " + words, style.dim)], width, style.text, signs.ellipsis)
        here = index == self.cursor
        parts = act_parts(act, width, style, signs, here=here, focused=self.has_focus)
        fill = style.text_here if here else style.text
        return line_of(parts, width, fill, signs.ellipsis)

    def restyle(self) -> None:
        """Draw again after a change of theme."""
        self.refresh()

    # moving

    def move_to(self, index: int) -> None:
        """Put the cursor on a row; scroll only when it is out of sight."""
        index = max(0, min(index, self.total - 1))
        before = self.cursor
        if index == before or not self.total:
            return
        self.cursor = index
        if self._keep_in_sight():
            self.refresh()
        else:
            self.refresh_lines(min(before, index), 1)
            self.refresh_lines(max(before, index), 1)
        self.post_message(self.Moved(self.current))

    def move_by(self, rows: int) -> None:
        """Move the cursor by so many rows."""
        self.move_to(self.cursor + rows)

    @property
    def page(self) -> int:
        """How many rows a page has."""
        return max(self.size.height - 1, 1)

    def _keep_in_sight(self) -> bool:
        height, top = max(self.size.height, 1), self.scroll_offset.y
        last = max(self.total - height, 0)
        wanted = min(max(top, self.cursor - height + 1), self.cursor, last)
        for position in (ScrollView.scroll_y, ScrollView.scroll_target_y):
            self.set_reactive(position, float(wanted))
        return wanted != top

    def on_resize(self) -> None:
        """Keep the cursor in sight at another size."""
        self.set_reactive(ScrollView.virtual_size, Size(self.size.width, self.total))
        self._keep_in_sight()
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """Go to the clicked act; a double click opens it."""
        index = self.scroll_offset.y + event.y
        if index < self.total:
            self.move_to(index)
            if event.chain == 2:
                self.post_message(self.Opened())

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """The wheel moves the cursor."""
        event.stop()
        self.move_by(WHEEL_LINES)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """The wheel moves the cursor."""
        event.stop()
        self.move_by(-WHEEL_LINES)


def act_parts(
    act: ActView, width: int, style: Palette, signs: Glyphs, *, here: bool, focused: bool
) -> list[Part]:
    """One row: bar, id, time, actor, title, and at the right the rows or that it was undone."""
    dim, text = (style.dim_here, style.text_here) if here else (style.dim, style.text)
    accent = style.accent_here if here else style.accent
    warm = style.warm_here if here else style.warm
    bar = signs.bar if here and focused else " "
    parts: list[Part] = [(f"{bar}", accent), (f"{act.id:>6} ", dim)]
    if width >= 44:
        parts.append((f"{moment(act.at)[5:]}  ", dim))
    if width >= 64:
        actor = display_line(act.actor)
        parts.append((f"{set_cell_size(actor, ACTOR_CELLS)} ", dim))
    undone = act.undone
    end = f" {signs.rejected} undone " if undone else f" {act.rows:,} "
    room = width - cells_of(parts) - len(end)
    title = display_line(act.title)
    shown = line_of([(title, dim if undone else text)], max(room, 0), text, signs.ellipsis)
    parts += [(segment.text, segment.style or text) for segment in shown]
    parts.append((end, warm if undone else dim))
    return parts
