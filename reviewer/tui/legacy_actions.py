"""The one registry of what a key can do.

Footer, help, palette, keymap overrides and the README's key table are made from `ACTIONS`. To
change a key, change it in the table of its screen in `keys/`. `run` is an attribute path from the
node that carries the binding (a screen, a pane or the app), called without arguments.
"""

from __future__ import annotations

from collections.abc import Iterable

from textual.binding import Binding

from reviewer.tui.action import Action as Action
from reviewer.tui.keys import (
    everywhere,
    moving,
    typing,
)

PANES = {
    "app": "Everywhere",
    "queue": "Queue",
    "text": "Candidate and evidence",
    "filter": "Filter",
    "edit": "Edit",
    "commits": "Commits",
    "retain": "Commits: what must survive",
    "packet": "Packet",
    "packet_field": "Packet: typing",
    "pipelines": "Pipelines",
    "source": "Source",
    "state": "State",
    "form": "State: writing a value",
    "choose": "Choosing",
    "export": "Export",
    "why": "Why do I know this?",
    "history": "History",
    "help": "Help",
}
"""Where keys hold, with the heading that help and the README give them."""

_TABLE: tuple[Action, ...] = (
    *typing.TABLE,
    *moving.TABLE,
    *everywhere.TABLE,
)

ACTIONS: dict[str, Action] = {action.id: action for action in _TABLE}


def actions_of(panes: Iterable[str]) -> list[Action]:
    """The actions that hold in any of some panes, in the order of the registry."""
    wanted = set(panes)
    return [action for action in _TABLE if wanted.intersection(action.panes)]


def bindings_for(pane: str) -> list[Binding]:
    """The Textual bindings of a pane; a keymap finds them by their ids."""
    return [
        Binding(
            action.keys,
            f"act('{action.id}')",
            action.title,
            show=False,
            priority=action.id == "quit",
            id=action.id,
        )
        for action in actions_of([pane])
        if action.keys
    ]


_SHOWN = {
    "question_mark": "?",
    "left_curly_bracket": "{",
    "right_curly_bracket": "}",
    "colon": ":",
    "asterisk": "*",
    "slash": "/",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "plus": "+",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "left_parenthesis": "(",
    "right_parenthesis": ")",
    "underscore": "_",
    "escape": "esc",
    "pagedown": "pgdn",
    "pageup": "pgup",
}


def shown_key(key: str) -> str:
    """A key as a person reads it: `?` for `question_mark`, `F2` for `f2`."""
    if len(key) > 1 and key[0] == "f" and key[1:].isdigit():
        return key.upper()
    return _SHOWN.get(key, key)


MANY = 5
"""An action of so many panes stands once, under a heading of its own."""


def key_table() -> str:
    """Every key as a Markdown table, one for each pane, for the README."""
    shared = [action for action in _TABLE if len(action.panes) >= MANY]
    lines = _table_of("Every list", shared)
    for pane, heading in PANES.items():
        own = [action for action in actions_of([pane]) if action not in shared]
        if own:
            lines += _table_of(heading, own)
    return "\n".join(lines)


def _table_of(heading: str, actions: Iterable[Action]) -> list[str]:
    lines = [f"**{heading}**", "", "| key | does |", "| --- | --- |"]
    for action in actions:
        keys = " ".join(f"`{shown_key(key)}`" for key in action.keys.split(",") if key)
        lines.append(f"| {keys or 'palette'} | {action.help} |")
    return [*lines, ""]
