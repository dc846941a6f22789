"""Keys of the Export screen."""

from __future__ import annotations

from reviewer.tui.kit import keys
from reviewer.tui.kit.action import Action, Pane

WRITE = Action(
    "write_export", "enter,ctrl+s", "write", "Write the difference, after a backup.",
    "Decide",
)  # fmt: skip
OTHER_PLACE = Action("export_place", "p", "other place", "Name another file or folder.", "Select")
LEAVE_EXPORT = Action("leave_export", "escape,q", "leave", "Leave without writing.", "Move")

EXPORT = Pane(
    "export", "Export", (*keys.MOVES, WRITE, OTHER_PLACE, LEAVE_EXPORT),
    (WRITE, OTHER_PLACE, LEAVE_EXPORT),
)  # fmt: skip
