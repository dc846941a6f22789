"""The keys of every text field and editor.

Textual's own tables are not inherited: they give F6 and F7 to a selection that the next letter
would overwrite, and an upgrade could take more of our keys.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from textual.binding import Binding, BindingType


@dataclass(frozen=True)
class TextKey:
    """Keys with their effect on a text."""

    keys: str
    """Textual key names, comma-separated."""
    area: str
    """The action of Textual's TextArea."""
    line: str
    """The action of Textual's Input; empty where it has none."""
    title: str = ""
    """One to three words for the help; empty for keys that need no explanation."""
    help: str = ""
    """One sentence."""
    leaves_line: bool = False
    """It may go to another line."""


_UNDO_HELP = "Take back the last typing; the field of a filter or a search has no undo."

TEXT_KEYS = (
    TextKey("up", "cursor_up", "", leaves_line=True),
    TextKey("down", "cursor_down", "", leaves_line=True),
    TextKey("pageup", "cursor_page_up", "", leaves_line=True),
    TextKey("pagedown", "cursor_page_down", "", leaves_line=True),
    TextKey("shift+up", "cursor_up(True)", "", leaves_line=True),
    TextKey("shift+down", "cursor_down(True)", "", leaves_line=True),
    TextKey("left", "cursor_left", "cursor_left"),
    TextKey("right", "cursor_right", "cursor_right"),
    TextKey("shift+left", "cursor_left(True)", "cursor_left(True)"),
    TextKey("shift+right", "cursor_right(True)", "cursor_right(True)"),
    TextKey("ctrl+shift+left", "cursor_word_left(True)", "cursor_left_word(True)"),
    TextKey("ctrl+shift+right", "cursor_word_right(True)", "cursor_right_word(True)"),
    TextKey("shift+home", "cursor_line_start(True)", "home(True)"),
    TextKey("shift+end", "cursor_line_end(True)", "end(True)"),
    TextKey("backspace", "delete_left", "delete_left"),
    TextKey("enter", "", "submit"),
    TextKey(
        "ctrl+a,home", "cursor_line_start", "home", "start of line", "Go to the start of the line."
    ),
    TextKey("ctrl+e,end", "cursor_line_end", "end", "end of line", "Go to the end of the line."),
    TextKey("ctrl+left", "cursor_word_left", "cursor_left_word", "word left", "Go one word left."),
    TextKey(
        "ctrl+right", "cursor_word_right", "cursor_right_word", "word right", "Go one word right."
    ),
    TextKey(
        "ctrl+w,alt+backspace,ctrl+backspace", "delete_word_left", "delete_left_word",
        "delete word", "Delete the word before the cursor.",
    ),
    TextKey(
        "alt+delete", "delete_word_right", "delete_right_word",
        "delete next word", "Delete the word after the cursor.",
    ),
    TextKey(
        "ctrl+d,delete", "delete_right", "delete_right",
        "delete character", "Delete the character at the cursor.",
    ),
    TextKey(
        "ctrl+u,super+backspace", "delete_to_start_of_line", "delete_left_all",
        "delete to start", "Delete from the start of the line to the cursor.",
    ),
    TextKey(
        "ctrl+k", "delete_to_end_of_line_or_delete_line", "delete_right_all",
        "delete to end", "Delete from the cursor to the end of the line.",
    ),
    TextKey("ctrl+shift+k", "delete_line", ""),
    TextKey("ctrl+z,super+z", "undo", "", "undo typing", _UNDO_HELP),
    TextKey("ctrl+y,super+y", "redo", "", "redo typing", "Redo the typing that was undone last."),
    TextKey("ctrl+x,super+x", "cut", "cut", "cut", "Cut the text that is selected with shift."),
    TextKey("ctrl+c,super+c", "copy", "copy", "copy", "Copy the text that is selected with shift."),
    TextKey("ctrl+v", "paste", "paste", "paste", "Insert the text that was cut or copied last."),
)  # fmt: skip

AREA_BINDINGS: list[BindingType] = [
    Binding(each.keys, each.area, show=False) for each in TEXT_KEYS if each.area
]
"""For editors of several lines."""
FIELD_BINDINGS: list[BindingType] = [
    Binding(each.keys, each.area, show=False)
    for each in TEXT_KEYS
    if each.area and not each.leaves_line
]
"""For editors of one line; the other keys go to the surrounding pane."""
INPUT_BINDINGS: list[BindingType] = [
    Binding(each.keys, each.line, show=False) for each in TEXT_KEYS if each.line
]
"""For Textual's own fields of one line."""


def explained() -> Iterator[TextKey]:
    """The keys that the help and the documentation show."""
    return (each for each in TEXT_KEYS if each.help)
