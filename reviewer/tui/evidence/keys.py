"""Keys of the screens about the source of a memory."""

from __future__ import annotations

from reviewer.tui.kit import keys
from reviewer.tui.kit.action import Action, Pane

TO_CITED_LINE = Action(
    "to_span", "enter", "to the line",
    "Go back to the line that the candidate came from.", "Move",
)  # fmt: skip
TOGGLE_FILE = Action(
    "toggle_raw", "r", "records / file",
    "Show the records as written, or the file's lines.", "Look",
)  # fmt: skip
SEARCH = Action("source_search", "/", "search", "Search the source for words.", "Move")
NEXT_MATCH = Action("next_match", "n", "next match", "Go to the next match.", "Move")
PREVIOUS_MATCH = Action(
    "previous_match", "N", "previous match",
    "Go to the previous match.", "Move",
)  # fmt: skip
COPY_PLACE = Action(
    "copy_place", "y", "copy path:line",
    "Copy the file's path and line (OSC 52).", "Look",
)  # fmt: skip
SOURCE = Pane(
    "source", "Source",
    (TO_CITED_LINE, TOGGLE_FILE, SEARCH, NEXT_MATCH, PREVIOUS_MATCH, keys.OPEN_EDITOR, COPY_PLACE,
     keys.CLOSE),
    (TO_CITED_LINE, TOGGLE_FILE, SEARCH, keys.OPEN_EDITOR, keys.CLOSE),
)  # fmt: skip
