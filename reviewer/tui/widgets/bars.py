"""The lines at the edge of the screen: header, tabs, status and footer."""

from __future__ import annotations

from collections.abc import Sequence

from textual.reactive import reactive

from reviewer.text.display import display_line
from reviewer.tui.actions import Action, shown_key
from reviewer.tui.theme import Glyphs, Palette
from reviewer.tui.widgets.line import Line, Part

FOOTER_KEYS = 7
"""So many keys at most in a footer of 80 columns."""


class HeaderBar(Line):
    """Name, project and how the queue stands."""

    project = reactive("")
    waiting: reactive[int | None] = reactive(None)
    promoted = reactive(0)
    rejected = reactive(0)
    minutes: reactive[int | None] = reactive(None)

    def sides(self, style: Palette, sign: Glyphs) -> tuple[list[Part], list[list[Part]]]:
        """`37 wait · 9 today ✓ · 14 ✗ · ~4 min left`, without the end where it is narrow."""
        left = [(" reviewer", style.accent), ("  " + self.project, style.strong)]
        if self.waiting is None:
            return left, []
        between = f" {sign.dot} "
        short: list[Part] = [(f"{self.waiting:,}", style.strong), (" wait", style.dim)]
        today = [
            *short,
            (f"{between}{self.promoted:,} today ", style.dim),
            (sign.promoted, style.accent),
            (f"{between}{self.rejected:,} ", style.dim),
            (sign.rejected, style.warm),
        ]
        choices = [today, short]
        if self.minutes is not None:
            pace = (f"{between}~{self.minutes} min left", style.dim)
            choices.insert(0, [*today, pace])
        end = (" ", style.text)
        return left, [[*choice, end] for choice in choices]


class TabBar(Line):
    """The screens that exist, with their keys; the one that is shown stands out."""

    current = reactive("queue")
    tabs: Sequence[tuple[str, str, str]] = (
        ("queue", "Queue", "F2"),
        ("state", "State", "F7"),
        ("history", "History", "F8"),
    )

    def sides(self, style: Palette, sign: Glyphs) -> tuple[list[Part], list[list[Part]]]:
        """` Queue F2   History F8` and where help is."""
        parts: list[Part] = [(" ", style.text)]
        for name, title, key in self.tabs:
            here = name == self.current
            parts.append((title, style.strong if here else style.dim))
            parts.append((f" {key}   ", style.accent if here else style.faint))
        return parts, [[("F1", style.accent), (" help ", style.dim)], []]


class StatusBar(Line):
    """What the last key did, in one sentence; on the right where one stands."""

    place = reactive("")
    _text = reactive("")
    _bad = reactive(False)

    def say(self, text: str, *, bad: bool = False) -> None:
        """Show a sentence until the next one."""
        self._text, self._bad = display_line(text), bad

    def recover(self) -> None:
        """The trouble is over: take its sentence away."""
        if self._bad:
            self.say("")

    @property
    def text(self) -> str:
        """The sentence that is shown."""
        return self._text

    def sides(self, style: Palette, sign: Glyphs) -> tuple[list[Part], list[list[Part]]]:
        """The sentence; trouble has a sign before it."""
        left: list[Part] = [(" ", style.text)]
        if self._bad:
            left.append((f"{sign.stale} ", style.warm))
        left.append((self._text, style.text))
        return left, [[(self.place + " ", style.dim)], []]


class FooterBar(Line):
    """The keys that matter most in the pane that has the focus."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._keys: list[tuple[str, str]] = []

    def show(self, keys: Sequence[tuple[Action, str]]) -> None:
        """Actions with the key that runs each, in their order; the last is never cut off."""
        shown = [(shown_key(key), action.title) for action, key in keys]
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
        room = wide - self._cells(last)
        chosen: list[tuple[str, str]] = []
        for pair in first[:most]:
            room -= self._cells(pair)
            if room < 0:
                break
            chosen.append(pair)
        parts: list[Part] = [(" ", style.text)]
        for key, title in [*chosen, last]:
            parts += [(key, style.accent), (f" {title}  ", style.dim)]
        return parts, []

    @staticmethod
    def _cells(pair: tuple[str, str]) -> int:
        return len(pair[0]) + len(pair[1]) + 3
