"""The keys that work with the present focus: what each does, and why some cannot be used now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from textual import on
from textual.app import ComposeResult
from textual.screen import Screen
from textual.strip import Strip

from reviewer.text.signs import MEANINGS
from reviewer.tui.kit import keys
from reviewer.tui.kit.action import Action, shown_key
from reviewer.tui.kit.actor import Actor, reachable
from reviewer.tui.kit.bars import StatusBar
from reviewer.tui.kit.line import TitleRule, cut, line_of
from reviewer.tui.kit.row_list import LoadedList, RowList
from reviewer.tui.kit.screen import KitScreen
from reviewer.tui.kit.text import wrap
from reviewer.tui.theme import Glyphs, Palette, glyphs, palette

if TYPE_CHECKING:
    from reviewer.tui.kit.host import Host

KEY_CELLS = 16


@dataclass(frozen=True)
class HelpRow:
    """An action with the node that runs it, or a sign."""

    title: str
    action: Action | None = None
    node: Actor | None = None
    keys: str = ""
    reason: str | None = None
    """Why the action cannot run now."""
    meaning: str = ""
    """The meaning of a sign; `keys` is then the sign."""

    @property
    def explanation(self) -> str:
        return self.reason or (self.action.help if self.action else self.meaning)


class HelpScreen(KitScreen, pane=keys.HELP_LIST):
    """A list of actions; `enter` runs the one under the cursor."""

    AUTO_FOCUS = "#help-list"

    def __init__(self, host: Host, below: Screen[Any]) -> None:
        """Help for the screen `below`."""
        super().__init__(host.engine, host.project)
        self.list = HelpList(help_rows(host, below), id="help-list")
        self.status = Explanation(self.list.rows, id="status")

    def compose(self) -> ComposeResult:
        yield TitleRule("Help", id="help-title")
        yield self.list
        yield self.status
        yield self.footer

    def on_mount(self) -> None:
        self.query_one(TitleRule).show(
            "Keys here", f"{keys.RUN_HERE.key} runs one, {keys.CLOSE_HELP.key} closes"
        )
        self._explain()

    @on(RowList.Moved)
    def _explain(self) -> None:
        self.status.say(self.list.current.explanation)

    async def action_run_here(self) -> None:
        """Close the help and run the action, unless it cannot run now."""
        row = self.list.current
        if row.action is None or row.node is None or row.reason or not self.is_active:
            return
        await self.app.pop_screen()
        await row.node.perform(row.action)

    def action_leave_help(self) -> None:
        self.dismiss()


def help_rows(host: Host, below: Screen[Any]) -> list[HelpRow]:
    """The actions that keys reach on a screen, most useful first, then what the signs mean.

    An action that stands beside another one adds its key to that row.
    """
    found = [(action, node) for action, node in reachable(below)]
    keys_of: dict[str, list[str]] = {}
    for action, _ in found:
        shown = [shown_key(key) for key in host.keymap_in_use.keys(action)]
        if shown:
            keys_of.setdefault(action.beside or action.id, []).append(shown[0])
    known = {action.id for action, _ in found}
    rows = [
        HelpRow(
            node.title_of(action), action, node, " ".join(keys_of[action.id]), node.why_not(action)
        )
        for action, node in found
        if action.id in keys_of and action.beside not in known
    ]
    first = [action.id for action in _most_useful(below)]
    rows.sort(key=lambda row: _place(row, first))
    return [*rows, *legend(host.glyphs)]


def _place(row: HelpRow, first: Sequence[str]) -> int:
    return first.index(row.action.id) if row.action and row.action.id in first else len(first)


def _most_useful(below: Screen[Any]) -> list[Action]:
    """The actions that the footer of a screen names, most useful first."""
    if not isinstance(below, KitScreen):
        return []
    return [action for action, _ in below.footer_actions()]


def legend(signs: Glyphs) -> list[HelpRow]:
    """What the signs beside rows mean, in two rows."""
    words = [f"{getattr(signs, name)} {title}" for name, (title, _) in MEANINGS.items()]
    half = (len(words) + 1) // 2
    return [
        HelpRow("signs", keys="", meaning="   ".join(words[:half])),
        HelpRow("", keys="", meaning="   ".join(words[half:])),
    ]


class HelpList(LoadedList[HelpRow]):
    """Actions in columns: key, name, effect or why it cannot run now."""

    def __init__(self, rows: Sequence[HelpRow], *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(rows, id=id)
        self._title_cells = max((len(row.title) + 2 for row in rows), default=0)

    @property
    def current(self) -> HelpRow:
        return self.rows[self._cursor] if self.rows else HelpRow("")

    def row_strip(self, at: int, width: int, style: Palette, sign: Glyphs) -> Strip:
        row = self.rows[at]
        here = at == self._cursor
        text, _, dim, key, _ = style.on_row(here=here)
        names = cut(row.keys, KEY_CELLS - 2, sign.ellipsis).ljust(KEY_CELLS)
        parts = [
            (sign.bar if here else " ", key),
            ("  " + names, dim if row.reason else key),
            (row.title.ljust(self._title_cells), dim if row.reason else text),
            (row.explanation, dim),
        ]
        return line_of(parts, width, text, sign.ellipsis)


class Explanation(StatusBar):
    """The whole sentence about the row under the cursor, with room for the longest."""

    def __init__(self, rows: Sequence[HelpRow], *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._sentences = [row.explanation for row in rows]
        self._fitted = 0

    def _fit(self) -> None:
        width = max(self.size.width - 2, 8)
        if width != self._fitted:
            self._fitted = width
            lines = (len(wrap(each, width)) for each in self._sentences)
            self.styles.height = max(lines, default=1)

    def render_line(self, y: int) -> Strip:
        style, sign = palette(self.app), glyphs(self.app)
        ranges = wrap(self.text, max(self.size.width - 2, 8))
        words = self.text[slice(*ranges[y])] if y < len(ranges) else ""
        return line_of([(f" {words}", style.text)], self.size.width, style.text, sign.ellipsis)
