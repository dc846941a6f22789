"""Keys of the Packet screen and its field."""

from __future__ import annotations

from reviewer.tui.kit import keys
from reviewer.tui.kit.action import Action, Pane

LESS = Action("packet_less", "<,left", "less", "Lower the budget by a step.", "Decide")
MORE = Action("packet_more", ">,right", "more", "Raise the budget by a step.", "Decide")
LESS_FINE = Action("packet_less_fine", "(", "100 less", "Lower the budget by 100 tokens.", "Decide")
MORE_FINE = Action("packet_more_fine", ")", "100 more", "Raise the budget by 100 tokens.", "Decide")
BUDGET = Action("packet_budget", "b", "budget",
    "Type the budget in tokens, a limit in characters (8k 9500 chars), or an agent (codex) for its"
    " own.", "Decide",
)  # fmt: skip
TASK = Action(
    "packet_task", "t", "task", "Type the task of the packet; its words decide the order.",
    "Decide",
)  # fmt: skip
DATE = Action("packet_date", "D", "date", "Type the date from which ages are counted.", "Decide")
PIN = Action(
    "packet_pin", "P", "pin",
    "Put this item first in its section, within the budget; again: no longer.", "Decide",
)  # fmt: skip
MUTE = Action(
    "packet_mute", "m", "mute", "Leave this item out of this packet; again: no longer.", "Decide"
)
CLEAR_CHOICES = Action(
    "packet_clear_choices", "U", "clear pins and mutes",
    "Remove all pins and mutes of this packet.", "Decide",
)  # fmt: skip
OTHER_SOURCE = Action(
    "packet_source", "S", "other source",
    "Read the .context folder here or at the root of the work tree, or the store again.", "Select",
)  # fmt: skip
BOTH = Action(
    "packet_both", "B", "both sources",
    "Read the store and the .context folder together; again: the store alone.", "Select",
)  # fmt: skip
ASK_MODEL = Action(
    "packet_ask_model", "A", "ask the model",
    "Have the model of the settings order the titles for the task, in one call: says first what"
    " that costs, and asks when it is pressed again; once more: the order without the model.",
    "Decide",
)  # fmt: skip
FOLDER = Action(
    "packet_folder", "O", "open folder", "Read a .context folder by its path.", "Select"
)
COMPARE = Action(
    "packet_compare", "d", "compare",
    "Keep this budget beside the next and show what more tokens buy; again: one budget.", "Look",
)  # fmt: skip
MARKS = Action(
    "packet_marks", "M", "marks", "Show in the packet where each item comes from; again: hide it.",
    "Look",
)  # fmt: skip
OPEN_ITEM = Action("packet_open", "enter", "open source", "The same as o.", "Look")
NEXT_SECTION = Action("packet_next_section", "n", "next section", "Go to the next section.", "Move")
PREVIOUS_SECTION = Action(
    "packet_previous_section", "N", "previous section", "Go to the previous section.", "Move"
)
WRITE_FILE = Action("packet_write", "W", "write file", "Write the packet to a file.", "Look")

PACKET = Pane(
    "packet", "Packet",
    (LESS, MORE, LESS_FINE, MORE_FINE, BUDGET, TASK, ASK_MODEL, DATE, PIN, MUTE, CLEAR_CHOICES,
     keys.UNDO, keys.REDO, keys.FILTER, OTHER_SOURCE, BOTH, FOLDER, keys.REFRESH, COMPARE, MARKS,
     keys.OPEN_SOURCE, OPEN_ITEM, keys.COPY, WRITE_FILE, *keys.MOVES, NEXT_SECTION,
     PREVIOUS_SECTION, *keys.PANE_ACTIONS, keys.BACK),
    (LESS, MORE, BUDGET, TASK, COMPARE, PIN, MUTE, keys.COPY, keys.FILTER, OTHER_SOURCE),
)  # fmt: skip

LEAVE_FIELD = Action(
    "packet_leave_field", "escape", "leave", "Leave the field without a change.", "Move"
)
FIELD = Pane("packet_field", "Packet: typing", (LEAVE_FIELD,), (LEAVE_FIELD,))
