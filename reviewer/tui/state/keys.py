"""Keys of the Memory screen. An action without a key stands in the menu."""

from __future__ import annotations

from reviewer.tui.kit import keys
from reviewer.tui.kit.action import Action, Pane

NEW_VALUE = Action(
    "state_new", "n", "new value",
    "Write a value of trusted state by hand: its key, then the value.", "Decide", writes=True,
)  # fmt: skip
EDIT = Action(
    "state_edit", "e", "edit",
    "Reword this memory, or say when it is recalled; write a new value of trusted state.",
    "Decide", writes=True,
)  # fmt: skip
TAKE_OUT = Action(
    "take_out", "x", "take out",
    "Put this memory or entity back into the queue; a key of trusted state ends, its values stay"
    " readable.", "Decide", writes=True,
)  # fmt: skip
DISPUTE = Action(
    "dispute", "d", "wrong",
    "Say what is wrong with this memory: it waits in the queue, and no agent gets it meanwhile.",
    "Decide", writes=True,
)  # fmt: skip
GRADUATE = Action(
    "graduate", "", "graduate",
    "Propose this memory as an entity; the memory stays, frozen, and points to it.",
    "Decide", writes=True,
)  # fmt: skip
FORGET = Action(
    "forget", "", "forget",
    "Erase this memory or entity for good, with its history; nothing takes it back, so it asks.",
    "Decide", writes=True,
)  # fmt: skip
FOLLOW = Action(
    "follow", "enter", "follow",
    "Go to a related fact; to one that it contradicts or was made from.", "Look",
)  # fmt: skip

STATE = Pane(
    "state", "Memory",
    (NEW_VALUE, EDIT, TAKE_OUT, DISPUTE, keys.UNDO, keys.REDO, keys.FILTER, keys.MENU, FOLLOW,
     keys.OPEN_SOURCE, keys.OPEN_EDITOR, keys.COPY, keys.NEXT_PLACE, keys.PREVIOUS_PLACE,
     *keys.PANE_ACTIONS, keys.BACK, keys.REFRESH, keys.PROJECT, GRADUATE, FORGET,
     keys.REACH),
    (NEW_VALUE, EDIT, TAKE_OUT, DISPUTE, keys.FILTER, keys.UNDO, FOLLOW),
)  # fmt: skip
