"""Keys that hold on every screen."""

from __future__ import annotations

from reviewer.tui import situation as when
from reviewer.tui.action import Action

TABLE = (
    # Everywhere
    Action("help", "question_mark,f1", "help", "Show the keys of this pane, and why some do"
           " nothing now.", "Screens", ("app",), "show_help", None, 99),
    Action("palette", "ctrl+p,colon", "palette", "Find an action by name.", "Screens", ("app",),
           "show_palette"),
    Action("show_queue", "f2", "Queue", "Go to the queue.", "Screens", ("app",), "show_queue"),
    Action("show_commits", "f3", "Commits", "Go to the contexts and what must survive of them.",
           "Screens", ("app",), "show_commits"),
    Action("show_compress", "f4", "Compress", "Go to the levels of a context and what each loses.",
           "Screens", ("app",), "show_compress"),
    Action("show_packet", "f5", "Packet", "Go to what an agent would get within a budget.",
           "Screens", ("app",), "show_packet"),
    Action("show_pipelines", "f6", "Pipelines", "Go to pipelines, their preambles and runs.",
           "Screens", ("app",), "show_pipelines"),
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
