"""Keys of the Session screen."""

from __future__ import annotations

from reviewer.tui.kit import keys
from reviewer.tui.kit.action import Action, Pane
from reviewer.tui.reading.keys import HAND_OVER

WORD = Action(
    "word_memory", "e", "word a memory",
    "Word a memory from this line, or the marked ones; they are its evidence, and saving"
    " promotes it.", writes=True, takes_marked=True,
)  # fmt: skip
READ_LINE = Action(
    "read_line", "enter", "read",
    "Show the line over the whole screen; again shows the list.",
)  # fmt: skip

SESSION = Pane(
    "session", "Session",
    (WORD, keys.UNDO, keys.REDO, keys.MARK, keys.FILTER, keys.REFRESH, keys.MENU, READ_LINE,
     keys.OPEN_SOURCE, keys.OPEN_EDITOR, keys.COPY, HAND_OVER, keys.NEXT_PLACE,
     keys.PREVIOUS_PLACE, *keys.PANE_ACTIONS, keys.BACK),
    (WORD, keys.MARK, keys.NEXT_PLACE, keys.FILTER, keys.OPEN_SOURCE, keys.UNDO),
)  # fmt: skip
