"""Keys of the first screen."""

from __future__ import annotations

from reviewer.tui.kit import keys
from reviewer.tui.kit.action import Action, Pane

READ = Action(
    "start_reading", "enter", "read",
    "Read the sessions here, or open what waits; nothing leaves this machine.",
)  # fmt: skip
SKIP = Action(
    "start_empty", "escape", "not now",
    "Go to the queue without reading; during a reading, stop and keep the results so far.",
)  # fmt: skip
START = Pane("start", "The first start", (READ, SKIP, keys.QUIT), (READ, SKIP, keys.QUIT))
