"""Keys of the Hand-over screen."""

from __future__ import annotations

from reviewer.tui.kit import keys
from reviewer.tui.kit.action import Action, Pane

HAND_OVER = Action(
    "hand_over", "", "hand-over",
    "Show the hand-over for the next session of an agent, to copy it or write it to a file.",
    "Look",
)  # fmt: skip
OTHER_TEXT = Action(
    "handover_other", "K", "hand-over / keep",
    "Show what a compaction must keep; as instructions for /compact. Again: the hand-over.",
    "Select",
)  # fmt: skip
LESS = Action("handover_less", "<,left", "shorter", "Use fewer tokens.", "Select")
MORE = Action("handover_more", ">,right", "longer", "Use more tokens.", "Select", beside=LESS.id)
WRITE = Action("handover_write", "W", "write file", "Write the text to a file.", "Look")
TAKE_BACK = Action(
    "handover_take_back", "u", "take the file back",
    "Take back the file that was written here.", "Look",
)  # fmt: skip

HANDOVER = Pane(
    "handover", "Hand-over",
    (keys.COPY, WRITE, TAKE_BACK, OTHER_TEXT, LESS, MORE, keys.REFRESH, keys.CLOSE),
    (keys.COPY, WRITE, keys.CLOSE, OTHER_TEXT, LESS, MORE, TAKE_BACK),
)  # fmt: skip
