"""The levels of a segment in a line, and how large the whole context gets in another."""

from __future__ import annotations

from dataclasses import dataclass

from reviewer.tui.kit.bars import ClickLine
from reviewer.tui.kit.line import Line, Part, cells_of
from reviewer.tui.kit.text import figure
from reviewer.tui.theme import Glyphs, Palette
from reviewer.tui.widgets.compress_row import LEVELS, arrow, short

WIDEST, NARROWEST = 30, 8


@dataclass(frozen=True)
class LevelFigures:
    """What is known of a level: nothing yet, its figures, or why there are none."""

    tokens: int | None = None
    ratio: float = 0.0
    fidelity: float | None = None
    passes: bool = False
    trouble: str = ""


class LevelsLine(ClickLine):
    """`1 Full 4,012   2 Detailed 1,312 3.1:1 .92 ✓   ▌3 Brief 388 10.3:1 .91 ✓`."""

    ACTIONS = ("level_full", "level_detailed", "level_brief", "level_tags")

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._figures: tuple[LevelFigures, ...] = ()
        self._chosen = 0

    def show(self, figures: tuple[LevelFigures, ...], chosen: int) -> None:
        """Show other figures; nothing for none."""
        if (figures, chosen) != (self._figures, self._chosen):
            self._figures, self._chosen = figures, chosen
            self.refresh()

    def sides(self, style: Palette, sign: Glyphs) -> tuple[list[Part], list[list[Part]]]:
        """Ways to say it, the longest that fits."""
        parts: list[Part] = []
        for names, ratios, scores in (
            (True, True, True),
            (True, True, False),
            (True, False, False),
            (False, False, False),
        ):
            parts = self._parts(style, sign, names=names, ratios=ratios, scores=scores)
            if cells_of(parts) <= self.size.width:
                break
        return parts, []

    def _parts(
        self, style: Palette, sign: Glyphs, *, names: bool, ratios: bool, scores: bool
    ) -> list[Part]:
        parts: list[Part] = []
        self.spots.clear()
        for level, each in enumerate(self._figures):
            here = level == self._chosen
            at = cells_of(parts)
            parts.append((sign.bar if here else " ", style.accent))
            parts.append((f"{level + 1} ", style.accent))
            name = LEVELS[level] if names else LEVELS[level][0] if here else ""
            parts.append((f"{name} " if name else "", style.strong if here else style.dim))
            if each.trouble:
                parts.append((f"{sign.stale} ", style.warm))
            elif each.tokens is None:
                parts.append((f"{sign.ellipsis} ", style.faint))
            else:
                parts.append((short(each.tokens), style.text if here else style.dim))
                if level and ratios:
                    parts.append((f" {each.ratio:.1f}:1", style.dim))
                if level and scores and each.fidelity is not None:
                    verdict = sign.promoted if each.passes else sign.rejected
                    how = style.accent if each.passes else style.warm
                    parts.append((f" {figure(each.fidelity)}{verdict}", how))
            self.spots.append((at, cells_of(parts), self.ACTIONS[level]))
            parts.append(("  " if names else " ", style.text))
        return parts


class WholeBar(Line):
    """`whole 48,120 → 9,204 ████▒▒▒|▒▒▒ target 8,000, 1,204 over      offline engine`."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._now: tuple[int, int, bool, int | None, str] | None = None

    def show(
        self, before: int, after: int, target: int | None, engine: str, *, exact: bool
    ) -> None:
        """Show other sizes; `exact` False when some of them are estimates."""
        now = (before, after, exact, target, engine)
        if now != self._now:
            self._now = now
            self.refresh()

    def clear(self) -> None:
        """There is no context."""
        if self._now is not None:
            self._now = None
            self.refresh()

    def sides(self, style: Palette, sign: Glyphs) -> tuple[list[Part], list[list[Part]]]:
        """The bar takes what the numbers leave; where that is too little it is left out."""
        if self._now is None:
            return [], []
        before, after, exact, target, engine = self._now
        over = target is not None and after > target
        sizes: list[Part] = [
            (" whole ", style.dim),
            (f"{before:,} {arrow(sign)} ", style.text),
            (f"{'' if exact else '~'}{after:,}", style.warm if over else style.accent),
            (" ", style.text),
        ]
        goal: list[Part] = []
        if target is None:
            goal.append((" f: a target ", style.faint))
        else:
            verdict = f"{after - target:,} over" if over else sign.promoted
            goal = [
                (f" target {target:,} ", style.text),
                (f"{verdict} ", style.warm if over else style.accent),
            ]
        end: list[Part] = [(f" {engine} ", style.dim)]
        room = self.size.width - cells_of([*sizes, *goal, *end]) - 3
        bar = self._bar(min(room, WIDEST), style, sign) if room >= NARROWEST else []
        return [*sizes, *bar, *goal], [end, []]

    def _bar(self, cells: int, style: Palette, sign: Glyphs) -> list[Part]:
        assert self._now is not None
        before, after, _, target, _ = self._now
        whole = max(before, after, target or 0, 1)
        kept = min(max(round(after * cells / whole), 1 if after else 0), cells)
        over = target is not None and after > target
        drawn = [sign.shades[0]] * kept + [sign.shades[-1]] * (cells - kept)
        styles = [style.warm if over else style.accent] * kept + [style.faint] * (cells - kept)
        if target is not None:
            at = min(max(round(target * cells / whole), 0), cells - 1)
            drawn[at], styles[at] = "|", style.strong
        return list(zip(drawn, styles, strict=True))
