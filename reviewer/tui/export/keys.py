"""Keys of the Export screen."""

from __future__ import annotations

from reviewer.tui.kit import keys
from reviewer.tui.kit.action import Action, Pane

WRITE = Action("write_export", "W", "write", "Write the difference, after a backup.", "Decide")
OTHER_PLACE = Action("export_place", "", "other place", "Name another file or folder.", "Select")

EXPORT = Pane(
    "export", "Export",
    (WRITE, keys.MENU, keys.CLOSE, OTHER_PLACE),
    (WRITE, keys.CLOSE),
)  # fmt: skip
