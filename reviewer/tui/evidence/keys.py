"""Keys of the Source screen."""

from __future__ import annotations

from reviewer.tui.kit import keys
from reviewer.tui.kit.action import Action, Pane

COPY_PLACE = Action(
    "copy_place", "y", "copy path:line",
    "Copy the file's path and line (OSC 52).",
)  # fmt: skip
SOURCE = Pane(
    "source", "Source",
    (keys.OPEN_EDITOR, COPY_PLACE, keys.CLOSE),
    (keys.OPEN_EDITOR, COPY_PLACE, keys.CLOSE),
)  # fmt: skip
