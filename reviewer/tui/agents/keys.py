"""Keys of the Agents screen."""

from __future__ import annotations

from reviewer.tui.kit import keys
from reviewer.tui.kit.action import Action, Pane

CONNECT = Action(
    "connect_agent", "c", "connect",
    "Show what connecting this agent for all projects would write; c again writes it.", "Decide",
    writes=True,
)  # fmt: skip
DISCONNECT = Action(
    "disconnect_agent", "d", "disconnect",
    "Show what disconnecting this agent would take out; d again does it.", "Decide", writes=True,
)  # fmt: skip
READ = Action(
    "read_agent", "enter", "read",
    "Fill the screen with what is known of this agent, or go back to the list.", "Look",
)  # fmt: skip

AGENTS = Pane(
    "agents", "Agents",
    (CONNECT, DISCONNECT, READ, keys.REFRESH, *keys.MOVES, *keys.PANE_ACTIONS, keys.BACK,
     keys.LEAVE),
    (CONNECT, DISCONNECT, READ, keys.NEXT_PANE, keys.LEAVE),
)  # fmt: skip

CLOSE_REACH = Action("leave_reach", "escape,q,at", "back", "Close this.", "Move")
REACH = Pane("reach", "Which agents get it", (*keys.MOVES, CLOSE_REACH), (CLOSE_REACH,))
