"""The command palette: every action that works here, found by its name."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from functools import partial
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.command import CommandInput, CommandList, CommandPalette, DiscoveryHit, Hit, Provider
from textual.markup import escape

from reviewer.tui.kit import keys
from reviewer.tui.kit.action import Action, shown_key
from reviewer.tui.kit.actor import Actor, DismissOnce, reachable

_WORD = re.compile(r"\w+")
CALLED_SCORE = 2.0
"""Ranks a word that people use for an action above letters that are scattered in a title."""
HELP_SCORE = 0.01
"""Ranks a match in the help below every match in a title."""
CALLED = {
    "promote": "accept approve keep yes confirm save",
    "reject": "delete remove decline dismiss no drop",
    "reject_why": "delete remove because",
    "edit": "reword rewrite change text fix wording rename",
    "defer": "snooze later postpone skip",
    "restore": "reopen unreject back requeue",
    "type": "kind category class retype",
    "name": "rename title",
    "merge": "combine join duplicate",
    "read_sessions": "import load ingest scan transcripts",
    "ask_model": "ai llm generate propose",
    "status": "archive rejected accepted deleted promoted",
    "sort": "rank order by",
    "filter": "search find",
    "undo": "revert take back",
    "redo": "repeat again",
    "refresh": "reload update",
    "mark": "select tick check",
    "copy": "clipboard yank",
    "open_source": "file view",
    "open_editor": "vim code file",
    "quit": "exit close leave",
    "switch_theme": "colours colors night day mode",
    "zoom": "maximise maximize enlarge full screen",
    "help": "keys shortcuts",
    "show_memory": "memories facts",
    "show_history": "log ledger",
    "show_packet": "export context",
    "show_agents": "connect claude codex gemini mcp hooks",
    "show_context": "compress summary compact commits transcript session",
    "show_pipelines": "workflow graph dot",
}
"""Other words that people use for an action."""
LONGEST = 100
"""Most characters of a query."""


class Palette(DismissOnce, CommandPalette):
    """Textual's palette over our actions."""

    # A modal screen hides the keys of the app.
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(each.keys, f"go_to({at})", show=False, id=each.id)
        for at, each in enumerate(keys.SCREENS)
    ]

    def __init__(self) -> None:
        super().__init__(providers=[ActionProvider], placeholder="Find an action")

    async def action_go_to(self, number: int) -> None:
        """Close the palette and go to another screen."""
        app = self.app
        if self.is_active and isinstance(app, Actor):
            await app.pop_screen()
            await app.perform(keys.SCREENS[number])

    def on_mount(self) -> None:
        # A pasted text of megabytes would be compared with every action for hours.
        self.query_one(CommandInput).max_length = LONGEST

    def _action_command_list(self, action: str) -> None:
        # A list without a size yet has no lines, and turning its page raises KeyError.
        if self.query_one(CommandList).scrollable_content_region:
            super()._action_command_list(action)


class ActionProvider(Provider):
    """Actions with their keys; one that cannot run now says why."""

    async def discover(self) -> AsyncIterator[DiscoveryHit]:
        """Every action, for an empty query."""
        for action, node in self._actions():
            yield DiscoveryHit(
                self._title(action, node),
                partial(node.perform, action),
                help=_help(action, node),
            )

    async def search(self, query: str) -> AsyncIterator[Hit]:
        """The actions whose title matches or that people call so, then those whose help has words
        with that beginning.
        """
        matcher = self.matcher(query)
        for action, node in self._actions():
            title = self._title(action, node)
            score = matcher.match(title) or (HELP_SCORE if _has_words(query, action.help) else 0)
            if _has_words(query, CALLED.get(action.id, "")):
                score = max(score, CALLED_SCORE)
            if score > 0:
                yield Hit(
                    score,
                    matcher.highlight(title),
                    partial(node.perform, action),
                    help=_help(action, node),
                )

    def _title(self, action: Action, node: Actor) -> str:
        names = node.host.keymap_in_use.keys(action)
        return action.title + (f"   {shown_key(names[0])}" if names else "")

    def _actions(self) -> Iterator[tuple[Action, Actor]]:
        for action, node in reachable(self.screen):
            if action.group != "Move":
                yield action, node


def _has_words(query: str, text: str) -> bool:
    """Whether each word of a query begins some word of a text."""
    words = _WORD.findall(text.casefold())
    asked = _WORD.findall(query.casefold())
    return bool(asked) and all(any(word.startswith(one) for word in words) for one in asked)


def _help(action: Action, node: Actor) -> str:
    # The palette reads markup, and a reason may name a file.
    return escape(node.why_not(action) or action.help)
