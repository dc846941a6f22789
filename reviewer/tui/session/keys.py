"""Keys of the Session screen."""

from __future__ import annotations

from reviewer.tui.handover.keys import HAND_OVER
from reviewer.tui.kit import keys
from reviewer.tui.kit.action import Action, Pane

WORD = Action(
    "word_memory", "e", "word a memory",
    "Word a memory from this line, or the marked ones; they are its evidence, and saving"
    " promotes it.", "Decide", writes=True, takes_marked=True,
)  # fmt: skip
NEXT_SPOT = Action(
    "next_spot", "right_square_bracket", "next spot",
    "Go to the next place to look; a line that is cited, an error or a refused call.", "Move",
)  # fmt: skip
PREVIOUS_SPOT = Action(
    "previous_spot", "left_square_bracket", "previous spot",
    "Go to the previous line of that kind.", "Move",
)  # fmt: skip
READ_LINE = Action(
    "read_line", "enter", "read",
    "Show the line over the whole screen; again shows the list.", "Look",
)  # fmt: skip

SESSION = Pane(
    "session", "Session",
    (WORD, keys.UNDO, keys.REDO, keys.MARK, keys.RANGE, keys.FILTER, keys.REFRESH, keys.MENU,
     READ_LINE, keys.OPEN_SOURCE, keys.OPEN_EDITOR, keys.COPY, HAND_OVER, NEXT_SPOT,
     PREVIOUS_SPOT, *keys.PANE_ACTIONS, keys.BACK),
    (WORD, keys.MARK, NEXT_SPOT, keys.FILTER, keys.OPEN_SOURCE, keys.UNDO, keys.MENU),
)  # fmt: skip
