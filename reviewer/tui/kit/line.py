"""One-line widgets: parts of text with a style each, on the left and on the right."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from reviewer.tui.theme import Glyphs, Palette, glyphs, palette

Part = tuple[str, Style]


def cut(text: str, width: int, ellipsis: str) -> str:
    """The start of a text in at most `width` cells; `ellipsis` ends it when something is left."""
    if cell_len(text) <= width:
        return text
    if width <= 0:
        return ""
    return set_cell_size(text, width - 1).rstrip() + ellipsis


def cells_of(parts: Sequence[Part]) -> int:
    """How many cells some parts take."""
    return sum(cell_len(text) for text, _ in parts)


def line_of(parts: Sequence[Part], width: int, fill: Style, ellipsis: str) -> Strip:
    """Parts as one strip of exactly `width` cells: cut with an ellipsis, or filled up."""
    segments: list[Segment] = []
    left = width
    for text, style in parts:
        if left <= 0:
            break
        shown = cut(text, left, ellipsis)
        segments.append(Segment(shown, style))
        left -= cell_len(shown)
    if left > 0:
        segments.append(Segment(" " * left, fill))
    return Strip(segments, width)


class BarLine(Widget):
    """A line of the screen. Subclasses provide its two sides."""

    DEFAULT_CSS = "BarLine { height: 1; width: 1fr; }"

    def sides(self, style: Palette, sign: Glyphs) -> tuple[list[Part], list[list[Part]]]:
        """The left parts, and wordings for the right side: the first that fits is drawn."""
        raise NotImplementedError

    def restyle(self) -> None:
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """The line, with the longest right side that does not cut the left one."""
        style, sign = palette(self.app), glyphs(self.app)
        width = self.size.width
        left, choices = self.sides(style, sign)
        right: list[Part] = []
        for choice in choices:
            if cells_of(left) + cells_of(choice) + 2 <= width:
                right = choice
                break
        room = width - cells_of(right)
        strip = line_of(left, room, style.text, sign.ellipsis)
        if not right:
            return strip
        return Strip([*strip, *(Segment(text, how) for text, how in right)], width)


class TitleRule(BarLine):
    """The rule above a list, with its title and what its columns are:
    `─ Candidates ─ by rank ─────── j project · # entity ─`.
    """

    def __init__(self, title: str = "", *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._title = title
        self._detail = ""
        self._focused = False
        self._columns: tuple[str, ...] = ()

    def show(self, title: str, detail: str = "", *, focused: bool | None = None) -> None:
        """Set title and detail, which must be display text already; draws only if they changed."""
        now = (title, detail, self._focused if focused is None else focused)
        if now != (self._title, self._detail, self._focused):
            self._title, self._detail, self._focused = now
            self.refresh()

    def name_columns(self, *wordings: str) -> None:
        """Say what the columns are, in the first of these wordings that there is room for."""
        if wordings != self._columns:
            self._columns = wordings
            self.refresh()

    def focused(self, here: bool) -> None:
        """Show whether the pane below has the focus."""
        self.show(self._title, self._detail, focused=here)

    def sides(self, style: Palette, sign: Glyphs) -> tuple[list[Part], list[list[Part]]]:
        """The rule continues to the end of the line."""
        parts: list[Part] = [(sign.rule + " ", style.rule)]
        parts.append((self._title, style.accent if self._focused else style.strong))
        if self._detail:
            parts += [(f" {sign.rule} ", style.rule), (self._detail, style.dim)]
        room = self.size.width - 2
        if cells_of(parts) > room:
            strip = line_of(parts, room, style.rule, sign.ellipsis)
            parts = [(segment.text, segment.style or style.rule) for segment in strip]
        rest = self.size.width - cells_of(parts) - 1
        columns = next((each for each in self._columns if cell_len(each) + 4 <= rest), "")
        rest -= cell_len(columns) + 3 if columns else 0
        parts.append((" " + sign.rule * rest, style.rule))
        if columns:
            parts += [(f" {columns} ", style.dim), (sign.rule, style.rule)]
        return parts, []


class Separator(Widget):
    """The upright rule between the list and the panes beside it."""

    DEFAULT_CSS = "Separator { width: 1; height: 1fr; }"

    joint = reactive(0)
    """The line, from the top, at which the rule of the lower pane meets it; 0 for none."""

    def restyle(self) -> None:
        self.refresh()

    def render_line(self, y: int) -> Strip:
        plain = glyphs(self.app).ascii
        joints = {self.joint: "├", 0: "┬"}
        sign = ("+" if y in joints else "|") if plain else joints.get(y, "│")
        return Strip([Segment(sign, palette(self.app).rule)], 1)
