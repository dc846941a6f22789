"""NO_COLOR: the screen without a single colour; what colour alone would say is said otherwise."""

from __future__ import annotations

from functools import lru_cache

from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

from reviewer.tui.theme import COLOURS

_MARKED = {RichColor.parse(each.span_background).triplet for each in COLOURS.values()}
_BLOCKS = {RichColor.parse(each.text).triplet for each in COLOURS.values()}


class Colourless(LineFilter):
    """Takes colours out of everything that is drawn, whatever widget drew it.

    Marked spans and selections become underlined, a cursor in a text field reversed.
    """

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The same segments in the terminal's own colours."""
        return [Segment(text, _plain(style or Style.null()), None) for text, style, _ in segments]


@lru_cache(1024)
def _plain(style: Style) -> Style:
    behind = style.bgcolor.triplet if style.bgcolor else None
    return style.without_color + Style(
        underline=True if behind in _MARKED else None,
        reverse=True if behind in _BLOCKS else None,
        meta=style.meta or None,  # a list finds the row under the mouse by it
    )
