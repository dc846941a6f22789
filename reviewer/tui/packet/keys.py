"""Keys of the Packet screen. Actions without a key are in the menu and the help."""

from __future__ import annotations

from reviewer.tui.kit import keys
from reviewer.tui.kit.action import Action, Pane
from reviewer.tui.memory.keys import TAKE_OUT

LESS = Action("packet_less", "<,left", "less", "Lower the budget one step.")
MORE = Action(
    "packet_more", ">,right", "more",
    "Raise the budget one step.", beside=LESS.id,
)  # fmt: skip
BUDGET = Action(
    "packet_budget", "b", "budget",
    "Type a budget in tokens: 8000, 8,000 or 8k.",
)  # fmt: skip
TASK = Action(
    "packet_task", "t", "task",
    "Type the task for the packet; items are ranked by it.",
)  # fmt: skip
PIN = Action(
    "packet_pin", "P", "pin",
    "First in its section. Again: unpin.", writes=True,
)  # fmt: skip
READ = Action(
    "packet_read", "enter", "read",
    "Read the text of the packet, at this item; again: show the items.",
)  # fmt: skip
OTHER_SOURCE = Action(
    "packet_source", "", "other source",
    "Use the store, or the .context folder here.",
)  # fmt: skip

PACKET = Pane(
    "packet", "Packet",
    (LESS, MORE, BUDGET, TASK, READ, PIN, TAKE_OUT, keys.UNDO, keys.REDO, keys.FILTER, keys.MENU,
     keys.OPEN_SOURCE, keys.COPY, keys.REFRESH, keys.PROJECT, *keys.PANE_ACTIONS,
     keys.BACK, OTHER_SOURCE),
    (READ, LESS, MORE, BUDGET, TASK, PIN, TAKE_OUT, keys.COPY, keys.FILTER),
)  # fmt: skip
