"""Keys as data: actions, and the panes that offer them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

Group = Literal["Decide", "Select", "Look", "Move", "Screens"]
"""The headings of the help."""


class Action(Struct, frozen=True):
    """An action of a person."""

    id: str
    keys: str
    """Textual key names, comma-separated; empty for an action of the menu and the help."""
    title: str
    """One to three words, for the footer and the help."""
    help: str
    """One sentence."""
    group: Group
    writes: bool = False
    """It changes the store, so it is refused while the store is read-only or being written."""
    takes_marked: bool = False
    """It works on all marked rows, or on the row under the cursor when none is marked."""
    priority: bool = False
    """It works even where a text field takes the keys."""
    beside: str = ""
    """The action whose row of the help names this one too."""
    in_footer: str = ""
    """What the footer says beside its key, where that is not its title."""

    @property
    def short(self) -> str:
        """The first clause of its help, for a menu."""
        return self.help.split("; ")[0].split(": ")[0].rstrip(".")

    @property
    def key(self) -> str:
        """The key that runs it, as a person reads it; its place in the menu if it has none."""
        return self.shown_keys[0] if self.shown_keys else f'. "{self.title}"'

    @property
    def shown_keys(self) -> list[str]:
        """All keys that run it, as a person reads them."""
        return [shown_key(key) for key in _in_use.get(self.id, self.keys).split(",") if key]


_in_use: dict[str, str] = {}
"""Action -> its keys where the keymap changes them. A process shows one screen, which has one
keymap; so that every text can name keys, it is not handed down to them all.
"""


def use_keys(overrides: Mapping[str, str]) -> None:
    """Name these keys of actions from now on instead of the built-in ones."""
    _in_use.clear()
    _in_use.update(overrides)


class Pane(Struct, frozen=True):
    """A place with keys of its own."""

    id: str
    heading: str
    """Its name in help and documentation."""
    actions: tuple[Action, ...]
    footer: tuple[Action, ...] = ()
    """The actions that the footer shows, most useful first."""


_SHOWN_KEYS = {"escape": "esc", "pagedown": "pgdn", "pageup": "pgup"}


def shown_key(key: str) -> str:
    """A key as a person reads it: `?` for `question_mark`, `F2` for `f2`."""
    if len(key) > 1 and key[0] == "f" and key[1:].isdigit():
        return key.upper()
    from textual.keys import REPLACED_KEYS, key_to_character  # late: commands name keys, too

    character = (key_to_character(REPLACED_KEYS.get(key, key)) or "").strip()
    return character if character and character.isprintable() else _SHOWN_KEYS.get(key, key)
