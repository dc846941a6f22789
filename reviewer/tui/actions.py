"""All panes and actions, for the keymap, the help and the documentation.

Keys shared by all screens are in `kit/keys.py`, the others in the `keys.py` of their screen.
"""

from __future__ import annotations

from collections.abc import Iterable

from reviewer.tui.agents.keys import AGENTS
from reviewer.tui.context.keys import CONTEXT
from reviewer.tui.evidence.keys import SOURCE
from reviewer.tui.history.keys import HISTORY
from reviewer.tui.kit import keys
from reviewer.tui.kit.action import Action, Pane, shown_key
from reviewer.tui.memory.keys import MEMORY
from reviewer.tui.packet.keys import PACKET
from reviewer.tui.pipelines.keys import PIPELINES
from reviewer.tui.queue.keys import QUEUE
from reviewer.tui.reading.keys import READING
from reviewer.tui.session.keys import SESSION
from reviewer.tui.start.keys import START

PANES: tuple[Pane, ...] = (
    keys.APP,
    START,
    QUEUE,
    CONTEXT,
    PACKET,
    PIPELINES,
    MEMORY,
    HISTORY,
    AGENTS,
    SOURCE,
    SESSION,
    READING,
    keys.MOVING,
    keys.FILTER_FIELD,
    keys.EDIT,
    keys.CHOICE,
)

ACTIONS: dict[str, Action] = {action.id: action for pane in PANES for action in pane.actions}

SHARED = 3
"""Actions on at least this many panes are listed once, under a common heading."""


def key_table() -> str:
    """All keys as Markdown tables, one per pane."""
    shared = [
        action
        for action in ACTIONS.values()
        if sum(action in pane.actions for pane in PANES) >= SHARED
    ]
    lines = _table("Every list", shared)
    for pane in PANES:
        own = [action for action in pane.actions if action not in shared]
        if own:
            lines += _table(pane.heading, own)
    return "\n".join(lines)


def _table(heading: str, actions: Iterable[Action]) -> list[str]:
    lines = [f"## {heading}", "", "| key | action | |", "| --- | --- | --- |"]
    for action in actions:
        names = " ".join(f"`{shown_key(key)}`" for key in action.keys.split(",") if key)
        lines.append(f"| {names or '`?`'} | {action.title} | {action.help} |")
    return [*lines, ""]
