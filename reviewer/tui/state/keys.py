"""Keys of the Memory screen and its form. An action without a key stands in the menu."""

from __future__ import annotations

from reviewer.tui.evidence.keys import NEXT_PLACE, PREVIOUS_PLACE
from reviewer.tui.kit import keys
from reviewer.tui.kit.action import Action, Pane

NEW_VALUE = Action(
    "state_new", "n", "new value",
    "Write a value of trusted state by hand; the form starts empty.", "Decide", writes=True,
)  # fmt: skip
EDIT = Action(
    "state_edit", "e", "edit",
    "Write a new value of this key (the old one stays), or reword this memory.", "Decide",
    writes=True,
)  # fmt: skip
TAKE_OUT = Action(
    "take_out", "x", "take out",
    "Put this memory or entity back into the queue; a key of trusted state ends, its values stay"
    " readable.",
    "Decide", writes=True,
)  # fmt: skip
GRADUATE = Action(
    "graduate", "", "graduate",
    "Propose this memory as an entity; the memory stays, frozen, and points to it.", "Decide",
    writes=True,
)  # fmt: skip
SUPERSEDE = Action(
    "supersede", "", "supersede",
    "Replace this statement by another of the same kind.", "Decide", writes=True,
)  # fmt: skip
RELATE = Action("relate", "", "relate", "Relate this entity to another.", "Decide", writes=True)
FORGET = Action(
    "forget", "", "forget",
    "Erase this memory or entity for good, with its history; nothing takes it back, so it asks.",
    "Decide", writes=True,
)  # fmt: skip
FOLLOW = Action(
    "follow", "enter", "follow",
    "Go to a fact that this one is related to, contradicts or was made from.", "Look",
)  # fmt: skip
COST = Action(
    "cost", "", "what readers cost",
    "Show what every question to a model cost: in sum, by day, by session.", "Look",
)  # fmt: skip
EXPORT = Action(
    "export", "W", "write file",
    "Write all this as Markdown, JSON Lines, a .context folder or a block in AGENTS.md; the"
    " difference is shown first.",
    "Look",
)  # fmt: skip

STATE = Pane(
    "state", "Memory",
    (NEW_VALUE, EDIT, TAKE_OUT, keys.UNDO, keys.REDO, keys.FILTER, keys.MENU, FOLLOW,
     keys.OPEN_SOURCE, keys.OPEN_EDITOR, keys.COPY, NEXT_PLACE, PREVIOUS_PLACE, EXPORT,
     *keys.PANE_ACTIONS, keys.BACK, keys.REFRESH, keys.PROJECT, GRADUATE, SUPERSEDE, RELATE, FORGET,
     COST, keys.REACH),
    (NEW_VALUE, EDIT, TAKE_OUT, keys.FILTER, keys.UNDO, keys.MENU, EXPORT, FOLLOW),
)  # fmt: skip
FORM = Pane("form", "Memory: writing a value", keys.FORM_ACTIONS, keys.FORM_ACTIONS[:3])
