"""The lines at the edge of the screen: header, tabs, status and footer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from textual import events
from textual.reactive import reactive
from textual.strip import Strip

from reviewer.text.display import display_line
from reviewer.tui.kit import keys
from reviewer.tui.kit.action import shown_key
from reviewer.tui.kit.actor import reachable
from reviewer.tui.kit.line import BarLine, Part, cells_of, cut, line_of
from reviewer.tui.kit.text import wrapped
from reviewer.tui.theme import Glyphs, Palette, glyphs, palette

if TYPE_CHECKING:
    from reviewer.engine import Engine
    from reviewer.promotion.views import Counts

FOOTER_KEYS = 7
"""Keys at most in a footer of 80 columns."""


class HeaderBar(BarLine):
    """Name, project and the state of the queue."""

    project = reactive("")
    waiting: reactive[int | None] = reactive(None)
    promoted = reactive(0)
    rejected = reactive(0)
    minutes: reactive[int | None] = reactive(None)

    def same_as(self, other: HeaderBar) -> None:
        """Copy the header of another screen."""
        self.project, self.waiting, self.minutes = other.project, other.waiting, other.minutes
        self.promoted, self.rejected = other.promoted, other.rejected

    def show_counts(self, counts: Counts) -> None:
        self.waiting = counts.waiting
        self.promoted, self.rejected = counts.promoted_today, counts.rejected_today

    def sides(self, style: Palette, sign: Glyphs) -> tuple[list[Part], list[list[Part]]]:
        """`37 waiting · today 9 ✓ 14 ✗ · ~4 min left`, without the end where it is narrow."""
        between = f" {sign.dot} "
        left = [(" reviewer", style.accent), ("  " + self.project, style.strong)]
        engine: Engine | None = getattr(self.app, "engine", None)
        if engine is not None and engine.read_only:
            left.append((f"{between}read-only", style.warm))
        if self.waiting is None:
            return left, []
        short: list[Part] = [(f"{self.waiting:,}", style.strong), (" waiting", style.dim)]
        today = [
            *short,
            (f"{between}today {self.promoted:,} ", style.dim),
            (sign.promoted, style.accent),
            (f" {self.rejected:,} ", style.dim),
            (sign.rejected, style.warm),
        ]
        choices = [today, short]
        if self.minutes is not None:
            pace = (f"{between}~{self.minutes} min left", style.dim)
            choices.insert(0, [*today, pace])
        end = (" ", style.text)
        return left, [[*choice, end] for choice in choices]


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
                await node.action_act(action.id)
                return


class TabBar(ClickLine):
    """The screens with their keys; the current one is highlighted."""

    current = reactive("queue")

    def sides(self, style: Palette, sign: Glyphs) -> tuple[list[Part], list[list[Part]]]:
        """` Queue F2   History F8` and the key for help."""
        wide = self.size.width
        parts = self._tabs(style, "   ")
        if cells_of(parts) > wide:
            parts = self._tabs(style, " ")
        if cells_of(parts) > wide:
            parts = self._tabs(style, " ", titles=keys.SHORT_TITLES)
        if cells_of(parts) > wide:
            parts = self._tabs(style, " ", titles=_NO_TITLES)
        help_parts: list[Part] = [(keys.HELP.shown_keys[-1], style.accent), (" help ", style.dim)]
        if cells_of(parts) + cells_of(help_parts) + 2 <= wide:
            self.spots.append((wide - cells_of(help_parts), wide, "help"))
        return parts, [help_parts, []]

    def _tabs(
        self, style: Palette, gap: str, *, titles: Mapping[str, str] | None = None
    ) -> list[Part]:
        """Every tab with its key. `titles`: other titles than its own, by the id of the action; the
        screen that is shown keeps a title.
        """
        parts: list[Part] = []
        self.spots.clear()
        for action in keys.SCREENS:
            here = action.id == f"show_{self.current}"
            title = (titles or {}).get(action.id, action.title)
            parts.append((gap if parts else " ", style.text))
            at = cells_of(parts)
            if title or here:
                shown = title or action.title
                parts.append((f"{shown} ", style.strong if here else style.dim))
            parts.append((action.key, style.accent if here else style.faint))
            self.spots.append((at, cells_of(parts), action.id))
        return parts


_NO_TITLES = {action.id: "" for action in keys.SCREENS}


class HintBar(BarLine):
    """A sentence for beginners; the line is gone when there is none."""

    DEFAULT_CSS = "HintBar { display: none; } HintBar.-shown { display: block; }"

    words = reactive("")
    short = ""

    def show(self, words: str, short: str = "") -> None:
        """`short`: the words where the screen is too narrow for the others."""
        self.short = short
        self.words = words
        self.set_class(bool(words), "-shown")

    def sides(self, style: Palette, sign: Glyphs) -> tuple[list[Part], list[list[Part]]]:
        before: Part = (f" {sign.hint} ", style.warm)
        whole: list[Part] = [before, (self.words, style.warm)]
        if self.short and cells_of(whole) > self.size.width:
            return [before, (self.short, style.warm)], []
        return whole, []


TROUBLE_CELLS = 3
"""The sign before a problem."""
MOST_ROWS = 3


class StatusBar(BarLine):
    """The result of the last key, in one sentence; at the right the position."""

    place = reactive("")
    _text = reactive("")
    _bad = reactive(False)

    def say(self, text: str, *, bad: bool = False) -> None:
        self._text, self._bad = display_line(text), bad
        self._fit()

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
