"""Where the person was in each list, the last screen, and the theme, in a small file beside the
store.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from reviewer.files import read_own, write_atomic
from reviewer.sharing import personal


def place_file(store: Path) -> Path:
    """The file with this person's positions in a store."""
    return personal(store, ".places.json")


def load_list(store: Path, tab: str, project: str | None) -> tuple[str, int | None]:
    """The last filter of a list in a project, and the id under its cursor."""
    match _read(place_file(store)).get(f"{tab} list of {project or ''}"):
        case [str(words), int(row)]:
            return words, row
    return "", None


def save_list(store: Path, tab: str, project: str | None, words: str, row: int) -> None:
    """Save the filter of a list and the id under its cursor. Raises OSError if the folder cannot be
    written.
    """
    _save(store, {f"{tab} list of {project or ''}": [words, row]})


def load_tab(store: Path, project: str | None) -> str:
    """The last screen; empty if unknown."""
    return str(_read(place_file(store)).get(f"tab of {project or ''}", ""))


def save_tab(store: Path, project: str | None, tab: str) -> None:
    """Save the last screen. Raises OSError if the folder cannot be written."""
    _save(store, {f"tab of {project or ''}": tab})


def _load_number(store: Path, name: str) -> int | None:
    found = _read(place_file(store)).get(name)
    return found if isinstance(found, int) else None


def _save(store: Path, changed: Mapping[str, object]) -> None:
    """Replace the file atomically, readable only by its owner."""
    path = place_file(store)
    write_atomic(path, json.dumps({**_read(path), **changed}).encode(), durable=False)


def _read(path: Path) -> dict[str, object]:
    """The contents of the file; empty if it is missing or damaged."""
    try:
        found = json.loads(read_own(path))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def load_light(store: Path) -> bool | None:
    """Whether the person chose the light theme on the screen; None if they chose none."""
    return {"light": True, "dark": False}.get(str(_read(place_file(store)).get("theme of screen")))


def save_light(store: Path, *, light: bool) -> None:
    """Save the chosen theme. Raises OSError if the folder cannot be written."""
    _save(store, {"theme of screen": "light" if light else "dark"})


def load_context(store: Path, project: str | None) -> int | None:
    """The last open context; None if unknown."""
    return _load_number(store, f"context of {project or ''}")


def load_commit(store: Path, context: int) -> int | None:
    """The last commit under the cursor in a context; None if unknown."""
    return _load_number(store, f"commit of {context}")


def keep_context(
    store: Path,
    project: str | None,
    context: int,
    commit: int | None,
) -> None:
    """Save the open context, and the commit under the cursor if there is one.

    Raises OSError if the folder cannot be written.
    """
    changed: dict[str, object] = {f"context of {project or ''}": context}
    if commit is not None:
        changed[f"commit of {context}"] = commit
    _save(store, changed)
