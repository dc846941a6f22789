"""Keys of the History screen."""

from __future__ import annotations

from reviewer.tui.kit import keys
from reviewer.tui.kit.action import Action, Pane

UNDO_ACT = Action(
    "undo_this", "x", "undo this one",
    "Undo this act; refused if its rows have changed since.", writes=True,
)  # fmt: skip

HISTORY = Pane(
    "history", "History",
    (keys.UNDO, keys.REDO, UNDO_ACT, keys.FILTER, keys.MENU, *keys.PANE_ACTIONS, keys.BACK,
     keys.REFRESH, keys.PROJECT),
    (keys.UNDO, keys.REDO, UNDO_ACT, keys.FILTER, keys.NEXT_PANE),
)  # fmt: skip
