"""Keys of the State screen and its form."""

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
UNSET = Action(
    "state_unset", "x", "unset",
    "End this key of trusted state; its values stay readable.", "Decide", writes=True,
)  # fmt: skip
PUT_BACK = Action(
    "put_in_queue", "r,b", "put back", "Put this memory or entity back into the queue.", "Decide",
    writes=True,
)  # fmt: skip
GRADUATE = Action(
    "graduate", "p", "graduate",
    "Propose this memory as an entity; the memory stays, frozen, and points to it.", "Decide",
    writes=True,
)  # fmt: skip
SUPERSEDE = Action(
    "supersede", "S", "supersede",
    "Replace this statement by another of the same kind.", "Decide", writes=True,
)  # fmt: skip
FORGET = Action(
    "forget", "", "forget",
    "Erase this memory or entity for good, with its history; nothing takes it back, so it asks.",
    "Decide", writes=True,
)  # fmt: skip
RELATE = Action("relate", "l", "relate", "Relate this entity to another.", "Decide", writes=True)
FOLLOW = Action(
    "follow", "enter", "follow",
    "Go to a fact that this one is related to, contradicts or was made from.", "Look",
)  # fmt: skip
EARLIER = Action(
    "earlier", "h", "earlier", "Show all earlier values or wordings, or the last three.", "Look"
)
NEXT_GROUP = Action(
    "next_group", "right_curly_bracket", "next type", "Go to the next type.", "Move"
)
PREVIOUS_GROUP = Action(
    "previous_group", "left_curly_bracket", "previous type", "Go to the previous type.", "Move"
)
EXPORT = Action(
    "export", "X", "export",
    "Write all this as Markdown, JSON Lines, a .context folder or a block in AGENTS.md; the"
    " difference is shown first.",
    "Look",
)  # fmt: skip

STATE = Pane(
    "state", "State",
    (NEW_VALUE, EDIT, UNSET, PUT_BACK, GRADUATE, SUPERSEDE, RELATE, FORGET, keys.UNDO, keys.REDO,
     keys.FILTER, keys.REFRESH, keys.MENU, FOLLOW, EARLIER, keys.REACH, keys.OPEN_SOURCE,
     keys.OPEN_EDITOR, keys.COPY, NEXT_PLACE, PREVIOUS_PLACE, EXPORT, *keys.MOVES,
     NEXT_GROUP, PREVIOUS_GROUP, *keys.PANE_ACTIONS, keys.BACK),
    (NEW_VALUE, EDIT, PUT_BACK, GRADUATE, keys.FILTER, keys.UNDO, keys.MENU, EXPORT),
)  # fmt: skip
FORM = Pane("form", "State: writing a value", keys.FORM_ACTIONS, keys.FORM_ACTIONS[:3])
