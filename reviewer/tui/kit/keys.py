"""Actions that mean the same on every screen, defined once."""

from __future__ import annotations

from reviewer.tui.kit.action import Action, Pane

LINE_DOWN = Action("line_down", "j,down", "down", "Go one line down.", "Move")
LINE_UP = Action("line_up", "k,up", "up", "Go one line up.", "Move")
HALF_DOWN = Action("half_down", "ctrl+d", "half a page down", "Go half a page down.", "Move")
HALF_UP = Action("half_up", "ctrl+u", "half a page up", "Go half a page up.", "Move")
PAGE_DOWN = Action("page_down", "pagedown", "page down", "Go one page down.", "Move")
PAGE_UP = Action("page_up", "pageup", "page up", "Go one page up.", "Move")
GO_HOME = Action("go_home", "g,home", "first", "Go to the first line.", "Move")
GO_END = Action("go_end", "G,end", "last", "Go to the last line.", "Move")
MOVES = (LINE_DOWN, LINE_UP, HALF_DOWN, HALF_UP, PAGE_DOWN, PAGE_UP, GO_HOME, GO_END)

UNDO = Action(
    "undo", "u", "undo",
    "Take back the last decision. One that was made elsewhere is named first and needs the key"
    " again.",
    "Decide", writes=True,
)  # fmt: skip
REDO = Action(
    "redo", "Z,ctrl+r", "redo", "Redo the act that was undone last.", "Decide", writes=True
)
COPY = Action("copy", "y", "copy", "Copy the text to the clipboard (OSC 52).", "Look")
NEXT_HEADING = Action(
    "next_heading", "right_curly_bracket", "next heading",
    "Go to the next heading of the text.", "Look",
)  # fmt: skip
PREVIOUS_HEADING = Action(
    "previous_heading", "left_curly_bracket", "previous heading",
    "Go to the previous heading of the text.", "Look",
)  # fmt: skip
OPEN_SOURCE = Action(
    "open_source", "o", "open source", "Show the source at the line this comes from.", "Look"
)
OPEN_EDITOR = Action(
    "open_editor", "E", "in editor", "Open the file at the line in $VISUAL or $EDITOR.", "Look"
)
REACH = Action(
    "reach", "at", "agents", "Which agents get this fact, and where each finds it.", "Look"
)
FILTER = Action("filter", "/", "filter", "Show only rows that match words and fields.", "Select")
REFRESH = Action("refresh", "R", "refresh", "Read everything again.", "Select")
MARK = Action(
    "mark", "space", "mark",
    "Mark this row and go down; the next decision applies to all marked rows.", "Select",
)  # fmt: skip
RANGE = Action(
    "range", "v", "range",
    "Mark every row from here to where you go; pressed again, keep the marks.", "Select",
)  # fmt: skip
MARK_ALL = Action(
    "mark_all", "*", "mark all", "Mark every row of the list, or unmark all.", "Select"
)
ZOOM = Action("zoom", "+", "zoom", "Fill the screen with the focused pane.", "Look")
UNZOOM = Action("unzoom", "_", "zoom back", "Show all panes again.", "Look")
NEXT_PANE = Action("next_pane", "tab", "next pane", "Go to the next pane.", "Look")
PREVIOUS_PANE = Action(
    "previous_pane", "shift+tab", "previous pane", "Go to the previous pane.", "Look"
)
PANE_ACTIONS = (ZOOM, UNZOOM, NEXT_PANE, PREVIOUS_PANE)
BACK = Action(
    "back", "escape", "back",
    "Leave, one at a time: the range, the marks, the zoom, the pane, the filter.", "Move",
)  # fmt: skip
LEAVE = Action("leave", "q", "to the queue", "Close this screen and go back.", "Screens")
CLOSE = Action("close", "escape,q", "close", "Close this and go back.", "Move")

SCROLL_DOWN = Action("scroll_down", "j,down", "scroll down", "Scroll one line down.", "Move")
SCROLL_UP = Action("scroll_up", "k,up", "scroll up", "Scroll one line up.", "Move")
SCROLL_PAGE_DOWN = Action(
    "scroll_page_down", "pagedown,ctrl+d", "page down", "Scroll one page down.", "Move"
)
SCROLL_PAGE_UP = Action("scroll_page_up", "pageup,ctrl+u", "page up", "Scroll one page up.", "Move")
SCROLL_HOME = Action("scroll_home", "g,home", "start", "Go to the start of the text.", "Move")
SCROLL_END = Action("scroll_end", "G,end", "end", "Go to the end of the text.", "Move")
TEXT = Pane(
    "text", "A pane of text",
    (SCROLL_DOWN, SCROLL_UP, SCROLL_PAGE_DOWN, SCROLL_PAGE_UP, SCROLL_HOME, SCROLL_END),
)  # fmt: skip
NO_KEYS = Pane("", "", ())

KEEP_FILTER = Action(
    "keep_filter", "enter,down", "keep", "Keep the filter and go back to the list.", "Select"
)
CLEAR_FILTER = Action(
    "clear_filter", "escape", "clear", "Clear the filter and go back to the list.", "Select"
)
FILTER_FIELD = Pane(
    "filter", "Typing a filter", (KEEP_FILTER, CLEAR_FILTER), (KEEP_FILTER, CLEAR_FILTER)
)

SAVE_EDIT = Action(
    "save_edit", "ctrl+s", "save", "Save this wording; a candidate is promoted with it.", "Decide",
    writes=True,
)  # fmt: skip
LEAVE_EDIT = Action(
    "leave_edit", "escape", "keep draft", "Leave; your text is kept as a draft.", "Decide"
)
NEXT_HUNK = Action(
    "next_hunk", "right_curly_bracket,ctrl+down", "next change", "Go to the next change.", "Move"
)
PREVIOUS_HUNK = Action(
    "previous_hunk", "left_curly_bracket,ctrl+up", "previous change", "Go to the previous change.",
    "Move",
)  # fmt: skip
REVERT_HUNK = Action(
    "put_back", "backspace,ctrl+z", "revert change", "Restore the original words of this change.",
    "Decide",
)  # fmt: skip
SWITCH_HALF = Action(
    "switch_half", "tab,shift+tab", "text or changes",
    "Go from the text to the list of changes, or back.", "Look",
)  # fmt: skip
EDIT = Pane(
    "edit", "Editing a text",
    (SAVE_EDIT, LEAVE_EDIT, NEXT_HUNK, PREVIOUS_HUNK, REVERT_HUNK, SWITCH_HALF),
    (SAVE_EDIT, LEAVE_EDIT, NEXT_HUNK, REVERT_HUNK),
)  # fmt: skip

CHOOSE = Action("choose", "enter", "choose", "Choose the line under the cursor.", "Select")
LEAVE_CHOICE = Action("leave_choice", "escape", "leave", "Leave without choosing.", "Move")
CHOICE_DOWN = Action(
    "choice_down", "down", "down", "Go one line down; typing narrows the list.", "Move"
)
CHOICE_UP = Action("choice_up", "up", "up", "Go one line up.", "Move")
CHOICE_PAGE_DOWN = Action("choice_page_down", "pagedown", "page down", "Go one page down.", "Move")
CHOICE_PAGE_UP = Action("choice_page_up", "pageup", "page up", "Go one page up.", "Move")
CHOICE = Pane(
    "choose", "Choosing from a list",
    (CHOOSE, LEAVE_CHOICE, CHOICE_DOWN, CHOICE_UP, CHOICE_PAGE_DOWN, CHOICE_PAGE_UP),
    (CHOOSE, LEAVE_CHOICE),
)  # fmt: skip

SAVE_FORM = Action("save_form", "ctrl+s", "save", "Save the form.", "Decide", writes=True)
LEAVE_FORM = Action(
    "leave_form", "escape", "leave", "Leave; your text is kept until you come back.", "Move"
)
NEXT_FIELD = Action("next_field", "tab", "next field", "Go to the next field.", "Move")
PREVIOUS_FIELD = Action(
    "previous_field", "shift+tab", "previous field", "Go to the previous field.", "Move"
)
FORM_ACTIONS = (SAVE_FORM, LEAVE_FORM, NEXT_FIELD, PREVIOUS_FIELD)

HELP = Action(
    "help", "question_mark,f1", "help", "Show the keys that work here, and why some do not now.",
    "Screens",
)  # fmt: skip
PALETTE = Action("palette", "ctrl+p,colon", "palette", "Find an action by name.", "Screens")
SHOW_QUEUE = Action("show_queue", "f2", "Queue", "Go to the queue.", "Screens")
SHOW_COMMITS = Action(
    "show_commits", "f3", "Commits", "Go to the contexts and their retention rules.", "Screens"
)
SHOW_COMPRESS = Action(
    "show_compress", "f4", "Compress", "Go to the levels of a context and the losses of each.",
    "Screens",
)  # fmt: skip
SHOW_PACKET = Action(
    "show_packet", "f5", "Packet", "Go to the packet that an agent gets within a budget.", "Screens"
)
SHOW_PIPELINES = Action(
    "show_pipelines", "f6", "Pipelines", "Go to pipelines, their preambles and runs.", "Screens"
)
SHOW_STATE = Action(
    "show_state", "f7", "State", "Go to trusted state, entities and active memories.", "Screens"
)
SHOW_HISTORY = Action("show_history", "f8", "History", "Go to the ledger of all acts.", "Screens")
SHOW_AGENTS = Action(
    "show_agents", "f9", "Agents", "Go to the agents: connected, given, proposed.", "Screens"
)
SWITCH_THEME = Action(
    "switch_theme", "", "dark or light", "Switch between the dark and the light theme.", "Screens"
)
QUIT = Action("quit", "ctrl+q", "quit", "Leave reviewer, from anywhere.", "Screens", priority=True)
APP = Pane(
    "app", "Everywhere",
    (HELP, PALETTE, SHOW_QUEUE, SHOW_COMMITS, SHOW_COMPRESS, SHOW_PACKET, SHOW_PIPELINES,
     SHOW_STATE, SHOW_HISTORY, SHOW_AGENTS, SWITCH_THEME, QUIT),
)  # fmt: skip
SCREENS = (
    SHOW_QUEUE, SHOW_COMMITS, SHOW_COMPRESS, SHOW_PACKET, SHOW_PIPELINES, SHOW_STATE, SHOW_HISTORY,
    SHOW_AGENTS,
)  # fmt: skip
"""The tabs, in their order."""
SHORT_TITLES = {SHOW_PIPELINES.id: "Pipe"}
"""Titles of tabs that are shortened before a name is left out: with this one, 80 columns do."""

RUN_HERE = Action("run_here", "enter", "run", "Run the action under the cursor.", "Move")
CLOSE_HELP = Action("leave_help", "escape,q,question_mark,f1", "close", "Close the help.", "Move")
HELP_LIST = Pane("help", "Help", (*MOVES, RUN_HERE, CLOSE_HELP), (RUN_HERE, CLOSE_HELP))
