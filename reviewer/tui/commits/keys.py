"""Keys of the Commits screen and of the form in it."""

from __future__ import annotations

from reviewer.tui.kit import keys
from reviewer.tui.kit.action import Action, Pane

PIN = Action(
    "pin", "p", "pin", "Never compress the marked commits, or this one.", "Decide",
    writes=True, takes_marked=True,
)  # fmt: skip
IMPORTANT = Action(
    "make_important", "i", "important",
    "Compress the marked commits, or this one, with care, keeping what its retention rules say.",
    "Decide", writes=True, takes_marked=True,
)  # fmt: skip
NORMAL = Action(
    "make_normal", "n", "normal",
    "Let the marked commits, or this one, be compressed freely.", "Decide",
    writes=True, takes_marked=True,
)  # fmt: skip
SKIP = Action(
    "make_skip", "S", "skip",
    "Leave the marked commits, or this one, out of the agent's context.", "Decide",
    writes=True, takes_marked=True,
)  # fmt: skip
RETAIN = Action(
    "retain", "r", "retain",
    "Write what must survive of the marked commits, or of this one: words, texts, regular"
    " expressions.", "Decide", writes=True, takes_marked=True,
)  # fmt: skip
EDIT = Action(
    "commit_edit", "e", "edit text", "Rewrite the text of this commit; the original is kept.",
    "Decide", writes=True,
)  # fmt: skip
IMPORT = Action(
    "import_context", "I", "import", "Choose a transcript and import it as a context.", "Decide",
    writes=True,
)  # fmt: skip
COMPRESS_FROM = Action(
    "compress_from", "c", "compress", "Go to the summaries from this commit on.",
    "Screens",
)  # fmt: skip
CONTEXTS = Action("choose_context", "C", "contexts", "Choose the context to show.", "Select")
NEXT_CONTEXT = Action("next_context", "t", "next context", "Show the next context.", "Select")
WHAT_FITS = Action(
    "let_go", "w", "what would fit",
    "Type a number of tokens: see whether pins and anchors leave room for it, and which of them"
    " need most.", "Look",
)  # fmt: skip
READ = Action(
    "read_commit", "enter", "read", "Fill the screen with the commit's text, or show all panes"
    " again.", "Look",
)  # fmt: skip

COMMITS = Pane(
    "commits", "Commits",
    (PIN, IMPORTANT, NORMAL, SKIP, RETAIN, EDIT, keys.UNDO, keys.REDO, IMPORT,
     keys.MARK, keys.RANGE, keys.MARK_ALL, keys.FILTER, CONTEXTS, NEXT_CONTEXT, keys.REFRESH,
     READ, WHAT_FITS, keys.OPEN_SOURCE, keys.OPEN_EDITOR, keys.COPY, *keys.PANE_ACTIONS,
     *keys.MOVES, keys.BACK, COMPRESS_FROM, keys.LEAVE),
    (PIN, IMPORTANT, NORMAL, SKIP, RETAIN, keys.UNDO, COMPRESS_FROM, keys.MARK, keys.FILTER, EDIT,
     WHAT_FITS, IMPORT),
)  # fmt: skip

SWITCH_MODE = Action(
    "switch_mode", "ctrl+r", "text or regex",
    "Treat the pattern under the cursor as text, or as a regular expression.", "Select",
)  # fmt: skip
RETENTION = Pane(
    "retain", "Writing what must survive",
    (*keys.FORM_ACTIONS, SWITCH_MODE),
    (keys.SAVE_FORM, keys.LEAVE_FORM, SWITCH_MODE, keys.NEXT_FIELD),
)  # fmt: skip
