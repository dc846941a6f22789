"""Keys of the Context screen. An action without a key is in the menu and the help."""

from __future__ import annotations

from reviewer.tui.kit import keys
from reviewer.tui.kit.action import Action, Pane
from reviewer.tui.reading.keys import HAND_OVER

FULL = Action(
    "level_full", "1", "full",
    "Look at this segment whole, or at another level; the same key again uses the level.",
    writes=True, in_footer="to 4 level",
)  # fmt: skip


def _level(name: str, key: str, help_: str) -> Action:
    return Action(f"level_{name}", key, name, help_, writes=True, beside=FULL.id)


DETAILED = _level("detailed", "2", "About a third, in order, with speakers.")
BRIEF = _level("brief", "3", "About a tenth: goal, decisions, state, failures.")
TAGS = _level("tags", "4", "About a fiftieth: its tags.")
LEVELS = (FULL, DETAILED, BRIEF, TAGS)
APPLY = Action(
    "apply_levels", "a", "apply",
    "Replace segments with their summaries; reviewer compile gives them to an agent.", writes=True,
)  # fmt: skip
EDIT = Action(
    "edit_text", "e", "edit",
    "Write this summary by hand; or let the model.", writes=True,
)  # fmt: skip
FIT = Action(
    "fit_target", "f", "fit",
    "Choose levels for a number of tokens; or one for all. What you said stays longest.",
    writes=True,
)  # fmt: skip
PIN = Action(
    "pin", "P", "pin",
    "Always send this whole; of a segment, what you said; again makes it normal.", writes=True,
)  # fmt: skip
IMPORTANT = Action(
    "make_important", "i", "important",
    "Compress this with more care; of a segment, what you said; again makes it normal.",
    writes=True, beside=PIN.id,
)  # fmt: skip
LEAVE_OUT = Action(
    "make_skip", "x", "skip",
    "Leave this out of the agent's context; again makes it normal.", writes=True,
)  # fmt: skip
SURVIVE = Action(
    "retain", "m", "must survive",
    "Keep a loss in every summary; or a text, a wish, a whole turn; or nothing.", writes=True,
)  # fmt: skip
OPEN = Action(
    "open_row", "enter", "turns",
    "Show the turns of this segment, or hide them; read an applied summary.",
)  # fmt: skip
CONTEXTS = Action("choose_context", "", "other session", "Choose another session.")
ASK_MODEL = Action(
    "ask_model", "", "ask the model",
    "Let the model write this segment, or every one that is not Full.", writes=True,
    beside=EDIT.id,
)  # fmt: skip

CONTEXT = Pane(
    "context", "Context",
    (*LEVELS, APPLY, EDIT, FIT, PIN, IMPORTANT, LEAVE_OUT, SURVIVE, keys.UNDO, keys.REDO, OPEN,
     keys.FILTER, keys.OPEN_SOURCE, keys.NEXT_PLACE, keys.PREVIOUS_PLACE, keys.COPY, keys.MENU,
     *keys.PANE_ACTIONS, keys.BACK, keys.REFRESH, keys.PROJECT, CONTEXTS,
     ASK_MODEL, HAND_OVER),
    (APPLY, keys.UNDO, FIT, OPEN, PIN, FULL, LEAVE_OUT, HAND_OVER, SURVIVE, keys.COPY),
)  # fmt: skip
