"""Keys that move a list or a text."""

from __future__ import annotations

from reviewer.tui import situation as when
from reviewer.tui.action import Action

PANES = (
    "queue", "commits", "compress", "packet", "pipelines", "source", "state", "export", "why",
    "history", "help",
)  # fmt: skip


def _move(name: str, keys: str, title: str, text: str, run: str) -> Action:
    return Action(name, keys, title, text, "Move", PANES, run)


TABLE = (
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
)  # fmt: skip
