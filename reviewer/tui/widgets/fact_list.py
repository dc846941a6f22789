"""What holds, in groups: only the rows in sight are read and drawn (Textual's Line API)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from reviewer.engine import QueueRow
from reviewer.text.display import display_line
from reviewer.tui.kit.line import Part, cells_of, cut, line_of
from reviewer.tui.state_model import Head, StateModel
from reviewer.tui.theme import Glyphs, Palette, glyphs, palette
from reviewer.tui.widgets.candidate_row import sign_of

if TYPE_CHECKING:
    from reviewer.engine import StateView

WHEEL_LINES = 3
FOOT_LINES = 1
KEY_CELLS = 24


class FactList(ScrollView, can_focus=True):
    """Draws a `StateModel` and moves its cursor; the cursor passes over the heads of groups."""

    DEFAULT_CSS = "FactList { height: 1fr; width: 1fr; overflow: hidden hidden; }"

    class Moved(Message):
        """The cursor stands on another row now."""

        def can_replace(self, message: Message) -> bool:
            """A later move makes an earlier one uninteresting."""
            return isinstance(message, FactList.Moved)

    class Opened(Message):
        """A row was double-clicked."""

    def __init__(self, model: StateModel, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.model = model
        self.locked = False
        """The cursor stays where it is: something is being written beside it."""
        self.empty: tuple[str, ...] = ()
        """What is said when nothing is there, a row each."""
        self.remark = ""
        """What the last line says after the place of the cursor."""

    # drawing

    def render_line(self, y: int) -> Strip:
        """The line `y` of what is in sight."""
        style, sign = palette(self.app), glyphs(self.app)
        width = self.size.width
        if y >= self.height:
            return line_of([(self._place(sign), style.dim)], width, style.text, sign.ellipsis)
        at = self.scroll_offset.y + y
        model = self.model
        if at >= model.total:
            words = self.empty[y - 1] if not model.total and 0 < y <= len(self.empty) else ""
            how = style.text if y == 1 else style.dim
            return line_of([("  " + words, how)], width, style.text, sign.ellipsis)
        row = model.row(at)
        if isinstance(row, Head):
            return head_strip(row, width, style, sign)
        here = at == model.cursor
        return fact_strip(row, width, style, sign, here=here, focused=self.has_focus)

    def render_lines(self, crop: object) -> list[Strip]:
        """Read the rows in sight at once before they are drawn one by one."""
        top = self.scroll_offset.y
        self.model.window(top, top + self.height)
        return super().render_lines(crop)  # type: ignore[arg-type]

    def restyle(self) -> None:
        """Draw again after a change of theme."""
        self.refresh()

    def model_changed(self) -> None:
        """Other rows: measure and draw everything again."""
        height = self.model.total + FOOT_LINES
        self.set_reactive(ScrollView.virtual_size, Size(self.size.width, height))
        self._keep_in_sight()
        self.refresh()

    def _place(self, sign: Glyphs) -> str:
        here, total = self.model.place
        place = f"{here:,} of {total:,}" if total else ""
        return " " + f" {sign.dot} ".join(part for part in (place, self.remark) if part)

    # moving

    def move_to(self, index: int) -> None:
        """Put the cursor on a row, past a head; scroll only if it is out of sight."""
        model, before = self.model, self.model.cursor
        found = model.nearest(index, 1 if index >= before else -1)
        if found is None or found == before or self.locked:
            if before <= 1 and index < before and self._show_top():
                self.refresh()
            return
        model.cursor = found
        if self._keep_in_sight():
            self.refresh()
        else:
            self.refresh_line(before)
            self.refresh_line(found)
            self.refresh(Region(0, self.height, self.size.width, FOOT_LINES))
        self.post_message(self.Moved())

    def move_by(self, rows: int) -> None:
        """Move the cursor by so many rows."""
        self.move_to(self.model.cursor + rows)

    @property
    def height(self) -> int:
        """How many rows are in sight; the last line is kept for the place."""
        return max(self.size.height - FOOT_LINES, 1)

    @property
    def page(self) -> int:
        """How far a page goes: one row stays in sight."""
        return max(self.height - 1, 1)

    def _show_top(self) -> bool:
        return self._scroll_to_row(0)

    def _keep_in_sight(self) -> bool:
        """Scroll so that the cursor, with a head above it, is in sight; True when that moved."""
        height, top, cursor = self.height, self.scroll_offset.y, self.model.cursor
        above = cursor - 1 if cursor and isinstance(self.model.row(cursor - 1), Head) else cursor
        last = max(self.model.total - height, 0)
        return self._scroll_to_row(min(max(top, cursor - height + 1), above, last))

    def _scroll_to_row(self, wanted: int) -> bool:
        if wanted == self.scroll_offset.y:
            return False
        for position in (ScrollView.scroll_y, ScrollView.scroll_target_y):
            self.set_reactive(position, float(wanted))
        return True

    # events

    def on_resize(self) -> None:
        """Keep the cursor in sight at another size."""
        self.model_changed()

    def on_focus(self) -> None:
        """The bar of the cursor shows where the keys go."""
        self.refresh_line(self.model.cursor)

    def on_blur(self) -> None:
        """The bar of the cursor shows where the keys go."""
        self.refresh_line(self.model.cursor)

    def on_click(self, event: events.Click) -> None:
        """Go to the clicked row; a double click opens it."""
        at = self.scroll_offset.y + event.y
        if event.y < self.height and at < self.model.total:
            self.move_to(at)
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


def head_strip(head: Head, width: int, style: Palette, sign: Glyphs) -> Strip:
    """` decision  12 ─────────────── L2 `."""
    left: list[Part] = [
        (f" {cut(display_line(head.title), max(width - 16, 4), sign.ellipsis)}", style.strong),
        (f"  {head.count:,} ", style.dim),
    ]
    right = f" {head.layer} "
    rest = max(width - cells_of(left) - len(right), 0)
    return line_of([*left, (sign.rule * rest, style.rule), (right, style.faint)], width,
                   style.text, sign.ellipsis)  # fmt: skip


def fact_strip(
    row: StateView | QueueRow | None,
    width: int,
    style: Palette,
    sign: Glyphs,
    *,
    here: bool,
    focused: bool,
) -> Strip:
    """One fact: a key with its value, or a wording with the sign of what is special about it."""
    text = style.text_here if here else style.text
    dim = style.dim_here if here else style.dim
    accent = style.accent_here if here else style.accent
    warm = style.warm_here if here else style.warm
    strong = style.strong_here if here else text
    bar: Part = (sign.bar if here else " ", accent if focused else dim)
    if row is None:
        return line_of([bar, ("  gone: R reads again", dim)], width, text, sign.ellipsis)
    parts: list[Part]
    if isinstance(row, QueueRow):
        state, warning = sign_of(row, True, sign)
        parts = [
            bar,
            (f" {state[2]} ", warm if warning else dim),
            (display_line(row.content[: width * 2]), strong),
        ]
    else:
        cells = max(min(KEY_CELLS, (width - 4) * 2 // 5), 8)
        key = cut(display_line(row.key), cells, sign.ellipsis)
        gap = " " * (cells - cells_of([(key, text)]) + 2)
        value = display_line(row.value[: width * 2])
        parts = [bar, ("   ", dim), (key, accent), (gap, dim), (value, strong)]
    return line_of(parts, width - 1, text, sign.ellipsis).extend_cell_length(width, text)
