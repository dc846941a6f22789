"""The one registry of what a key can do.

Footer, help, palette, keymap overrides and the README's key table are made from `ACTIONS`. To
change a key, change it here. `run` is an attribute path from the node that carries the binding (a
screen, a pane or the app), called without arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from textual.binding import Binding

from reviewer.tui import situation as when
from reviewer.tui.situation import Situation

Reason = Callable[[Situation], str | None]

PANES = {
    "app": "Everywhere",
    "queue": "Queue",
    "text": "Candidate and evidence",
    "filter": "Filter",
    "edit": "Edit",
    "source": "Source",
    "state": "State",
    "form": "State: writing a value",
    "choose": "Choosing",
    "export": "Export",
    "why": "Why do I know this?",
    "history": "History",
    "help": "Help",
}
"""Where keys hold, with the heading that help and the README give them."""

TAKES_MARKED = {"promote", "reject", "defer", "restore"}
"""Actions that take all marked rows instead of the one under the cursor."""


@dataclass(frozen=True)
class Action:
    """One thing that a person can do, and everything that is said about it."""

    id: str
    keys: str
    """Textual key names, comma-separated; empty for an action of the palette alone."""
    title: str
    """One to three words, for the footer and the palette."""
    help: str
    """One sentence."""
    group: str
    panes: tuple[str, ...]
    run: str
    why_disabled: Reason | None = None
    footer: int = 0
    """Place in the footer from 1 on; 0 keeps it out."""

    def titled(self, now: Situation) -> str:
        """The title as things stand: how many marked rows it is about, where it takes those."""
        if now.marked and self.id in TAKES_MARKED:
            return f"{self.title} {now.marked:,} marked"
        return self.title


def _move(name: str, keys: str, title: str, text: str, run: str) -> Action:
    panes = ("queue", "source", "state", "export", "why", "history", "help")
    return Action(name, keys, title, text, "Move", panes, run)


_TABLE = (
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
    # Move
    _move("line_down", "j,down", "down", "Go one line down.", "line_down"),
    _move("line_up", "k,up", "up", "Go one line up.", "line_up"),
    _move("half_down", "ctrl+d", "half a page down", "Go half a page down.", "half_down"),
    _move("half_up", "ctrl+u", "half a page up", "Go half a page up.", "half_up"),
    _move("page_down", "pagedown", "page down", "Go one page down.", "page_down"),
    _move("page_up", "pageup", "page up", "Go one page up.", "page_up"),
    _move("go_home", "g,home", "first", "Go to the first line.", "go_home"),
    _move("go_end", "G,end", "last", "Go to the last line.", "go_end"),
    Action("next_waiting", "n", "next waiting", "Go to the next row that still waits.", "Move",
           ("queue",), "view.next_waiting", when.needs_rows),
    Action("previous_waiting", "N", "previous waiting", "Go to the row before that still waits.",
           "Move", ("queue",), "view.previous_waiting", when.needs_rows),
    Action("back", "escape", "back", "Leave in turn: the range, the marks, the zoom, the filter.",
           "Move", ("queue",), "view.back"),
    # A pane of text
    Action("scroll_down", "j,down", "scroll down", "Scroll one line down.", "Move", ("text",),
           "action_scroll_down"),
    Action("scroll_up", "k,up", "scroll up", "Scroll one line up.", "Move", ("text",),
           "action_scroll_up"),
    Action("scroll_page_down", "pagedown,ctrl+d", "page down", "Scroll one page down.", "Move",
           ("text",), "action_page_down"),
    Action("scroll_page_up", "pageup,ctrl+u", "page up", "Scroll one page up.", "Move",
           ("text",), "action_page_up"),
    Action("scroll_home", "g,home", "start", "Go to the start of the text.", "Move", ("text",),
           "action_scroll_home"),
    Action("scroll_end", "G,end", "end", "Go to the end of the text.", "Move", ("text",),
           "action_scroll_end"),
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
    # Everywhere
    Action("help", "question_mark,f1", "help", "Show the keys of this pane, and why some do"
           " nothing now.", "Screens", ("app",), "show_help", None, 99),
    Action("palette", "ctrl+p,colon", "palette", "Find an action by name.", "Screens", ("app",),
           "show_palette"),
    Action("show_queue", "f2", "Queue", "Go to the queue.", "Screens", ("app",), "show_queue"),
    Action("show_state", "f7", "State", "Go to what holds: trusted state, entities, memories.",
           "Screens", ("app",), "show_state"),
    Action("show_history", "f8", "History", "Go to the ledger of everything that was done.",
           "Screens", ("app",), "show_history"),
    Action("switch_theme", "", "dark or light", "Switch between the dark and the light theme.",
           "Screens", ("app",), "switch_theme"),
    Action("leave", "q", "quit", "Leave reviewer; the place in the queue is remembered.",
           "Screens", ("queue",), "app.leave", when.not_while_editing),
    Action("quit", "ctrl+q", "quit", "Leave reviewer, from anywhere.", "Screens", ("app",),
           "leave"),
)  # fmt: skip

ACTIONS: dict[str, Action] = {action.id: action for action in _TABLE}


def actions_of(panes: Iterable[str]) -> list[Action]:
    """The actions that hold in any of some panes, in the order of the registry."""
    wanted = set(panes)
    return [action for action in _TABLE if wanted.intersection(action.panes)]


def bindings_for(pane: str) -> list[Binding]:
    """The Textual bindings of a pane; a keymap finds them by their ids."""
    return [
        Binding(
            action.keys,
            f"act('{action.id}')",
            action.title,
            show=False,
            priority=action.id == "quit",
            id=action.id,
        )
        for action in actions_of([pane])
        if action.keys
    ]


_SHOWN = {
    "question_mark": "?",
    "left_curly_bracket": "{",
    "right_curly_bracket": "}",
    "colon": ":",
    "asterisk": "*",
    "slash": "/",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "plus": "+",
    "underscore": "_",
    "escape": "esc",
    "pagedown": "pgdn",
    "pageup": "pgup",
}


def shown_key(key: str) -> str:
    """A key as a person reads it: `?` for `question_mark`, `F2` for `f2`."""
    if len(key) > 1 and key[0] == "f" and key[1:].isdigit():
        return key.upper()
    return _SHOWN.get(key, key)


def key_table() -> str:
    """Every key as a Markdown table, one for each pane, for the README."""
    lines: list[str] = []
    for pane, heading in PANES.items():
        lines += [f"**{heading}**", "", "| key | does |", "| --- | --- |"]
        for action in actions_of([pane]):
            keys = " ".join(f"`{shown_key(key)}`" for key in action.keys.split(",") if key)
            lines.append(f"| {keys or 'palette'} | {action.help} |")
        lines.append("")
    return "\n".join(lines)
