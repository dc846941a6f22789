"""Custom keys: the `[keys]` table of a TOML file, checked before the screen opens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from reviewer.errors import ReviewerError
from reviewer.files import read_small
from reviewer.tui.kit.action import shown_key


class KeymapError(ReviewerError):
    """A keymap names an unknown action or key, or gives one key to two actions."""


def load_keymap(path: Path | None) -> dict[str, str]:
    """Action id -> its Textual key names, comma-separated, for the actions named in a TOML file;
    ctrl+q always quits.

    The table `[keys]` maps action ids to a key or a list of keys, such as `promote = "A"`.

    Raises KeymapError with the problem and its location.
    """
    if path is None:
        return {}
    import tomllib

    try:
        table = tomllib.loads(read_small(path).decode()).get("keys", {})
    except OSError as error:
        raise KeymapError(f"The keymap {path} cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise KeymapError(f"The keymap {path} is not valid TOML: {error}.") from error
    except RecursionError:
        raise KeymapError(f"The keymap {path} is nested too deep.") from None
    if not isinstance(table, dict):
        raise KeymapError(f"`keys` in {path} must be a table: write [keys] above the lines.")
    keymap = {name: _keys_text(name, value) for name, value in table.items()}
    if "ctrl+q" not in keymap.get("quit", "ctrl+q").split(","):
        keymap["quit"] += ",ctrl+q"
    if keymap:
        _check(keymap)
    return keymap


def _check(keymap: Mapping[str, str]) -> None:
    """Raise KeymapError for an unknown action, and for a key of two actions of a pane."""
    from reviewer.tui.actions import ACTIONS, PANES  # late: the keys of every screen

    for name in keymap:
        if name not in ACTIONS:
            raise KeymapError(_unknown(name, ACTIONS))
    for pane in PANES:
        taken: dict[str, str] = {"ctrl+q": "quit"}
        for action in pane.actions:
            for key in filter(None, keymap.get(action.id, action.keys).split(",")):
                other = taken.setdefault(key, action.id)
                if other != action.id:
                    raise KeymapError(
                        f"The key {shown_key(key)} would run both {other} and {action.id}"
                        f" ({pane.heading}). Give one of them another key."
                    )


def _keys_text(name: str, value: object) -> str:
    given = value if isinstance(value, list) else [value]
    keys = [key for key in given if isinstance(key, str) and key]
    if not keys or len(keys) < len(given):
        raise KeymapError(f'{name} needs a key or a list of keys, such as {name} = "A".')
    return ",".join(_named(key) for key in keys)


@cache
def _named(key: str) -> str:
    """The Textual name of a key: `question_mark` for `?`, `ctrl+b` for `Ctrl+B`.

    Raises KeymapError for an unknown key.
    """
    from textual.keys import REPLACED_KEYS, Keys, _character_to_key, key_to_character

    key = key.strip()
    head, _, base = key.rpartition("+") if len(key) > 1 else ("", "", key)
    modifiers = sorted(head.lower().split("+")) if head else []
    if len(base) == 1:
        if modifiers == ["shift"]:
            base, modifiers = base.upper(), []
        base = _character_to_key(base.lower() if modifiers else base)
    character = key_to_character(REPLACED_KEYS.get(base, base))
    known = [each.value for each in Keys] if character is None else [_character_to_key(character)]
    if base not in known or not MODIFIERS.issuperset(modifiers):
        raise KeymapError(
            f'There is no key {key}. Keys are written such as "A", "f5", "escape", "ctrl+b".'
        )
    return "+".join((*modifiers, base))


MODIFIERS = frozenset(("alt", "ctrl", "hyper", "meta", "shift", "super"))


def _unknown(name: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, list(known), 1)
    hint = f" Did you mean {near[0]}?" if near else " `?` shows the actions and their names."
    return f"The keymap names an action that does not exist: {name}.{hint}"
