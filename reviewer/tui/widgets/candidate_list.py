"""The list of candidates: only the lines in sight are read and drawn (Textual's Line API)."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from reviewer.tui.kit.line import line_of
from reviewer.tui.queue_model import QueueModel
from reviewer.tui.theme import Glyphs, glyphs, palette
from reviewer.tui.widgets.candidate_row import NO_BADGES, Badges, row_strip

WHEEL_LINES = 3
FOOT_LINES = 1
BADGES_HELD = 5_000


class CandidateList(ScrollView, can_focus=True):
    """Draws a `QueueModel` and moves its cursor."""

    DEFAULT_CSS = """
    CandidateList { height: 1fr; width: 1fr; overflow-x: hidden; overflow-y: hidden; }
    """

    @dataclass
    class Moved(Message):
        """The cursor stands on another row now."""

        index: int

        def can_replace(self, message: Message) -> bool:
            """A later move makes an earlier one uninteresting."""
            return isinstance(message, CandidateList.Moved)

    class Opened(Message):
        """A row was double-clicked."""

    def __init__(self, model: QueueModel, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.model = model
        self.locked = False
        """The cursor stays where it is: its row is being edited."""
        self.empty: tuple[str, ...] = ()
        """Sentences to show when the list has no rows."""
        self.badges: dict[int, Badges] = {}
        """What was found out about rows that have been in sight."""
        self._centres = False
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
        if at >= len(model.ids):
            words = self.empty[y - 1] if not model.ids and 0 < y <= len(self.empty) else ""
            how = style.text if y == 1 else style.dim
            return line_of([("  " + words, how)], width, style.text, sign.ellipsis)
        row = model.window(at, at + 1)[0]
        return row_strip(
            row,
            width,
            style,
            sign,
            here=at == model.cursor,
            focused=self.has_focus,
            marked=model.is_marked(at),
            decided=row is not None and (row.status != "candidate" or row.id in model.settled),
            member=model.ids[at] in model.leader_of,
            badges=self.badges.get(model.ids[at], NO_BADGES),
        )

    def render_lines(self, crop: object) -> list[Strip]:
        """Read the rows in sight at once before they are drawn one by one."""
        top = self.scroll_offset.y
        self.model.window(top, top + self.height)
        return super().render_lines(crop)  # type: ignore[arg-type]

    def restyle(self) -> None:
        """Draw again after a change of theme."""
        self.refresh()

    def model_changed(self) -> None:
        """The snapshot, marks or rows changed: measure and draw everything again."""
        self._measure()
        self._keep_in_sight()
        self.refresh()

    def grown(self) -> None:
        """Rows came below those that are shown: draw only if their place is in sight."""
        before = self.virtual_size.height
        self._measure()
        if before < self.scroll_offset.y + self.size.height:
            self.refresh()
        else:
            self.redraw_place()

    def centre(self) -> None:
        """Show the cursor in the middle, with the rows above it, once there is a size."""
        self._centres = True

    def _measure(self) -> None:
        height = len(self.model.ids) + FOOT_LINES
        self.set_reactive(ScrollView.virtual_size, Size(self.size.width, height))

    def _place(self, sign: Glyphs) -> str:
        """`8 of 37 · +21 beyond the cap: M`."""
        model = self.model
        place = f"{model.cursor + 1:,} of {len(model.ids):,}" if model.ids else ""
        return " " + f" {sign.dot} ".join(part for part in (place, self.remark) if part)

    def redraw_place(self) -> None:
        """Draw the last line again."""
        self.refresh(Region(0, self.height, self.size.width, FOOT_LINES))

    @property
    def ids_in_sight(self) -> list[int]:
        """The ids of the rows that are shown now."""
        top = self.scroll_offset.y
        return list(self.model.ids[top : top + self.height])

    def show_badges(self, badges: dict[int, Badges]) -> None:
        """Draw the rows again whose badges are others now."""
        top, shown = self.scroll_offset.y, self.ids_in_sight
        changed = [
            top + place
            for place, number in enumerate(shown)
            if self.badges.get(number, NO_BADGES) != badges.get(number, NO_BADGES)
        ]
        if len(self.badges) > BADGES_HELD:
            self.badges.clear()
        self.badges.update(badges)
        for index in changed:
            self.refresh_line(index)

    def redraw(self, index: int) -> None:
        """Draw one row again."""
        self.refresh_line(index)

    # moving

    def move_to(self, index: int) -> None:
        """Put the cursor on a row, scrolling only if the row is out of sight."""
        model = self.model
        index = max(0, min(index, len(model.ids) - 1))
        before = model.cursor
        if index == before or not model.ids or self.locked:
            return
        model.cursor = index
        if self._keep_in_sight() or model.range_from is not None:
            self.refresh()
        else:
            self.refresh_line(before)
            self.refresh_line(index)
            self.redraw_place()
        self.post_message(self.Moved(index))

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

    def _keep_in_sight(self) -> bool:
        """Scroll so that the cursor is in sight; True when that changed the offset."""
        if not self.size.height:
            return False
        height = self.height
        top = self.scroll_offset.y
        cursor = self.model.cursor
        last = max(len(self.model.ids) - height, 0)
        wanted = min(max(top, cursor - height + 1), cursor, last)
        if self._centres and wanted != top:
            wanted = max(min(cursor - height // 2, last), 0)
        self._centres = False
        if wanted == top:
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
        """Go to the clicked row; a double click edits it."""
        at = self.scroll_offset.y + event.y
        if event.y < self.height and at < len(self.model.ids):
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
