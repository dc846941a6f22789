"""Keys of the Agents screen."""

from __future__ import annotations

from reviewer.tui.kit import keys
from reviewer.tui.kit.action import Action, Pane

CONNECT = Action(
    "connect_agent", "c", "connect",
    "Show what connecting this agent for all projects would write; pressed again, write it.",
    "Decide", writes=True,
)  # fmt: skip
CONNECT_PROJECT = Action(
    "connect_agent_project", "C", "connect here",
    "The same for this project only; its files may be shared with others.", "Decide", writes=True,
)  # fmt: skip
CONNECT_MEMORY = Action(
    "connect_agent_memory", "m", "memory folder",
    "The same for the memory folder that the agent keeps for this project: what is promoted is"
    " written there and kept up to date (Claude Code, Codex).", "Decide", writes=True,
)  # fmt: skip
DISCONNECT = Action(
    "disconnect_agent", "d", "disconnect",
    "Show what disconnecting this agent would take out; pressed again, do it. The memory"
    " folder goes first, then this project, then all projects.", "Decide", writes=True,
)  # fmt: skip
UNDO = Action(
    "undo_connecting", "u", "undo",
    "Show what taking back the latest connecting or disconnecting here would change; pressed again,"
    " do it.", "Decide", writes=True,
)  # fmt: skip
READ = Action(
    "read_agent", "enter", "read",
    "Fill the screen with what is known of this agent, or go back to the list.", "Look",
)  # fmt: skip

AGENTS = Pane(
    "agents", "Agents",
    (CONNECT, CONNECT_PROJECT, CONNECT_MEMORY, DISCONNECT, UNDO, READ, keys.REFRESH,
     *keys.PANE_ACTIONS, keys.BACK),
    (CONNECT, CONNECT_PROJECT, CONNECT_MEMORY, DISCONNECT, UNDO, READ),
)  # fmt: skip

REACH = Pane("reach", "Which agents get it", (keys.CLOSE,), (keys.CLOSE,))
