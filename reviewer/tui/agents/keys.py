"""Keys of the Agents screen."""

from __future__ import annotations

from reviewer.tui.kit import keys
from reviewer.tui.kit.action import Action, Pane

CONNECT = Action(
    "connect_agent", "c", "connect",
    "Choose for which projects, see what connecting this agent would write, and agree or not.",
    "Decide", writes=True,
)  # fmt: skip
DISCONNECT = Action(
    "disconnect_agent", "d", "disconnect",
    "See what disconnecting this agent would take out, and agree or not; the memory folder goes"
    " first, then this project, then all projects.", "Decide", writes=True,
)  # fmt: skip
UNDO = Action(
    "undo_connecting", "u", "undo",
    "See what taking back the latest connecting or disconnecting here would change, and agree or"
    " not.", "Decide", writes=True,
)  # fmt: skip
READ = Action(
    "read_agent", "enter", "read",
    "Fill the screen with what is known of this agent, or go back to the list.", "Look",
)  # fmt: skip

AGENTS = Pane(
    "agents", "Agents",
    (CONNECT, DISCONNECT, UNDO, READ, keys.REFRESH, keys.PROJECT,
     *keys.PANE_ACTIONS, keys.BACK),
    (CONNECT, DISCONNECT, UNDO, READ),
)  # fmt: skip

REACH = Pane("reach", "Which agents get it", (keys.CLOSE,), (keys.CLOSE,))
