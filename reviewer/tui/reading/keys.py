"""Keys of a text to read, and the act that shows a hand-over."""

from __future__ import annotations

from reviewer.tui.kit import keys
from reviewer.tui.kit.action import Action, Pane

HAND_OVER = Action(
    "hand_over", "", "hand-over",
    "Show the hand-over for the next session of an agent, to copy it.", "Look",
)  # fmt: skip

READING = Pane("reading", "A text to read", (keys.COPY, keys.CLOSE), (keys.COPY, keys.CLOSE))
