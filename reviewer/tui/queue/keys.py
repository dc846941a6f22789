"""Keys of the Queue screen. Actions without a key are in the menu and the help."""

from __future__ import annotations

from reviewer.tui.kit import keys
from reviewer.tui.kit.action import Action, Pane

PROMOTE = Action(
    "promote", "a", "promote",
    "Keep this row, or the marked ones, as worded; near duplicates are merged into it. In a"
    " conflict, keep the newer side.", writes=True, takes_marked=True,
)  # fmt: skip
REJECT = Action(
    "reject", "x", "reject",
    "Reject this row, or the marked ones; near duplicates go too, and none comes back. In a"
    " conflict, leave both sides.",
    writes=True, takes_marked=True,
)  # fmt: skip
EDIT = Action(
    "edit", "e", "edit",
    "Reword this candidate, then promote it; the old wording is kept.", writes=True,
)  # fmt: skip
DEFER = Action(
    "defer", "s", "defer",
    "Set this row aside for later, or the marked ones; on a deferred row: put it back.",
    writes=True, takes_marked=True,
)  # fmt: skip
REJECT_WHY = Action(
    "reject_why", "w", "say why",
    "Reject with a reason; this row, or the marked ones.",
    writes=True, takes_marked=True, beside=REJECT.id,
)  # fmt: skip
RESTORE = Action(
    "restore", "", "put back",
    "Put decided or deferred rows back into the queue, and retired ones into Memory.",
    writes=True, takes_marked=True,
)  # fmt: skip
DISCARD_DRAFT = Action(
    "discard_draft", "", "discard draft",
    "Discard the draft of this row.",
)  # fmt: skip
TYPE = Action("type", "", "type", "Change the type of this row.", writes=True)
NAME = Action("name", "", "name", "Rename this entity.", writes=True)
KEEP_OLDER = Action(
    "keep_older", "", "keep the older",
    "Keep the older side of this conflict in place of the newer.", writes=True,
)  # fmt: skip
MERGE = Action(
    "merge", "", "merge",
    "Merge the marked rows, or a row shown as alike; the title says into which.",
    writes=True,
)  # fmt: skip
QUEUE_MORE = Action(
    "more", "", "queue more",
    "Queue more of the candidates that are held back.", writes=True,
)  # fmt: skip
READ_SESSIONS = Action(
    "read_sessions", "r", "read sessions",
    "Read the agents' sessions on this machine; files from elsewhere are read again.", writes=True,
)  # fmt: skip
READ_FILE = Action(
    "read_file", "", "read a file",
    "Read a file or folder of your own, such as notes or sessions from elsewhere.", writes=True,
)  # fmt: skip
LET_READ = Action(
    "let_read", "R", "let an agent read",
    "Have an agent or model read the unread sessions; again: stop it.",
    writes=True, beside=READ_SESSIONS.id,
)  # fmt: skip
START = Action(
    "start", "", "start screen",
    "Choose a project whose sessions to read.",
)  # fmt: skip
FINDINGS = Action(
    "findings", "f", "refusals and failures",
    "List what you refused and what failed; choose one to read the session there.",
    beside=READ_SESSIONS.id,
)  # fmt: skip
STATUS = Action(
    "status", "", "other rows",
    "Show waiting, deferred, promoted, rejected, merged or all rows.",
)  # fmt: skip
EXPAND = Action(
    "expand", "right", "show alike",
    "Show the near duplicates of this row; each is decided separately. Again: hide them.",
)  # fmt: skip
COLLAPSE = Action(
    "collapse", "left", "hide alike",
    "Hide the near duplicates.", beside=EXPAND.id,
)  # fmt: skip
SESSION = Action(
    "open_session", "enter", "read",
    "Read the session around the quote; its lines can become memories.",
)  # fmt: skip
QUEUE = Pane(
    "queue", "Queue",
    (PROMOTE, REJECT, REJECT_WHY, EDIT, DEFER, keys.UNDO, keys.REDO, keys.MARK, keys.MARK_ALL,
     keys.FILTER, keys.MENU, SESSION, keys.OPEN_SOURCE, keys.COPY, READ_SESSIONS, LET_READ,
     keys.PROJECT,
     EXPAND, COLLAPSE, keys.NEXT_PLACE, keys.PREVIOUS_PLACE, *keys.PANE_ACTIONS, keys.BACK,
     keys.REFRESH, TYPE, NAME, RESTORE, DISCARD_DRAFT, KEEP_OLDER, MERGE, STATUS, FINDINGS, START,
     QUEUE_MORE, READ_FILE, keys.WRITE),
    (PROMOTE, REJECT, SESSION, keys.UNDO, keys.FILTER, EDIT, DEFER, keys.MARK,
     READ_SESSIONS, keys.PROJECT),
)  # fmt: skip
