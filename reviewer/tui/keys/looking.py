"""Keys of the screens that only show: source, why, history, help."""

from __future__ import annotations

from reviewer.tui.action import Action

TABLE = (
    # Source
    Action("to_span", "enter", "to the line", "Go back to the line the candidate came from.",
           "Move", ("source",), "to_span", None, 1),
    Action("toggle_raw", "r", "as said or file", "Show the records as they were said, or the"
           " lines of the file itself.", "Look", ("source",), "toggle_raw", None, 2),
    Action("source_search", "/", "search", "Search the source for words.", "Move", ("source",),
           "searching.open", None, 3),
    Action("next_match", "n", "next match", "Go to the next place with those words.", "Move",
           ("source",), "searching.next"),
    Action("previous_match", "N", "previous match", "Go to the place before with those words.",
           "Move", ("source",), "searching.previous"),
    Action("source_editor", "E", "in editor", "Open the file at the line in $VISUAL or $EDITOR.",
           "Look", ("source",), "open_editor", None, 4),
    Action("copy_place", "y", "copy path:line", "Copy the file's path and line (OSC 52).", "Look",
           ("source",), "copy_place"),
    Action("leave_source", "escape,q,o", "back", "Go back to the queue.", "Move", ("source",),
           "leave", None, 5),
    # Why
    Action("why_source", "enter,o", "open source", "Show the file at the line.", "Look", ("why",),
           "looking.open_source", None, 1),
    Action("why_editor", "E", "in editor", "Open the file at the line in $VISUAL or $EDITOR.",
           "Look", ("why",), "looking.open_editor", None, 2),
    Action("leave_why", "escape,q,W", "back", "Go back to the queue.", "Move", ("why",), "leave",
           None, 3),
    # History
    Action("history_undo", "u", "undo", "Take the last decision back.", "Decide", ("history",),
           "undo", None, 1),
    Action("history_redo", "Z,ctrl+r", "redo", "Do again what was undone last.", "Decide",
           ("history",), "redo", None, 2),
    Action("undo_this", "x", "undo this", "Take back the act under the cursor, if nothing that it"
           " changed was changed since.", "Decide", ("history",), "undo_this", None, 3),
    Action("history_open", "enter", "to the memory", "Go to the memory that the act changed, in"
           " the queue.", "Look", ("history",), "open_memory"),
    Action("history_pane", "tab,shift+tab", "next pane", "Go to the other pane.", "Look",
           ("history",), "switch_pane", None, 4),
    Action("history_refresh", "R", "refresh", "Read the ledger again.", "Select", ("history",),
           "refresh_acts"),
    Action("leave_history", "escape,q", "back", "Go back to the queue.", "Move", ("history",),
           "leave", None, 5),
    # Help
    Action("run_here", "enter", "run", "Run the action under the cursor.", "Move", ("help",),
           "run_here", None, 1),
    Action("leave_help", "escape,q,question_mark,f1", "close", "Close the help.", "Move",
           ("help",), "leave", None, 2),
)  # fmt: skip
