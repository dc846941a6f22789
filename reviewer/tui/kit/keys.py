"""Actions shared by all screens."""

from __future__ import annotations

from reviewer.tui.kit.action import Action, Pane

LINE_DOWN = Action(
    "line_down", "j,down", "down",
    "Go down or up a line; half a page, a page, to either end.",
)  # fmt: skip


def _move(name: str, keys: str, title: str, help_: str) -> Action:
    return Action(name, keys, title, help_, beside=LINE_DOWN.id)


LINE_UP = _move("line_up", "k,up", "up", "Go one line up.")
HALF_DOWN = _move("half_down", "ctrl+d", "half a page down", "Go half a page down.")
HALF_UP = _move("half_up", "ctrl+u", "half a page up", "Go half a page up.")
PAGE_DOWN = _move("page_down", "pagedown", "page down", "Go one page down.")
PAGE_UP = _move("page_up", "pageup", "page up", "Go one page up.")
GO_HOME = _move("go_home", "g,home", "first", "Go to the first line.")
GO_END = _move("go_end", "G,end", "last", "Go to the last line.")
MOVES = (LINE_DOWN, LINE_UP, HALF_DOWN, HALF_UP, PAGE_DOWN, PAGE_UP, GO_HOME, GO_END)

UNDO = Action(
    "undo", "u", "undo",
    "Undo your last act; one from elsewhere is named first, and undone by the key again.",
    writes=True,
)  # fmt: skip
REDO = Action(
    "redo", "Z,ctrl+r", "redo",
    "Redo the act undone last here.", writes=True, beside=UNDO.id,
)  # fmt: skip
MENU = Action(
    "menu", "full_stop", "more",
    "Choose from a menu of available actions.",
)  # fmt: skip
COPY = Action(
    "copy", "y", "copy",
    "Copy the text to the clipboard (OSC 52); in the list of a context, the whole session.",
    beside="hand_over",
)  # fmt: skip
OPEN_SOURCE = Action(
    "open_source", "o", "open source",
    "Show the source at the cited line.",
)  # fmt: skip
NEXT_PLACE = Action(
    "next_place", "right_square_bracket", "next place",
    "Go to the next source line; in a session or context, to the next place to look.",
)  # fmt: skip
PREVIOUS_PLACE = Action(
    "previous_place", "left_square_bracket", "previous place",
    "Go to the previous source line.", beside=NEXT_PLACE.id,
)  # fmt: skip
OPEN_EDITOR = Action(
    "open_editor", "E", "in editor",
    "Open the file at the line in $VISUAL or $EDITOR.",
)  # fmt: skip
FILTER = Action(
    "filter", "/", "filter",
    "Show only rows that match words and fields; such as is:unused in Memory.",
)  # fmt: skip
PROJECT = Action("project", "p", "project", "Show another project, or all of them.")
REFRESH = Action("refresh", "ctrl+l", "refresh", "Reload everything.")
WRITE = Action(
    "write", "n", "write",
    "Write a memory in your own words; it is promoted at once.",
    writes=True, beside="edit",
)  # fmt: skip
MARK = Action(
    "mark", "space", "mark",
    "Mark this row and go down; the next decision applies to every marked row.",
)  # fmt: skip
MARK_ALL = Action(
    "mark_all", "*", "mark all",
    "Mark every row in the list, or unmark all.", beside=MARK.id,
)  # fmt: skip
NEXT_PANE = Action(
    "next_pane", "tab", "next pane",
    "Go to the next or previous pane; zoom it.",
)  # fmt: skip
PREVIOUS_PANE = Action(
    "previous_pane", "shift+tab", "previous pane",
    "Go to the previous pane.", beside=NEXT_PANE.id,
)  # fmt: skip
ZOOM = Action(
    "zoom", "+", "zoom",
    "Zoom this pane to fill the screen; again: show all.", beside=NEXT_PANE.id,
)  # fmt: skip
PANE_ACTIONS = (NEXT_PANE, PREVIOUS_PANE, ZOOM)
BACK = Action(
    "back", "escape", "back",
    "Go back one step: clear the marks, leave the zoom, the pane, the opened row, the filter.",
)  # fmt: skip
CLOSE = Action("close", "escape,q", "close", "Close this and go back.")

MOVING = Pane("text", "A list, or a pane of text", MOVES)

KEEP_FILTER = Action(
    "keep_filter", "enter,down", "keep",
    "Keep the filter and go back to the list.",
)  # fmt: skip
CLEAR_FILTER = Action(
    "clear_filter", "escape", "clear",
    "Clear the filter and go back to the list.",
)  # fmt: skip
FILTER_FIELD = Pane(
    "filter", "Typing a filter",
    (KEEP_FILTER, CLEAR_FILTER),
    (KEEP_FILTER, CLEAR_FILTER),
)  # fmt: skip

SAVE_EDIT = Action(
    "save_edit", "ctrl+s", "save",
    "Save the text; a candidate is promoted with it.", writes=True,
)  # fmt: skip
LEAVE_EDIT = Action(
    "leave_edit", "escape", "keep draft",
    "Close the editor; your text is kept as a draft.",
)  # fmt: skip
EMPTY = Action(
    "empty_text", "ctrl+u", "empty",
    "Delete the whole text; undo brings it back.",
)  # fmt: skip
NEXT_HUNK = Action(
    "next_hunk", "right_curly_bracket,ctrl+down", "next change",
    "Go to the next change.",
)  # fmt: skip
PREVIOUS_HUNK = Action(
    "previous_hunk", "left_curly_bracket,ctrl+up", "previous change",
    "Go to the previous change.",
)  # fmt: skip
REVERT_HUNK = Action(
    "put_back", "backspace,ctrl+z", "revert change",
    "Restore the original text of this change.",
)  # fmt: skip
SWITCH_HALF = Action(
    "switch_half", "tab,shift+tab", "text or changes",
    "Go from the text to the list of changes, or back.",
)  # fmt: skip
EDIT = Pane(
    "edit", "Editing a text",
    (SAVE_EDIT, LEAVE_EDIT, EMPTY, NEXT_HUNK, PREVIOUS_HUNK, REVERT_HUNK, SWITCH_HALF),
    (SAVE_EDIT, LEAVE_EDIT, SWITCH_HALF, EMPTY),
)  # fmt: skip

CHOOSE = Action("choose", "enter", "choose",
    "Choose the selected line; type to narrow the list. Arrows move.",
)  # fmt: skip
LEAVE_CHOICE = Action(
    "leave_choice", "escape,ctrl+c", "leave",
    "Close without choosing.", priority=True,
)  # fmt: skip
CHOICE = Pane(
    "choose", "Choosing from a list",
    (CHOOSE, LEAVE_CHOICE),
    (CHOOSE, LEAVE_CHOICE),
)  # fmt: skip

HELP = Action(
    "help", "question_mark,f1,ctrl+p,colon", "help",
    "Show the keys that work here; type to find any action.",
)  # fmt: skip


def _screen(name: str, keys: str, title: str, help_: str, beside: str = "") -> Action:
    return Action(
        f"show_{name}",
        keys,
        title,
        help_,
        beside=beside and f"show_{beside}",
    )


SHOW_QUEUE = _screen("queue", "f2", "Queue", "Go to the candidates waiting for a decision.")
SHOW_CONTEXT = _screen(
    "context", "f3", "Context", "Go to the turns and levels of a session.", "queue"
)
SHOW_PACKET = _screen("packet", "f4", "Packet", "Go to the packet that an agent gets.", "queue")
SHOW_MEMORY = _screen(
    "memory",
    "f5",
    "Memory",
    "Go to your memories: what they saved and cost, and which are unused.",
    "queue",
)
SHOW_PIPELINES = _screen("pipelines", "f6", "Pipelines", "Go to pipelines and their runs.")
SHOW_AGENTS = _screen(
    "agents", "f7", "Agents", "Go to the agents that get these memories.", "pipelines"
)
SHOW_HISTORY = _screen("history", "f8", "History", "Go to the ledger of all acts.", "pipelines")
SWITCH_THEME = Action(
    "switch_theme", "", "theme",
    "Switch between the dark and the light theme.",
)  # fmt: skip
QUIT = Action(
    "quit", "ctrl+q", "quit",
    "Quit reviewer from anywhere; your place is kept.", priority=True,
    beside=HELP.id,
)  # fmt: skip
HOW_TO_QUIT = Action(
    "how_to_quit", "ctrl+c,q", "how to quit",
    "Show which key quits.", beside=HELP.id,
)  # fmt: skip
SUSPEND = Action(
    "suspend_process", "ctrl+z", "suspend",
    "Go to the shell; its command fg comes back here.", beside=HELP.id,
)  # fmt: skip
APP = Pane(
    "app", "Everywhere",
    (HELP, SHOW_QUEUE, SHOW_CONTEXT, SHOW_PACKET, SHOW_MEMORY, SHOW_PIPELINES,
     SHOW_AGENTS, SHOW_HISTORY, SWITCH_THEME, QUIT, HOW_TO_QUIT, SUSPEND),
)  # fmt: skip
TABS = (SHOW_QUEUE, SHOW_CONTEXT, SHOW_PACKET, SHOW_MEMORY)
"""Screens whose tabs are always visible."""
SCREENS = (*TABS, SHOW_PIPELINES, SHOW_AGENTS, SHOW_HISTORY)
"""All screens, in tab order."""
