"""Keys of the Pipelines screen."""

from __future__ import annotations

from reviewer.tui.kit import keys
from reviewer.tui.kit.action import Action, Pane

RUN = Action(
    "pipeline_run", "r", "run",
    "Run the pipeline from its start; while stepping, run the rest.", "Decide", writes=True,
)  # fmt: skip
STEP = Action(
    "pipeline_step", "space", "step", "Run one stage, and wait before the next.", "Decide",
    writes=True,
)  # fmt: skip
ENTER = Action(
    "pipeline_enter", "enter", "answer",
    "Answer the question of the run; otherwise fill the screen with the text below.", "Decide",
)  # fmt: skip
CANCEL = Action(
    "pipeline_cancel", "c", "cancel",
    "End the run after its present stage; it can be resumed.", "Decide",
)  # fmt: skip
RESUME = Action(
    "pipeline_resume", "R", "resume",
    "Continue the run that is shown from its last checkpoint.", "Decide", writes=True,
)  # fmt: skip
SWITCH_ENGINE = Action(
    "pipeline_engine", "m", "who answers",
    "Let the model of the settings answer, or the offline stand-in again.", "Decide",
)  # fmt: skip
ALLOW_TOOLS = Action(
    "pipeline_tools", "T", "allow tools",
    "Let the next runs of this pipeline run its shell commands with your rights; again: forbid it.",
    "Decide",
)  # fmt: skip
AS_CONTEXT = Action(
    "pipeline_context", "w", "as context",
    "Open the conversation of the run on the Context screen: the thread of this node,"
    " or all of it.",
    "Decide", writes=True,
)  # fmt: skip
CHOOSE = Action(
    "pipeline_choose", "C", "pipelines",
    "Choose a pipeline: those that have run, and those below this folder.", "Select",
)  # fmt: skip
OPEN_FILE = Action(
    "pipeline_open", "I", "open file", "Open a pipeline by the path of its DOT file.", "Select"
)
PAST_RUNS = Action(
    "pipeline_runs", "P", "past runs", "Choose a run to look at, of any pipeline.", "Select"
)
EDGES = Action(
    "pipeline_edges", "e", "edges",
    "Show every edge as a row, or only where a node has several.", "Select",
)  # fmt: skip
NEXT_WAY = Action(
    "pipeline_way", "n", "next edge in", "Explain the next edge that enters this node.", "Select"
)
REFRESH = Action(
    "pipeline_refresh", "ctrl+r", "read again", "Read the file and the run again.", "Select"
)
MODE_FULL = Action(
    "view_full", "1", "full",
    "Show the thread's session at this node, and the part that a resume would lose.",
    "Look",
)  # fmt: skip
MODE_TRUNCATE = Action(
    "view_truncate", "2", "truncate",
    "Show the preamble of truncate (100 tokens); again: that of the resolved mode.", "Look",
)  # fmt: skip
MODE_COMPACT = Action(
    "view_compact", "3", "compact", "Show the preamble of compact (500 tokens).", "Look"
)
MODE_LOW = Action(
    "view_low", "4", "summary:low", "Show the preamble of summary:low (600 tokens).", "Look"
)
MODE_MEDIUM = Action(
    "view_medium", "5", "summary:medium", "Show the preamble of summary:medium (1,500 tokens).",
    "Look",
)  # fmt: skip
MODE_HIGH = Action(
    "view_high", "6", "summary:high", "Show the preamble of summary:high (3,000 tokens).", "Look"
)
MODE_ALL = Action(
    "view_all", "0", "all modes",
    "Show all six side by side, with tokens and omissions; again: one.", "Look",
)  # fmt: skip
MODE_ANSWER = Action(
    "view_said", "7", "last answer", "Show the last prompt and answer of this node.", "Look"
)

PIPELINES = Pane(
    "pipelines", "Pipelines",
    (RUN, STEP, CANCEL, ENTER, RESUME, SWITCH_ENGINE, ALLOW_TOOLS, AS_CONTEXT, keys.UNDO, CHOOSE,
     OPEN_FILE, PAST_RUNS, EDGES, NEXT_WAY, REFRESH, MODE_FULL, MODE_TRUNCATE, MODE_COMPACT,
     MODE_LOW, MODE_MEDIUM, MODE_HIGH, MODE_ALL, MODE_ANSWER, keys.OPEN_SOURCE, keys.OPEN_EDITOR,
     keys.COPY, *keys.PANE_ACTIONS, keys.BACK),
    (RUN, STEP, CANCEL, ENTER, RESUME, MODE_ALL, NEXT_WAY, CHOOSE, PAST_RUNS, keys.COPY),
)  # fmt: skip
