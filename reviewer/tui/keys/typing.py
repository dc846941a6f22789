"""Keys of the filter and the editor of screens that are not on the kit yet."""

from __future__ import annotations

from reviewer.tui.action import Action

TABLE = (
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
