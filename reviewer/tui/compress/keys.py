"""Keys of the Compress screen."""

from __future__ import annotations

from reviewer.tui.handover.keys import HAND_OVER
from reviewer.tui.kit import keys
from reviewer.tui.kit.action import Action, Pane

FULL = Action("level_full", "1", "full", "Show this segment at Full: the original.", "Decide")
DETAILED = Action(
    "level_detailed", "2", "detailed",
    "Show this segment at Detailed: about a third, in order, with speakers.", "Decide",
)  # fmt: skip
BRIEF = Action(
    "level_brief", "3", "brief",
    "Show this segment at Brief: about a tenth: goal, decisions, state, failures.", "Decide",
)  # fmt: skip
TAGS = Action(
    "level_tags", "4", "tags", "Show this segment at Tags: about a fiftieth, its tags.", "Decide"
)
LEVELS = (FULL, DETAILED, BRIEF, TAGS)
SAME_LEVEL = Action(
    "same_level", "*", "level for all", "Give every segment the level of this one.", "Decide"
)
FIT = Action(
    "fit_target", "f", "fit to budget",
    "Ask for a number of tokens and choose levels that fit it.", "Decide",
)  # fmt: skip
APPLY = Action(
    "apply_levels", "A", "apply",
    "Replace the segments with their summaries, as one act; the originals are kept.", "Decide",
    writes=True,
)  # fmt: skip
EDIT_SUMMARY = Action(
    "summary_edit", "e", "edit", "Write the summary of this segment by hand, with live checks.",
    "Decide",
)  # fmt: skip
PIN_LOST = Action(
    "pin_lost", "p", "pin lost",
    "Keep this lost text verbatim in every summary; on a pinned line, unpin it.", "Decide",
    writes=True,
)  # fmt: skip
RETAIN_LOST = Action(
    "retain_lost", "r", "retain lost",
    "Make this lost text a criterion of its commit: every summary is checked for it.", "Decide",
    writes=True,
)  # fmt: skip

SWITCH_ENGINE = Action(
    "switch_engine", "m", "offline or model",
    "Let the model of the settings write, this segment immediately, or go back to offline.",
    "Decide",
)  # fmt: skip
ASK_MODEL = Action(
    "write_segment", "w", "ask the model",
    "Let the model write this segment, or write it again.", "Decide",
)  # fmt: skip
ASK_FOR_ALL = Action(
    "write_all", "W", "ask for all",
    "Let the model write every segment that it has not written yet.", "Decide",
)  # fmt: skip
TAKE_OFFLINE = Action(
    "take_offline", "o", "use offline",
    "Use the offline result for this segment instead of the model's.", "Decide",
)  # fmt: skip

CONTEXTS = Action("compress_contexts", "C", "contexts", "Choose the context to show.", "Select")
NEXT_CONTEXT = Action("compress_next", "t", "next context", "Show the next context.", "Select")
WHOLE_CONTEXT = Action(
    "whole_context", "b", "whole context",
    "Compress the whole context, not only from a commit on.", "Select",
)  # fmt: skip

EXPAND = Action(
    "expand_here", "enter", "expand",
    "Expand the marker in place, or collapse it; on a lost line, show it in the original.", "Look",
)  # fmt: skip
NEXT_MARKER = Action(
    "next_marker", "n", "next marker", "Go to the next marker of the summary.", "Look"
)
PREVIOUS_MARKER = Action(
    "previous_marker", "N", "previous marker", "Go to the previous marker of the summary.", "Look"
)
ALL_LEVELS = Action(
    "all_levels", "a", "all levels",
    "Show the four levels of this segment side by side, or one again.", "Look",
)  # fmt: skip

LOG = Action(
    "compress_log", "L", "log", "Show the log of the compressions since reviewer was opened.",
    "Look",
)  # fmt: skip
CLOSE_LOG = Action("leave_compress_log", "escape,q,L", "back", "Close the log.", "Move")
LOG_TEXT = Pane(
    "compress_log", "Log of compressions", (keys.COPY, *keys.MOVES, CLOSE_LOG),
    (keys.COPY, CLOSE_LOG),
)  # fmt: skip

COMPRESS = Pane(
    "compress", "Compress",
    (*LEVELS, SAME_LEVEL, FIT, APPLY, EDIT_SUMMARY, PIN_LOST, RETAIN_LOST, keys.UNDO, keys.REDO,
     SWITCH_ENGINE, ASK_MODEL, ASK_FOR_ALL, TAKE_OFFLINE,
     CONTEXTS, NEXT_CONTEXT, WHOLE_CONTEXT, keys.REFRESH,
     EXPAND, NEXT_MARKER, PREVIOUS_MARKER, keys.NEXT_HEADING, keys.PREVIOUS_HEADING, ALL_LEVELS,
     keys.COPY, HAND_OVER, LOG, *keys.PANE_ACTIONS,
     *keys.MOVES, keys.BACK, keys.LEAVE),
    (EXPAND, EDIT_SUMMARY, APPLY, FIT, PIN_LOST, RETAIN_LOST, keys.UNDO, SWITCH_ENGINE, HAND_OVER),
)  # fmt: skip

AWAIT_WORK = (
    *LEVELS, SAME_LEVEL, FIT, APPLY, EDIT_SUMMARY, PIN_LOST, RETAIN_LOST, keys.UNDO, keys.REDO,
    SWITCH_ENGINE, ASK_MODEL, ASK_FOR_ALL, TAKE_OFFLINE, keys.REFRESH,
)  # fmt: skip
"""Actions that wait until writing, fitting or applying is done or stopped."""

APPEND_MISSING = Action(
    "append_missing", "ctrl+t", "append missing",
    "Append missing criteria and anchors to the summary, in the words of the source.", "Decide",
)  # fmt: skip
SUMMARY = Pane(
    "summary", "Writing a summary",
    (*keys.EDIT.actions, APPEND_MISSING),
    (keys.SAVE_EDIT, keys.LEAVE_EDIT, APPEND_MISSING, keys.NEXT_HUNK, keys.REVERT_HUNK),
)  # fmt: skip
