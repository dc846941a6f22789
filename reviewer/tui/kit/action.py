"""Keys as data: actions, and the panes they belong to."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct


class Action(Struct, frozen=True):
    """An action a person can run."""

    id: str
    keys: str
    """Textual key names, comma-separated; empty if it is only in the menu and the help."""
    title: str
    """One to three words, for the footer and the help."""
    help: str
    """One sentence."""
    writes: bool = False
    """It changes the store; refused while the store is being written."""
    takes_marked: bool = False
    """It applies to all marked rows, or to the row under the cursor if none is marked."""
    priority: bool = False
    """It works even while a text field has the focus."""
    beside: str = ""
    """The action whose row in the help includes this one."""
    in_footer: str = ""
    """Its name in the footer, if not its title."""

    @property
    def short(self) -> str:
        """The first clause of its help, for menus."""
        return self.help.split("; ")[0].split(": ")[0].rstrip(".")

    @property
    def key(self) -> str:
        """Its first key as displayed, or its menu entry if it has none."""
        return self.shown_keys[0] if self.shown_keys else f'. "{self.title}"'

    @property
    def shown_keys(self) -> list[str]:
        """All its keys as displayed."""
        return [shown_key(key) for key in self.bound_keys]

    @property
    def bound_keys(self) -> list[str]:
        """Its keys in use, as Textual names them; empty if it is only in the menu and the help."""
        return [key for key in _in_use.get(self.id, self.keys).split(",") if key]


_in_use: dict[str, str] = {}
"""Action -> its custom keys. Global, so that every message can name keys; a process has one keymap.
"""


def use_keys(keymap: Mapping[str, str]) -> None:
    """Name these custom keys from now on."""
    _in_use.clear()
    _in_use.update(keymap)


class Pane(Struct, frozen=True):
    """A part of the screen with its own keys."""

    id: str
    heading: str
    """Its name in the help and the documentation."""
    actions: tuple[Action, ...]
    footer: tuple[Action, ...] = ()
    """The actions in the footer, most useful first."""


_SHOWN_KEYS = {"escape": "esc", "pagedown": "pgdn", "pageup": "pgup"}


def shown_key(key: str) -> str:
    """A key as displayed: `?` for `question_mark`, `F2` for `f2`."""
    if len(key) > 1 and key[0] == "f" and key[1:].isdigit():
        return key.upper()
    from textual.keys import REPLACED_KEYS, key_to_character  # late: commands name keys, too

    character = (key_to_character(REPLACED_KEYS.get(key, key)) or "").strip()
    return character if character and character.isprintable() else _SHOWN_KEYS.get(key, key)
