"""The lines at the edge of the screen: header, tabs, status and footer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual import events
from textual.reactive import reactive
from textual.strip import Strip
from textual.timer import Timer

from reviewer.text.display import display_line
from reviewer.tui.kit import keys
from reviewer.tui.kit.action import Action, shown_key
from reviewer.tui.kit.actor import reachable
from reviewer.tui.kit.line import BarLine, Part, cells_of, cut, line_of
from reviewer.tui.kit.text import wrapped
from reviewer.tui.theme import Glyphs, Palette, glyphs, palette

if TYPE_CHECKING:
    from reviewer.engine import Engine
    from reviewer.promotion.views import Counts

FOOTER_KEYS = 7
"""Keys at most in a footer of 80 columns."""


class ClickLine(BarLine):
    """A line with names of actions: a click runs one, where a key could."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.spots: list[tuple[int, int, str]] = []
        """The cells `start:end` of each action, as drawn last."""

    async def on_click(self, event: events.Click) -> None:
        names = [name for start, end, name in self.spots if start <= event.x < end]
        for action, node in reachable(self.screen):
            if action.id in names:
                event.stop()
                await node.perform(action)
                return


class HeaderBar(ClickLine):
    """The project, and the screens with their keys; the one that is shown is highlighted."""

    project = reactive("")
    waiting: reactive[int | None] = reactive(None)

    def __init__(self, current: str = "") -> None:
        super().__init__(id="header")
        self.current = current

    def same_as(self, other: HeaderBar) -> None:
        """Copy the header of another screen."""
        self.project, self.waiting = other.project, other.waiting

    def show_counts(self, counts: Counts) -> None:
        self.waiting = counts.to_decide

    def sides(self, style: Palette, sign: Glyphs) -> tuple[list[Part], list[list[Part]]]:
        """` acme       Queue 37 F2   Packet F5`: the project gives way first, then the titles."""
        engine: Engine | None = getattr(self.app, "engine", None)
        read_only = engine is not None and engine.read_only
        name: list[Part] = [(" " + (self.project or "reviewer"), style.strong)]
        if read_only:
            name.append((f" {sign.dot} read-only", style.warm))
        wide = self.size.width
        tabs: list[Part] = []
        for gap, titled in (("   ", True), ("  ", True), (" ", True), (" ", False)):
            tabs = self._tabs(style, gap, titled=titled)
            if cells_of(tabs) + min(cells_of(name), wide // 4) + 1 <= wide:
                break
        start = wide - cells_of(tabs)
        self.spots = [(a + start, b + start, action) for a, b, action in self.spots]
        room = max(start - 1, 0)
        if cells_of(name) > room:
            strip = line_of(name, room, style.text, sign.ellipsis)
            name = [(segment.text, segment.style or style.text) for segment in strip]
        gap_cells = max(start - cells_of(name), 0)
        return [*name, (" " * gap_cells, style.text), *tabs], []

    def _tabs(self, style: Palette, gap: str, *, titled: bool) -> list[Part]:
        """Every tab with its key; only the one that is shown keeps its title without `titled`."""
        parts: list[Part] = []
        self.spots = []
        for action in self.screens():
            here = action.id == f"show_{self.current}"
            if parts:
                parts.append((gap, style.text))
            at = cells_of(parts)
            if titled or here:
                parts.append((f"{action.title} ", style.strong if here else style.dim))
                if action is keys.SHOW_QUEUE and self.waiting is not None:
                    parts.append((f"{self.waiting:,} ", style.strong if here else style.dim))
            parts.append((action.key, style.accent if here else style.dim))
            self.spots.append((at, cells_of(parts), action.id))
        return [*parts, (" ", style.text)]

    def screens(self) -> tuple[Action, ...]:
        """The tabs: those that are always there, and the one that is shown."""
        here = f"show_{self.current}"
        return tuple(action for action in keys.SCREENS if action in keys.TABS or action.id == here)


class HintBar(BarLine):
    """A sentence above the list; the line is gone when there is none."""

    DEFAULT_CSS = "HintBar { display: none; } HintBar.-shown { display: block; }"

    words = reactive("")
    short = ""

    def show(self, words: str, short: str = "") -> None:
        """`short`: the words where the screen is too narrow for the others."""
        self.short = short
        self.words = words
        self.set_class(bool(words), "-shown")

    def sides(self, style: Palette, sign: Glyphs) -> tuple[list[Part], list[list[Part]]]:
        fits = cells_of([(self.words, style.warm)]) < self.size.width
        words = self.words if fits or not self.short else self.short
        return [(f" {words}", style.warm)], []


TROUBLE_CELLS = 3
"""The sign before a problem."""
MOST_ROWS = 3
SAID_SECONDS, BAD_SECONDS = 12.0, 40.0
"""How long a sentence stays, and one about a problem."""


class StatusBar(BarLine):
    """The result of the last key, in one sentence; at the right the position."""

    place = reactive("")
    _text = reactive("")
    _bad = reactive(False)
    _fading: Timer | None = None

    def say(self, text: str, *, bad: bool = False) -> None:
        """Show a sentence; it leaves after a while."""
        self._text, self._bad = display_line(text), bad
        self._fit()
        if self._fading is not None:
            self._fading.stop()
            self._fading = None
        if text:
            self._fading = self.set_timer(BAD_SECONDS if bad else SAID_SECONDS, self._fade)

    def _fade(self) -> None:
        self._fading = None
        self.say("")

    def on_resize(self) -> None:
        """The text may need another number of rows."""
        self._fit()

    def _fit(self) -> None:
        """Use as many rows as a problem needs to be read whole; one row for everything else."""
        width = self.size.width
        rows = len(self._lines(width)) if self._bad and width else 1
        if self.styles.height is None or self.styles.height.value != rows:
            self.styles.height = rows

    def _lines(self, width: int) -> list[str]:
        return wrapped(self._text, width - TROUBLE_CELLS)[:MOST_ROWS]

    def render_line(self, y: int) -> Strip:
        """The sentence; a problem longer than a row continues in the next."""
        width = self.size.width
        if not self._bad or self.size.height < 2:
            return super().render_line(y)
        style, sign = palette(self.app), glyphs(self.app)
        lines = self._lines(width)
        mark = f" {sign.attention} " if y == 0 else " " * TROUBLE_CELLS
        words = lines[y] if y < len(lines) else ""
        if y == MOST_ROWS - 1 and len(wrapped(self._text, width - TROUBLE_CELLS)) > MOST_ROWS:
            words = cut(words + sign.ellipsis, width - TROUBLE_CELLS, sign.ellipsis)
        return line_of([(mark, style.warm), (words, style.text)], width, style.text, sign.ellipsis)

    def recover(self) -> None:
        """The problem is over: remove its sentence."""
        if self._bad:
            self.say("")

    @property
    def text(self) -> str:
        return self._text

    def sides(self, style: Palette, sign: Glyphs) -> tuple[list[Part], list[list[Part]]]:
        """The sentence, with a sign before a problem."""
        left: list[Part] = [(" ", style.text)]
        if self._bad:
            left.append((f"{sign.attention} ", style.warm))
        left.append((self._text, style.text))
        return left, [[(self.place + " ", style.dim)], []]


class FooterBar(ClickLine):
    """The most useful keys of the pane that has the focus."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._keys: list[tuple[str, str, str]] = []

    def show(self, keys: Sequence[tuple[str, str, str]]) -> None:
        """Show keys as (key, title, action id), in their order; the last is never cut off."""
        shown = [(shown_key(key), title, action) for key, title, action in keys]
        if shown != self._keys:
            self._keys = shown
            self.refresh()

    def sides(self, style: Palette, sign: Glyphs) -> tuple[list[Part], list[list[Part]]]:
        """As many keys as fit."""
        if not self._keys:
            return [], []
        *first, last = self._keys
        wide = self.size.width
        most = FOOTER_KEYS - 1 if wide <= 80 else len(first)
        room = wide - 1 - self._cells(last)
        chosen: list[tuple[str, str, str]] = []
        for each in first[:most]:
            room -= self._cells(each)
            if room < 0:
                break
            chosen.append(each)
        parts: list[Part] = [(" ", style.text)]
        self.spots.clear()
        for key, title, action in [*chosen, last]:
            at = cells_of(parts)
            parts += [(key, style.accent), (f" {title}  ", style.dim)]
            self.spots.append((at, cells_of(parts) - 2, action))
        return parts, []

    @staticmethod
    def _cells(key: tuple[str, str, str]) -> int:
        return len(key[0]) + len(key[1]) + 3
