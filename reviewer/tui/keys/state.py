"""Keys of the State screen: what holds, writing a value, choosing, exporting."""

from __future__ import annotations

from reviewer.tui import situation as when
from reviewer.tui.action import Action

TABLE = (
    # State
    Action("state_new", "n", "new value", "Write a value of trusted state by hand; the form starts"
           " empty.", "Decide", ("state",), "writing.new", when.not_while_editing, 1),
    Action("state_edit", "e", "edit", "Write a new value of this key (the old one stays), or"
           " rewrite this wording.", "Decide", ("state",), "writing.edit", when.needs_fact, 2),
    Action("state_unset", "x", "unset", "End this key of trusted state; its values stay"
           " readable.", "Decide", ("state",), "acts.unset", when.needs_trusted),
    Action("put_in_queue", "r,b", "put back", "Put this memory or entity back into the queue.",
           "Decide", ("state",), "acts.put_back", when.needs_untrusted, 3),
    Action("graduate", "p", "graduate", "Propose this memory as an entity; the memory stays as a"
           " frozen pointer.", "Decide", ("state",), "asking.graduate", when.needs_memory, 4),
    Action("supersede", "S", "supersede", "Put another candidate or active one of its kind in the"
           " place of this one, which stays as superseded.", "Decide", ("state",),
           "asking.supersede", when.needs_untrusted),
    Action("relate", "l", "relate", "State how this entity stands to another.", "Decide",
           ("state",), "asking.relate", when.needs_entity),
    Action("state_undo", "u", "undo", "Take the last decision back.", "Decide", ("state",),
           "acts.undo", when.needs_undo, 6),
    Action("state_redo", "Z,ctrl+r", "redo", "Do again what was undone last.", "Decide",
           ("state",), "acts.redo", when.needs_redo),
    Action("state_search", "/", "search", "Search all groups, with the words and fields of the"
           " queue's filter.", "Select", ("state",), "searching.open", when.not_while_editing, 5),
    Action("state_refresh", "R", "refresh", "Read everything again.", "Select", ("state",),
           "reading.refresh", when.not_while_editing),
    Action("follow", "enter", "go along", "Go to what this entity is related to, contradicts or"
           " was made from.", "Look", ("state",), "asking.follow", when.needs_related),
    Action("earlier", "h", "earlier", "Show all earlier values or wordings, or the last three.",
           "Look", ("state",), "reading.toggle_earlier", when.needs_fact),
    Action("state_source", "o", "open source", "Show the file at the line that this rests on.",
           "Look", ("state",), "looking.open_source", when.needs_fact),
    Action("state_editor", "E", "in editor", "Open that file at the line in $VISUAL or $EDITOR.",
           "Look", ("state",), "looking.open_editor", when.needs_fact),
    Action("state_copy", "y", "copy", "Copy the value or wording (OSC 52).", "Look", ("state",),
           "looking.copy", when.needs_fact),
    Action("next_place", "right_square_bracket", "next place", "Go to the next line that this"
           " rests on.", "Look", ("state", "why"), "looking.next_place"),
    Action("previous_place", "left_square_bracket", "place before", "Go to the line before.",
           "Look", ("state", "why"), "looking.previous_place"),
    Action("next_group", "right_curly_bracket", "next group", "Go to the next type.", "Move",
           ("state",), "next_group"),
    Action("previous_group", "left_curly_bracket", "group before", "Go to the type before.",
           "Move", ("state",), "previous_group"),
    Action("state_pane", "tab", "next pane", "Go to the next pane.", "Look", ("state",),
           "looking.next_pane"),
    Action("state_pane_back", "shift+tab", "pane before", "Go to the pane before.", "Look",
           ("state",), "looking.previous_pane"),
    Action("export", "X", "export", "Write what holds as Markdown, JSON Lines, a .context folder"
           " or a block in AGENTS.md; shows the difference first.", "Look", ("state",),
           "exporting.begin", when.not_while_editing, 7),
    Action("state_back", "escape", "back", "Clear the search, or go back to the queue.", "Move",
           ("state",), "looking.back"),
    Action("leave_state", "q", "to the queue", "Go back to the queue.", "Screens", ("state",),
           "looking.leave", when.not_while_editing),
    # Writing a value
    Action("save_value", "ctrl+s", "write", "Write this value; an earlier one is superseded and"
           " stays readable.", "Decide", ("form",), "save", None, 1),
    Action("leave_form", "escape", "leave", "Leave; what you typed is there when you come back.",
           "Move", ("form",), "leave", None, 2),
    Action("next_field", "tab", "next field", "Go to the next field.", "Move", ("form",),
           "next_field", None, 3),
    Action("previous_field", "shift+tab", "field before", "Go to the field before.", "Move",
           ("form",), "previous_field"),
    # Choosing
    Action("choose", "enter", "choose", "Take the line under the cursor.", "Select", ("choose",),
           "choose", None, 1),
    Action("leave_choice", "escape", "leave", "Leave without choosing.", "Move", ("choose",),
           "leave", None, 2),
    Action("choice_down", "down", "down", "Go one line down; what is typed narrows the list.",
           "Move", ("choose",), "line_down"),
    Action("choice_up", "up", "up", "Go one line up.", "Move", ("choose",), "line_up"),
    Action("choice_page_down", "pagedown", "page down", "Go one page down.", "Move", ("choose",),
           "page_down"),
    Action("choice_page_up", "pageup", "page up", "Go one page up.", "Move", ("choose",),
           "page_up"),
    # Export
    Action("write_export", "enter,ctrl+s", "write", "Write what the difference shows, after a"
           " backup.", "Decide", ("export",), "write", when.needs_plan, 1),
    Action("export_place", "p", "other place", "Name another file or folder.", "Select",
           ("export",), "other_place", None, 2),
    Action("leave_export", "escape,q", "leave", "Leave; nothing is written.", "Move",
           ("export",), "leave", None, 3),
)  # fmt: skip
