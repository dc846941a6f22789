"""Keys of the Memory screen. Actions without a key are in the menu."""

from __future__ import annotations

from reviewer.tui.kit import keys
from reviewer.tui.kit.action import Action, Pane

NEW_VALUE = Action(
    "state_new", "", "set a value",
    "Set a value of trusted state: first its key, then the value.", writes=True,
)  # fmt: skip
EDIT = Action(
    "state_edit", "e", "edit",
    "Reword this memory, or set when agents get it; that also makes it a guard; for trusted state,"
    " write a new value.",
    writes=True, in_footer="edit, or when agents get it",
)  # fmt: skip
TAKE_OUT = Action(
    "take_out", "x", "take out",
    "Leave this memory out of packets, or retire it; or put it back into the queue, or unset a key"
    " of trusted state; this one, or the marked ones.",
    writes=True, takes_marked=True,
)  # fmt: skip
READ = Action(
    "memory_read", "enter", "read",
    "Read the source around the quote.",
)  # fmt: skip
DISPUTE = Action(
    "dispute", "d", "wrong",
    "Say what is wrong with this memory; it goes back to the queue, and agents no longer get it.",
    writes=True,
)  # fmt: skip
HISTORY = Action(
    "memory_history", "", "its history",
    "Show what was done to this memory, in History.",
)  # fmt: skip
GRADUATE = Action(
    "graduate", "", "graduate",
    "Propose this memory as an entity; the memory is frozen and points to it.", writes=True,
)  # fmt: skip
FORGET = Action(
    "forget", "", "forget",
    "Erase this memory or entity, with its history; this cannot be undone, so it asks first.",
    writes=True,
)  # fmt: skip

MEMORY = Pane(
    "memory", "Memory",
    (EDIT, READ, TAKE_OUT, DISPUTE, keys.WRITE, keys.UNDO, keys.REDO, keys.MARK, keys.MARK_ALL,
     keys.FILTER, keys.MENU, keys.OPEN_EDITOR, keys.COPY, keys.NEXT_PLACE,
     keys.PREVIOUS_PLACE, *keys.PANE_ACTIONS, keys.BACK, keys.REFRESH, keys.PROJECT, HISTORY,
     NEW_VALUE, GRADUATE, FORGET),
    (EDIT, READ, TAKE_OUT, keys.WRITE, DISPUTE, keys.FILTER, keys.UNDO),
)  # fmt: skip
