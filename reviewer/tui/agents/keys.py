"""Keys of the Agents screen."""

from __future__ import annotations

from reviewer.tui.kit import keys
from reviewer.tui.kit.action import Action, Pane

CONNECT = Action(
    "connect_agent", "c", "connect",
    "Connect this agent; you see the changes first.", writes=True,
)  # fmt: skip
DISCONNECT = Action(
    "disconnect_agent", "d", "disconnect",
    "Disconnect this agent; you see the changes first. Order: its memory folder, this project, all"
    " projects.", writes=True,
)  # fmt: skip
READ = Action("read_agent", "enter", "read", "Zoom the details of this agent, or go back.")

AGENTS = Pane(
    "agents", "Agents",
    (CONNECT, DISCONNECT, keys.UNDO, keys.REDO, READ, keys.MENU, keys.REFRESH, keys.PROJECT,
     *keys.PANE_ACTIONS, keys.BACK),
    (CONNECT, DISCONNECT, READ),
)  # fmt: skip
