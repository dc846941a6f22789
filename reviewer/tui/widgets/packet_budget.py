"""The two lines above a packet: the budget as a slider and as a number, and what it is about."""

from __future__ import annotations

from math import log

from msgspec import Struct
from textual import events
from textual.message import Message

from reviewer.text.display import display_line
from reviewer.tui.kit.line import Line, Part, cells_of
from reviewer.tui.screens.packet_model import BUDGETS, STATES, PacketModel
from reviewer.tui.theme import Glyphs, Palette

SLIDER_CELLS = 22
NARROW_SLIDER = 10
NARROW = 90


class BudgetLine(Line):
    """` budget ◀ ━━━━●──── 8,000 ▶  used 7,991 · full 41 · short 6 · titles 18 · dropped 3`."""

    class Chosen(Message):
        """A place of the slider was clicked."""

        def __init__(self, budget: int) -> None:
            super().__init__()
            self.budget = budget

    def __init__(self, model: PacketModel, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._model = model
        self.budget = BUDGETS[0]
        self._from = 0
        self._cells = SLIDER_CELLS

    def show(self, budget: int) -> None:
        """Show a budget and what the packet makes of it."""
        self.budget = budget
        self.refresh()

    def sides(self, style: Palette, sign: Glyphs) -> tuple[list[Part], list[list[Part]]]:
        """The slider on the left; on the right what was used and what became of the items."""
        plain = sign.rule == "-"
        self._cells = SLIDER_CELLS if self.size.width >= NARROW else NARROW_SLIDER
        at = place_of(self.budget, self._cells)
        knob, before, after = ("o", "=", "-") if plain else ("●", "━", "─")
        parts: list[Part] = [
            (" budget ", style.dim),
            ("< " if plain else "◀ ", style.accent),
        ]
        self._from = cells_of(parts)
        parts += [
            (before * at, style.accent),
            (knob, style.strong),
            (after * (self._cells - 1 - at), style.rule),
            (f" {self.budget:,}", style.strong),
            (" >" if plain else " ▶", style.accent),
        ]
        return parts, self._figures(style, sign)

    def _figures(self, style: Palette, sign: Glyphs) -> list[list[Part]]:
        packet = self._model.packet
        if packet is None:
            return [[]]
        used: list[Part] = [("used ", style.dim), (f"{packet.tokens_used:,}", style.strong)]
        if packet.over_budget:
            over = packet.tier_1 - packet.budget
            used += [(f"  {sign.stale} {over:,} over: tier 1 alone needs that", style.warm)]
            return [[*used, (" ", style.text)], used[:2]]
        counts = dict.fromkeys(STATES, 0)
        for item in packet.items:
            counts[str(item.state)] += 1
        words = {"full": "full", "short": "short", "title": "titles", "dropped": "dropped"}
        brief = list(used)
        for state, word in words.items():
            how = style.warm if state == "dropped" and counts[state] else style.text
            used += [(f" {sign.dot} {word} ", style.dim), (f"{counts[state]:,}", how)]
            if counts[state]:
                brief += [(f" {sign.dot} ", style.dim), (f"{counts[state]:,}", how)]
                brief.append((f" {word}", style.dim))
        end: Part = (" ", style.text)
        return [[*used, end], [*brief, end], [*brief[:2], end]]

    def on_click(self, event: events.Click) -> None:
        """Take the budget at the clicked place of the slider; the arrows go one step."""
        at = event.x - self._from
        if 0 <= at < self._cells:
            event.stop()
            self.post_message(self.Chosen(budget_at(at, self._cells)))


class AboutWords(Struct, frozen=True):
    """What a packet is about, in words."""

    task: str = ""
    date: str = ""
    source: str = ""
    more: str = ""


class AboutLine(Line):
    """` task "move the ledger" · as of 2026-07-26 · acme/.context`."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._about = AboutWords()

    def show(self, about: AboutWords) -> None:
        """Show what the packet is about."""
        self._about = about
        self.refresh()

    def sides(self, style: Palette, sign: Glyphs) -> tuple[list[Part], list[list[Part]]]:
        """The task on the left, date and source on the right."""
        about = self._about
        said = f'"{display_line(about.task)}"' if about.task else "the open tasks"
        left: list[Part] = [
            (" task   ", style.dim),
            (said, style.text if about.task else style.dim),
        ]
        date: list[Part] = [("as of ", style.dim), (about.date, style.text)]
        source: list[Part] = [(f" {sign.dot} ", style.dim), (about.source, style.text)]
        more: list[Part] = [(f" {sign.dot} {about.more}", style.warm)] if about.more else []
        end: list[Part] = [(" ", style.text)]
        if cells_of(left) > self.size.width // 2:
            left = [*left[:1], (_short(said, self.size.width // 2 - 8, sign), style.text)]
        return left, [[*date, *source, *more, *end], [*date, *source, *end], [*date, *end], []]


def place_of(budget: int, cells: int) -> int:
    """Where a budget stands on a slider of so many cells: steps are evenly apart."""
    if budget >= BUDGETS[-1]:
        return cells - 1
    above = next(at for at, value in enumerate(BUDGETS) if value > budget)
    low, high = BUDGETS[above - 1], BUDGETS[above]
    part = log((budget - low) / (high - low) + 1, 2)
    return min(round((above - 1 + part) * (cells - 1) / (len(BUDGETS) - 1)), cells - 1)


def budget_at(cell: int, cells: int) -> int:
    """The step of the slider at a cell."""
    return BUDGETS[round(cell * (len(BUDGETS) - 1) / max(cells - 1, 1))]


def _short(text: str, width: int, sign: Glyphs) -> str:
    from reviewer.tui.kit.text import fit

    return fit(text, max(width, 4), sign.ellipsis)
