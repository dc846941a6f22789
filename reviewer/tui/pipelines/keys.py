"""Keys of the Pipelines screen. Actions without a key are in the menu."""

from __future__ import annotations

from reviewer.tui.kit import keys
from reviewer.tui.kit.action import Action, Pane

RUN = Action(
    "pipeline_run", "r", "run",
    "Run the pipeline from its start; it shows the prompts and commands and asks first.",
    writes=True,
)  # fmt: skip
ENTER = Action(
    "pipeline_enter", "enter", "answer",
    "Answer the run's question; otherwise zoom the text below, or choose a pipeline.",
)  # fmt: skip
CANCEL = Action(
    "pipeline_cancel", "c", "cancel",
    "Stop the run after its current stage; it can be resumed.",
)  # fmt: skip
RESUME = Action(
    "pipeline_resume", "R", "resume",
    "Continue this run from its last checkpoint; it asks first.", writes=True,
)  # fmt: skip
LESS = Action(
    "pipeline_less", "<,left", "less",
    "Show this node's input in a shorter mode; the shortest is truncate.",
)  # fmt: skip
MORE = Action(
    "pipeline_more", ">,right", "more",
    "Show the next longer mode; after full, the session, its last answer.",
    beside=LESS.id,
)  # fmt: skip
CHOOSE = Action(
    "pipeline_choose", "", "pipelines and runs",
    "Choose a pipeline below this folder, or a past run.",
)  # fmt: skip
PIPELINES = Pane(
    "pipelines", "Pipelines",
    (RUN, ENTER, CANCEL, RESUME, LESS, MORE, keys.UNDO, keys.REDO, keys.MENU, keys.OPEN_SOURCE,
     keys.OPEN_EDITOR, keys.COPY, *keys.PANE_ACTIONS, keys.BACK, keys.REFRESH, keys.PROJECT,
     CHOOSE),
    (RUN, ENTER, CANCEL, RESUME, LESS, MORE, keys.COPY, keys.OPEN_SOURCE),
)  # fmt: skip
