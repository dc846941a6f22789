"""How the tokens of a context divide by priority, and what would be left of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.style import Style

from reviewer.tui.kit.line import Line, Part, cells_of
from reviewer.tui.theme import Glyphs, Palette
from reviewer.tui.widgets.commit_row import priority_sign

if TYPE_CHECKING:
    from reviewer.engine import TokenTotals

PRIORITIES = ("pinned", "important", "normal", "skip")
"""In the order of the bar: the most careful first."""
WIDEST = 40
NARROWEST = 8


def shares(values: Sequence[int], cells: int) -> list[int]:
    """`cells` divided in proportion to `values`; what is there at all gets a cell."""
    total = sum(values)
    if not total or cells <= 0:
        return [0] * len(values)
    exact = [value * cells / total for value in values]
    parts = [max(int(share), 1) if value else 0 for share, value in zip(exact, values, strict=True)]
    while sum(parts) > cells:
        largest = max(range(len(parts)), key=lambda at: parts[at])
        if parts[largest] == 1:
            break
        parts[largest] -= 1
    while sum(parts) < cells:
        short = max(range(len(parts)), key=lambda at: exact[at] - parts[at])
        parts[short] += 1
    return parts


def short_count(tokens: int) -> str:
    """`412`, `9.2k`, `48k`, `1.2M`."""
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if tokens >= size:
            value = tokens / size
            return f"{value:.1f}{letter}" if value < 10 else f"{value:.0f}{letter}"
    return str(tokens)


class Balance(Line):
    """`tokens ███▓▓▓▒▒▒▒▒░  ● 1,204  ◆ 3,880  · 40,726  ∅ 2,310`."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._tokens: dict[str, int] = {}

    def show(self, totals: TokenTotals | None) -> None:
        """Show other totals."""
        tokens = {} if totals is None else in_order(totals)
        if tokens != self._tokens:
            self._tokens = tokens
            self.refresh()

    def sides(self, style: Palette, sign: Glyphs) -> tuple[list[Part], list[list[Part]]]:
        """The bar takes what the numbers leave; where that is too little it is left out."""
        if not self._tokens:
            return [], []
        styles = _styles(style)
        label: list[Part] = [(" tokens ", style.dim)]
        numbers: list[Part] = []
        for priority, tokens in self._tokens.items():
            numbers.append((f" {priority_sign(priority, sign)} ", styles[priority]))
            numbers.append((f"{tokens:,} ", style.text))
        room = self.size.width - cells_of([*label, *numbers]) - 1
        bar: list[Part] = []
        if room >= NARROWEST:
            parts = shares(list(self._tokens.values()), min(room, WIDEST))
            for priority, shade, cells in zip(PRIORITIES, sign.shades, parts, strict=True):
                bar.append((shade * cells, styles[priority]))
        return [*label, *bar, *numbers], []


def in_order(totals: TokenTotals) -> dict[str, int]:
    """The tokens of every priority, in the order of the bar."""
    known = {str(priority): tokens for priority, tokens in totals.by_priority.items()}
    return {priority: known.get(priority, 0) for priority in PRIORITIES}


def _styles(style: Palette) -> dict[str, Style]:
    return {
        "pinned": style.accent,
        "important": style.warm,
        "normal": style.dim,
        "skip": style.faint,
    }


class OutlookLine(Line):
    """What would be left, in one sentence; the first wording that fits."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._wordings: tuple[str, ...] = ()

    def show(self, wordings: Sequence[str]) -> None:
        """Show another sentence: ways to say it, the longest first."""
        if tuple(wordings) != self._wordings:
            self._wordings = tuple(wordings)
            self.refresh()

    def sides(self, style: Palette, sign: Glyphs) -> tuple[list[Part], list[list[Part]]]:
        """The longest wording that fits, else the shortest, cut."""
        room = self.size.width - 2
        fitting = [each for each in self._wordings if len(each) <= room] or self._wordings[-1:]
        return [(f" {text}", style.dim) for text in fitting[:1]], []
