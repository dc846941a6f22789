"""The keys of the pane in use: what each does, and why some do nothing now."""

from __future__ import annotations

from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import Screen

from reviewer.tui.acting import Acting
from reviewer.tui.actions import Action, actions_of, bindings_for, shown_key
from reviewer.tui.holders import holders
from reviewer.tui.keymap import Keymap
from reviewer.tui.left import LeftOnce
from reviewer.tui.screens.moving import ListMoving
from reviewer.tui.widgets.bars import FooterBar
from reviewer.tui.widgets.help_list import Explanation, HelpList, HelpRow
from reviewer.tui.widgets.line import TitleRule

GROUPS = ("Decide", "Select", "Look", "Move", "Screens")


class HelpScreen(LeftOnce, Acting, ListMoving, Screen[None], inherit_bindings=False):
    """A list of actions; `enter` runs the one under the cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("help")]
    AUTO_FOCUS = "#help-list"

    def __init__(self, below: Screen[Any], keymap: Keymap) -> None:
        """Help for the screen `below`, with the keys of a keymap."""
        super().__init__()
        self._keymap = keymap
        rows = self._rows(below)
        self.rows = HelpList(rows, id="help-list")

    def _rows(self, below: Screen[Any]) -> list[HelpRow]:
        found = holders(below)
        rows: list[HelpRow] = []
        for group in GROUPS:
            members = [(action, node) for action, node in found if action.group == group]
            if members:
                rows.append(HelpRow(heading=group))
            for action, node in members:
                reason = action.why_disabled(node.situation()) if action.why_disabled else None
                keys = " ".join(shown_key(key) for key in self._keymap.keys(action.id))
                rows.append(HelpRow(action=action, node=node, keys=keys, reason=reason))
        return rows

    def compose(self) -> ComposeResult:
        """A title, the list, the reason of the row, the keys."""
        yield TitleRule("Help", id="help-title")
        yield self.rows
        yield Explanation(self.rows.rows, id="status")
        yield FooterBar(id="footer")

    def on_mount(self) -> None:
        """Say where this is."""
        self.query_one(TitleRule).show("Keys here", "enter runs one, esc closes")
        actions: list[Action] = [one for one in actions_of(["help"]) if one.footer]
        self.query_one(FooterBar).show([(one, self._keymap.keys(one.id)[0]) for one in actions])
        self._explain()

    @property
    def moved_list(self) -> HelpList:
        """The moving keys move the list."""
        return self.rows

    @on(HelpList.Moved)
    def _explain(self) -> None:
        row = self.rows.current
        if row.action is not None:
            self.say(row.explanation)

    async def run_here(self) -> None:
        """Close the help and run the action, unless it can do nothing."""
        row = self.rows.current
        if row.action is None or row.node is None or row.reason or not self.is_active:
            return
        await self.app.pop_screen()
        await row.node.action_act(row.action.id)

    def leave(self) -> None:
        """Close the help."""
        self.dismiss()
