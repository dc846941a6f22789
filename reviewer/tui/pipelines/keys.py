"""Keys of the Pipelines screen. An action without a key stands in the menu."""

from __future__ import annotations

from reviewer.tui.kit import keys
from reviewer.tui.kit.action import Action, Pane

RUN = Action(
    "pipeline_run", "r", "run",
    "Run the pipeline from its start; while stepping, run the rest.", "Decide", writes=True,
)  # fmt: skip
STEP = Action(
    "pipeline_step", "space", "step",
    "Run one stage, and wait before the next.", "Decide", writes=True,
)  # fmt: skip
ENTER = Action(
    "pipeline_enter", "enter", "answer",
    "Answer the question of the run; otherwise read the text below, or choose a pipeline.",
    "Decide",
)  # fmt: skip
CANCEL = Action(
    "pipeline_cancel", "c", "cancel",
    "End the run after its present stage; it can be resumed.", "Decide",
)  # fmt: skip
RESUME = Action(
    "pipeline_resume", "R", "resume",
    "Continue this run from its last checkpoint.", "Decide", writes=True,
)  # fmt: skip
SWITCH_ENGINE = Action(
    "pipeline_engine", "", "who answers",
    "Let the model of the settings answer, or the offline stand-in again.", "Decide",
)  # fmt: skip
ALLOW_TOOLS = Action(
    "pipeline_tools", "", "allow tools",
    "Let the next runs of this pipeline run its shell commands with your rights; again: forbid"
    " it.", "Decide",
)  # fmt: skip
AS_CONTEXT = Action(
    "pipeline_context", "", "as context",
    "Open the conversation of the run on the Context screen: the thread of this node, or all of"
    " it.", "Decide", writes=True,
)  # fmt: skip
CHOOSE = Action(
    "pipeline_choose", "", "pipelines",
    "Choose a pipeline: those that have run, and those below this folder.", "Select",
)  # fmt: skip
PAST_RUNS = Action(
    "pipeline_runs", "", "past runs",
    "Choose a run to look at, of any pipeline.", "Select",
)  # fmt: skip
MODE_FULL = Action(
    "view_full", "1", "session",
    "Show the session that this node continues; and what a resume would lose of it.", "Look",
    in_footer="to 7 mode",
)  # fmt: skip


def _mode(name: str, key: str, title: str, help_: str) -> Action:
    return Action(f"view_{name}", key, title, help_, "Look", beside=MODE_FULL.id)


MODE_TRUNCATE = _mode("truncate", "2", "truncate", "Show the preamble of truncate (100 tokens).")
MODE_COMPACT = _mode("compact", "3", "compact", "Show the preamble of compact (500 tokens).")
MODE_LOW = _mode("low", "4", "summary:low", "Show the preamble of summary:low (600 tokens).")
MODE_MEDIUM = _mode("medium", "5", "summary:medium", "Show summary:medium (1,500 tokens).")
MODE_HIGH = _mode("high", "6", "summary:high", "Show summary:high (3,000 tokens).")
MODE_ANSWER = _mode("said", "7", "last answer", "Show the last prompt and answer of this node.")

PIPELINES = Pane(
    "pipelines", "Pipelines",
    (RUN, STEP, ENTER, CANCEL, RESUME, MODE_FULL, MODE_TRUNCATE, MODE_COMPACT, MODE_LOW,
     MODE_MEDIUM, MODE_HIGH, MODE_ANSWER, keys.UNDO, keys.REDO, keys.MENU, keys.OPEN_SOURCE,
     keys.OPEN_EDITOR, keys.COPY, *keys.PANE_ACTIONS, keys.BACK, keys.REFRESH, keys.PROJECT,
     CHOOSE, PAST_RUNS, SWITCH_ENGINE, ALLOW_TOOLS, AS_CONTEXT),
    (RUN, STEP, ENTER, CANCEL, RESUME, MODE_FULL, keys.COPY, keys.OPEN_SOURCE),
)  # fmt: skip
