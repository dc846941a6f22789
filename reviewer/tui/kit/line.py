"""Lines of styled text, and the titles of panes."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.content import Content
from textual.strip import Strip
from textual.widget import Widget

from reviewer.text.display import display_line
from reviewer.tui.kit.text import cut
from reviewer.tui.theme import glyphs

Part = tuple[str, Style]


def cells_of(parts: Sequence[Part]) -> int:
    return sum(cell_len(text) for text, _ in parts)


def line_of(parts: Sequence[Part], width: int, fill: Style, ellipsis: str) -> Strip:
    """Parts as one strip of exactly `width` cells: cut with an ellipsis, or padded."""
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


def apart(
    left: Sequence[Part], right: Sequence[Part], width: int, fill: Style, ellipsis: str
) -> list[Part]:
    """Parts at both ends of a line; the left ones are cut if there is no room."""
    shown = line_of(left, max(width - cells_of(right), 0), fill, ellipsis)
    return [*((each.text, each.style or fill) for each in shown), *right]


def entitle(pane: Widget, *parts: str) -> None:
    """Put a pane's title into its upper border, cut to its width: `─ Candidates ─ by rank ───`."""
    sign = glyphs(pane.app)
    first, *more = [display_line(part) for part in parts if part] or [""]
    rest = "".join(f" {sign.rule} {part}" for part in more)
    if sign.ascii:  # Textual's own ellipsis is not
        first = cut(first, pane.size.width - 4, sign.ellipsis)
        rest = cut(rest, pane.size.width - cell_len(first) - 4, sign.ellipsis)
    whole = Content.assemble(f" {first}", (f"{rest} ", "not bold $dim")) if first else None
    if pane._border_title != whole:
        pane.border_title = whole
