"""Sections of a packet as bars against their caps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from reviewer.tui.kit.line import Part, line_of
from reviewer.tui.screens.packet_model import PacketModel
from reviewer.tui.theme import Glyphs, Palette, glyphs, palette

if TYPE_CHECKING:
    from reviewer.storeless import Packet

NAME_CELLS = 14
FIGURE_CELLS = 17
EIGHTHS = " ▏▎▍▌▋▊▉█"
FRAME = ("instruction", "read order")
"""Sections that are shown as one: what stands before everything."""


@dataclass(frozen=True)
class Bar:
    """One section: tokens used, its cap (None for none), and tokens of the smaller budget."""

    name: str
    used: int
    cap: int | None
    before: int | None = None


def bars_of(packet: Packet, smaller: Packet | None = None) -> list[Bar]:
    """The bars of a packet; the reading order counts with the instruction."""
    before = {str(each.name): each.used for each in smaller.sections} if smaller else {}
    frame = sum(each.used for each in packet.sections if each.name in FRAME)
    bars = [
        Bar(
            "instruction",
            frame,
            None,
            sum(before.get(name, 0) for name in FRAME) if before else None,
        )
    ]
    for each in packet.sections:
        if each.name not in FRAME:
            name = str(each.name)
            bars.append(Bar(name, each.used, each.max_tokens, before.get(name)))
    return bars


class SectionBars(Widget):
    """A row for each section."""

    DEFAULT_CSS = "SectionBars { height: 6; width: 1fr; }"

    def __init__(self, model: PacketModel, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._model = model
        self._shown = ""

    def restyle(self) -> None:
        """Draw again after a change of theme."""
        self.refresh()

    def follow(self) -> None:
        """Draw again when the cursor has gone to another section."""
        if self._model.section != self._shown:
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """The row of one section."""
        style, sign = palette(self.app), glyphs(self.app)
        packet, pair = self._model.packet, self._model.smaller_larger
        if packet is None:
            return Strip.blank(self.size.width, style.text)
        bars = bars_of(pair[1], pair[0]) if pair else bars_of(packet)
        # as many columns as the rows in sight ask for
        columns = -(-len(bars) // max(self.size.height, 1))
        name = self._shown = self._model.section
        scale = max(packet.budget, packet.tokens_used, 1)
        parts: list[Part] = []
        for at in range(y * columns, min((y + 1) * columns, len(bars))):
            width = self.size.width // columns
            here_too = bars[at].name == name
            parts += bar_parts(bars[at], width, scale, style, sign, here=here_too)
        return line_of(parts, self.size.width, style.text, sign.ellipsis)


def bar_parts(
    bar: Bar, width: int, scale: int, style: Palette, sign: Glyphs, *, here: bool
) -> list[Part]:
    """Name, bar and figures: ` tasks  ████████▏··  2,940/3,200`.

    The bar is drawn against the cap, or against `scale` where there is no cap.
    """
    room = max(width - NAME_CELLS - FIGURE_CELLS, 0)
    whole = bar.cap if bar.cap is not None else scale
    share = min(bar.used / whole, 1.0) if whole else 0.0
    filled, rest = _bar(share, room, sign)
    figures = f"{bar.used:,}" if bar.cap is None else f"{bar.used:,}/{_thousands(bar.cap)}"
    if bar.before is not None:
        figures = f"{bar.before:,} +{bar.used - bar.before:,}"
        if bar.used < bar.before:
            figures = f"{bar.before:,} {sign.minus}{bar.before - bar.used:,}"
    full = bar.cap is not None and bar.used >= 0.95 * bar.cap > 0
    colour: Style = style.warm if full else style.accent
    return [
        (f" {bar.name:<{NAME_CELLS - 1}}", style.strong if here else style.dim),
        (filled, colour),
        (rest, style.rule),
        (f"{figures:>{FIGURE_CELLS - 1}} ", style.text),
    ]


def _bar(share: float, room: int, sign: Glyphs) -> tuple[str, str]:
    if sign.rule == "-":
        cells = round(share * room)
        return "#" * cells, "." * (room - cells)
    eighths = round(share * room * 8)
    filled = "█" * (eighths // 8) + (EIGHTHS[eighths % 8] if eighths % 8 else "")
    return filled, "·" * (room - len(filled))


def _thousands(number: int) -> str:
    return f"{number:,}" if number < 10_000_000 else f"{number:.0e}"
