"""Keys of the Reading screen, and the action that opens a hand-over in it."""

from __future__ import annotations

from reviewer.tui.kit import keys
from reviewer.tui.kit.action import Action, Pane

HAND_OVER = Action(
    "hand_over", "h", "hand over",
    "Show the hand-over for the next session; copy it there.",
)  # fmt: skip

READING = Pane("reading", "A text to read", (keys.COPY, keys.CLOSE), (keys.COPY, keys.CLOSE))
