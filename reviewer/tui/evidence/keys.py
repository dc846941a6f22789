"""Keys of the screen with the source of a memory."""

from __future__ import annotations

from reviewer.tui.kit import keys
from reviewer.tui.kit.action import Action, Pane

READ_FILE = Action(
    "read_file", "r", "read",
    "Read the file again; one that is not on this machine is fetched.", "Look",
)  # fmt: skip
COPY_PLACE = Action(
    "copy_place", "y", "copy path:line",
    "Copy the file's path and line (OSC 52).", "Look",
)  # fmt: skip
SOURCE = Pane(
    "source", "Source",
    (READ_FILE, keys.OPEN_EDITOR, COPY_PLACE, keys.CLOSE),
    (READ_FILE, keys.OPEN_EDITOR, COPY_PLACE, keys.CLOSE),
)  # fmt: skip
