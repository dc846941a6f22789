"""Keys of the Queue screen."""

from __future__ import annotations

from reviewer.tui.kit import keys
from reviewer.tui.kit.action import Action, Pane

PROMOTE = Action(
    "promote", "a", "promote",
    "Make the marked rows, or this one, active memories; the near duplicates behind a"
    " row are merged into it. A row with a draft, or an excerpt, opens in the editor first.",
    "Decide", writes=True, takes_marked=True,
)  # fmt: skip
REJECT = Action(
    "reject", "x", "reject",
    "Reject the marked rows, or this one with its near duplicates; it is not proposed again.",
    "Decide", writes=True, takes_marked=True,
)  # fmt: skip
REJECT_WHY = Action(
    "reject_why", "X", "reject, with a reason",
    "Reject, and say why with one more key; the learned order uses the reasons.",
    "Decide", writes=True, takes_marked=True,
)  # fmt: skip
EDIT = Action(
    "edit", "e", "edit",
    "Rewrite this candidate, then promote it; the earlier wording is kept.", "Decide", writes=True,
)  # fmt: skip
DISCARD_DRAFT = Action(
    "discard_draft", "D", "discard draft", "Throw away the unsaved wording of this row.", "Decide"
)
DEFER = Action(
    "defer", "s", "defer", "Put the marked rows, or this one, at the end of the queue.", "Decide",
    writes=True, takes_marked=True,
)  # fmt: skip
RESTORE = Action(
    "restore", "r", "put back", "Put decided or deferred rows back into the queue.", "Decide",
    writes=True, takes_marked=True,
)  # fmt: skip
MERGE = Action(
    "merge", "m", "merge",
    "Merge the nearest duplicate into this row; a near duplicate in an open cluster is merged into"
    " the row that leads it.",
    "Decide", writes=True,
)  # fmt: skip
PROMOTE_CLUSTER = Action(
    "promote_cluster", "A", "promote cluster",
    "Show the near duplicates of this row and their differences; pressed again, promote the row and"
    " merge them into it.",
    "Decide", writes=True,
)  # fmt: skip
TYPE = Action("type", "T", "type", "Choose another type for this row.", "Decide", writes=True)
NAME = Action("name", "N", "name", "Give this entity another name.", "Decide", writes=True)
KEEP_LEFT = Action(
    "keep_left", "1", "keep left",
    "Settle a conflict: keep the left side, which supersedes the right one.", "Decide", writes=True,
)  # fmt: skip
KEEP_RIGHT = Action(
    "keep_right", "2", "keep right",
    "Settle a conflict: keep the right side, which supersedes the left one.", "Decide", writes=True,
)  # fmt: skip
KEEP_BOTH = Action(
    "keep_both", "b", "keep both",
    "Settle a conflict: keep both sides as they are; rejecting dismisses it instead.", "Decide",
    writes=True,
)  # fmt: skip
QUEUE_MORE = Action(
    "more", "M", "queue more", "Queue more of the candidates that were beyond the cap.",
    "Decide", writes=True,
)  # fmt: skip

ASK_MODEL = Action(
    "ask_model", "P", "ask a model",
    "Have a model word statements from the sessions of this project; it says first what that"
    " costs, and asks nothing before you agree.",
    "Decide", writes=True,
)  # fmt: skip

READ_SESSIONS = Action(
    "read_sessions", "i", "read sessions",
    "Read the sessions of this project that agents have left on this machine; it can be"
    " stopped, and what was read is kept.",
    "Decide", writes=True,
)  # fmt: skip

SORT = Action(
    "sort", "t", "order",
    "Order by rank, confidence, newest, source, sessions, or as learned from your decisions.",
    "Select",
)  # fmt: skip
STATUS = Action(
    "status", "w", "status filter",
    "Show waiting, deferred, promoted, rejected, merged or all rows, in turn.",
    "Select",
)  # fmt: skip

FOLD = Action(
    "fold", "f", "show excerpts",
    "Show or hide the excerpts: sentences of dialogue that are places to look.", "Select",
)  # fmt: skip

EXPAND = Action(
    "expand", "enter,right", "open cluster",
    "Show the near duplicates behind this row, to decide each alone; pressed again, hide them.",
    "Look",
)  # fmt: skip
COLLAPSE = Action("collapse", "left", "close cluster", "Hide the near duplicates again.", "Look")
WHY = Action(
    "why", "W", "where from",
    "Show where this comes from: every step from this row down to the line in the file.", "Look",
)  # fmt: skip
SESSION = Action(
    "open_session", "V", "session",
    "Show the whole session that this row comes from, to word memories from its lines.", "Look",
)  # fmt: skip
NEXT_EVIDENCE = Action(
    "next_evidence", "right_square_bracket", "next evidence",
    "Show the next evidence of this row; for a conflict, that of the other side too.", "Look",
)  # fmt: skip
PREVIOUS_EVIDENCE = Action(
    "previous_evidence", "left_square_bracket", "previous evidence",
    "Show the previous evidence of this row.", "Look",
)  # fmt: skip

NEXT_WAITING = Action(
    "next_waiting", "n", "next waiting", "Go to the next row that is still waiting.", "Move"
)
PREVIOUS_WAITING = Action(
    "previous_waiting",
    "p",
    "previous waiting",
    "Go to the previous row that is still waiting.",
    "Move",
)
LEAVE = Action(
    "leave_reviewer", "q", "quit", "Leave reviewer; the place in the queue is remembered.",
    "Screens",
)  # fmt: skip

QUEUE = Pane(
    "queue", "Queue",
    (PROMOTE, REJECT, REJECT_WHY, EDIT, DISCARD_DRAFT, DEFER, keys.UNDO, keys.REDO, RESTORE,
     MERGE, PROMOTE_CLUSTER, TYPE, NAME,
     KEEP_LEFT, KEEP_RIGHT, KEEP_BOTH, QUEUE_MORE, ASK_MODEL, READ_SESSIONS,
     keys.MARK, keys.RANGE, keys.MARK_ALL, keys.FILTER, SORT, STATUS, FOLD, keys.REFRESH,
     EXPAND, COLLAPSE, keys.OPEN_SOURCE, keys.OPEN_EDITOR, keys.COPY, WHY, keys.REACH, SESSION,
     NEXT_EVIDENCE, PREVIOUS_EVIDENCE, *keys.PANE_ACTIONS,
     *keys.MOVES, NEXT_WAITING, PREVIOUS_WAITING, keys.BACK, LEAVE),
    (PROMOTE, REJECT, EDIT, DEFER, keys.UNDO, keys.MARK, keys.FILTER, FOLD, SESSION, RESTORE, WHY,
     SORT, STATUS, QUEUE_MORE),
)  # fmt: skip
CONFLICT_FOOTER = (KEEP_LEFT, KEEP_RIGHT, KEEP_BOTH, REJECT, keys.UNDO, NEXT_EVIDENCE)
"""Keys of the footer on a conflict."""
