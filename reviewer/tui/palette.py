"""The command palette: every action that holds here, found by its name."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from functools import partial
from typing import Any

from textual.command import CommandInput, CommandList, CommandPalette, DiscoveryHit, Hit, Provider
from textual.markup import escape

from reviewer.tui.acting import Acting
from reviewer.tui.actions import ACTIONS, Action, shown_key
from reviewer.tui.holders import holders
from reviewer.tui.left import LeftOnce

_WORD = re.compile(r"\w+")
_HIDDEN_GROUPS = {"Move"}
HELP_SCORE = 0.01
"""Below every match in a title."""
LONGEST = 100
"""Characters that can be asked for."""


class Palette(LeftOnce, CommandPalette):
    """Textual's palette over our actions, whatever is pressed before it is drawn."""

    def __init__(self) -> None:
        super().__init__(providers=[ActionProvider], placeholder="Find an action")

    def on_mount(self) -> None:
        """A text of megabytes, pasted by mistake, would be compared with every action for hours."""
        self.query_one(CommandInput).max_length = LONGEST

    def _action_command_list(self, action: str) -> None:
        # A list that takes no room yet knows no lines, and turning its page raises KeyError.
        if self.query_one(CommandList).scrollable_content_region:
            super()._action_command_list(action)


class ActionProvider(Provider):
    """Actions with their keys; one that does nothing now says why."""

    async def discover(self) -> AsyncIterator[DiscoveryHit]:
        """Every action, before anything is typed."""
        for action, node in self._actions():
            yield DiscoveryHit(
                self._title(action), partial(node.action_act, action.id), help=_help(action, node)
            )

    async def search(self, query: str) -> AsyncIterator[Hit]:
        """The actions whose title matches, then those whose help has words that begin so."""
        matcher = self.matcher(query)
        for action, node in self._actions():
            title = self._title(action)
            score = matcher.match(title) or (HELP_SCORE if _told(query, action.help) else 0)
            if score > 0:
                yield Hit(
                    score,
                    matcher.highlight(title),
                    partial(node.action_act, action.id),
                    help=_help(action, node),
                )

    def _title(self, action: Action) -> str:
        keymap: Any = getattr(self.app, "keymap_in_use", None)
        keys = keymap.keys(action.id) if keymap else ()
        return action.title + (f"   {shown_key(keys[0])}" if keys else "")

    def _actions(self) -> Iterator[tuple[Action, Acting]]:
        app = self.app
        reached = holders(self.screen)
        yield from ((one, node) for one, node in reached if one.group not in _HIDDEN_GROUPS)
        names = {action.id for action, _ in reached}
        if isinstance(app, Acting):
            yield from (
                (one, app) for one in ACTIONS.values() if "app" in one.panes and one.id not in names
            )


def _told(query: str, text: str) -> bool:
    """Whether each word of a query begins some word of a text."""
    words = _WORD.findall(text.casefold())
    asked = _WORD.findall(query.casefold())
    return bool(asked) and all(any(word.startswith(one) for word in words) for one in asked)


def _help(action: Action, node: Acting) -> str:
    reason = action.why_disabled(node.situation()) if action.why_disabled else None
    return escape(reason or action.help)  # the palette reads markup, and a reason may name a file
