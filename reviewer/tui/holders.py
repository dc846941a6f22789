"""Which actions hold where the focus is, each with the node that runs it."""

from __future__ import annotations

from typing import Any

from textual.screen import Screen

from reviewer.tui.acting import Acting
from reviewer.tui.actions import ACTIONS, Action


def holders(screen: Screen[Any]) -> list[tuple[Action, Acting]]:
    """The actions that a key can reach from the focused widget outwards, inner ones first.

    An action of an inner pane hides one of an outer pane with the same keys.
    """
    found: list[tuple[Action, Acting]] = []
    seen: set[str] = set()
    taken: set[str] = set()
    focused = screen.focused
    chain = [*(focused.ancestors_with_self if focused is not None else (screen,)), screen.app]
    for node in dict.fromkeys(chain):
        if not isinstance(node, Acting):
            continue
        fresh: set[str] = set()
        for binding in type(node).BINDINGS:
            name = getattr(binding, "id", None)
            if name is None or name in seen or name not in ACTIONS:
                continue
            keys = set(ACTIONS[name].keys.split(",")) - {""}
            if keys and keys <= taken:
                continue
            fresh |= keys
            seen.add(name)
            found.append((ACTIONS[name], node))
        taken |= fresh
    return found
