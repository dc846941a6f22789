"""Keys of the queue, its filter and its edit."""

from __future__ import annotations

from reviewer.tui import situation as when
from reviewer.tui.action import Action

TABLE = (
    # Decide
    Action("promote", "a", "promote", "Make the marked rows, or this one, active memories; near"
           " duplicates are merged into it.", "Decide", ("queue",), "decisions.promote",
           when.needs_no_conflict, 1),
    Action("reject", "x", "reject", "Reject the marked rows, or this one with its near"
           " duplicates; it is not proposed again.", "Decide", ("queue",), "decisions.reject",
           when.needs_waiting, 2),
    Action("edit", "e", "edit", "Rewrite this candidate, then promote it; the earlier wording is"
           " kept.", "Decide", ("queue",), "editing.begin", when.needs_wording, 3),
    Action("defer", "s", "defer", "Put the marked rows, or this one, at the end of the queue.",
           "Decide", ("queue",), "decisions.defer", when.needs_waiting, 4),
    Action("undo", "u", "undo", "Take the last decision back, also one of an earlier day.",
           "Decide", ("queue",), "decisions.undo", when.needs_undo, 5),
    Action("redo", "Z,ctrl+r", "redo", "Do again what was undone last.", "Decide", ("queue",),
           "decisions.redo", when.needs_redo),
    Action("restore", "r", "put back", "Put decided or deferred rows back into the queue.",
           "Decide", ("queue",), "decisions.restore", when.needs_decided),
    Action("merge", "m", "merge", "Merge the nearest duplicate into this row; a member of an open"
           " cluster goes into its row.",
           "Decide", ("queue",), "decisions.merge", when.needs_wording),
    Action("keep_left", "1", "keep left", "Settle a conflict: the left side holds, the right one is"
           " superseded by it.", "Decide", ("queue",), "decisions.keep_left", when.needs_conflict),
    Action("keep_right", "2", "keep right", "Settle a conflict: the right side holds, the left one"
           " is superseded by it.", "Decide", ("queue",), "decisions.keep_right",
           when.needs_conflict),
    Action("keep_both", "b", "keep both", "Settle a conflict: both sides stand as they are; x"
           " dismisses it instead.", "Decide", ("queue",), "decisions.keep_both",
           when.needs_conflict),
    # Select
    Action("mark", "space", "mark", "Mark this row and go down; a decision then takes all that"
           " are marked.", "Select", ("queue",), "view.mark", when.needs_row, 6),
    Action("range", "v", "range", "Mark every row from here to where you go; v again keeps them.",
           "Select", ("queue",), "view.range", when.needs_row),
    Action("mark_all", "*", "mark all", "Mark every waiting row of the list, or unmark all.",
           "Select", ("queue",), "view.mark_all", when.needs_rows),
    Action("filter", "/", "filter", "Show only rows that match words and fields such as type:x,"
           " rule:x, path:x, conf>0.5, -word.", "Select", ("queue",), "filtering.open",
           when.not_while_editing, 7),
    Action("sort", "t", "sort", "Order by rank, confidence, newest, source, or as learned from"
           " your decisions, in turn.", "Select",
           ("queue",), "view.sort", when.not_while_editing),
    Action("status", "w", "which rows", "Show what waits, what is active, what was rejected, or"
           " all, in turn.", "Select", ("queue",), "view.which", when.not_while_editing),
    Action("refresh", "R", "refresh", "Read the queue again: decided rows leave, new ones come.",
           "Select", ("queue",), "loader.refresh", when.not_while_editing),
    Action("more", "M", "more", "Queue candidates that ingestion left beyond the cap.", "Select",
           ("queue",), "decisions.more", when.needs_more),
    # Look
    Action("expand", "enter,right", "open cluster", "Show the near duplicates behind this row,"
           " to decide them alone; again closes.", "Look", ("queue",), "view.toggle_cluster",
           when.needs_cluster),
    Action("collapse", "left", "close cluster", "Hide the near duplicates again.", "Look",
           ("queue",), "view.collapse", when.needs_open_cluster),
    Action("open_source", "o", "open source", "Show the file that this came from, at the line.",
           "Look", ("queue",), "looking.open_source", when.needs_row),
    Action("open_editor", "E", "in editor", "Open the file at the line in $VISUAL or $EDITOR.",
           "Look", ("queue",), "looking.open_editor", when.needs_row),
    Action("copy", "y", "copy", "Copy the text to the clipboard (OSC 52).", "Look",
           ("queue",), "looking.copy", when.needs_row),
    Action("why", "W", "why known", "Why do I know this? Every step from this row down to the line"
           " in the file.", "Look", ("queue",), "looking.why", when.needs_row),
    Action("next_evidence", "right_square_bracket", "next evidence", "Show the next evidence of"
           " this row, as of the other side of a conflict.", "Look", ("queue",),
           "evidence.next_evidence", when.needs_row),
    Action("previous_evidence", "left_square_bracket", "evidence before", "Show the evidence"
           " before this one.", "Look", ("queue",), "evidence.previous_evidence", when.needs_row),
    Action("zoom", "+", "zoom", "Fill the screen with the focused pane.", "Look", ("queue",),
           "view.zoom"),
    Action("unzoom", "_", "zoom back", "Show all panes again.", "Look", ("queue",),
           "view.unzoom", when.needs_zoom),
    Action("next_pane", "tab", "next pane", "Go to the next pane.", "Look", ("queue",),
           "view.next_pane"),
    Action("previous_pane", "shift+tab", "previous pane", "Go to the pane before.", "Look",
           ("queue",), "view.previous_pane"),
    # Filter
    Action("keep_filter", "enter,down", "keep", "Keep the filter and go back to the list.",
           "Select", ("filter",), "keep", None, 1),
    Action("clear_filter", "escape", "clear", "Clear the filter and go back to the list.",
           "Select", ("filter",), "clear_filter", None, 2),
    # Edit
    Action("save_edit", "ctrl+s", "save", "Take this wording; a candidate is promoted with it.",
           "Decide", ("edit",), "save", None, 1),
    Action("leave_edit", "escape", "keep draft", "Leave; what you wrote stays as a draft.",
           "Decide", ("edit",), "leave", None, 2),
    Action("next_hunk", "right_curly_bracket,ctrl+down", "next hunk", "Go to the next change.",
           "Move", ("edit",), "next_hunk", None, 3),
    Action("previous_hunk", "left_curly_bracket,ctrl+up", "previous hunk",
           "Go to the change before.", "Move", ("edit",), "previous_hunk"),
    Action("put_back", "backspace,ctrl+z", "put back", "Put the words of this hunk back as they"
           " were.", "Decide", ("edit",), "put_back", None, 4),
    Action("switch_half", "tab,shift+tab", "text or difference", "Go from the text to the"
           " difference, or back.", "Look", ("edit",), "switch_half"),
)  # fmt: skip
