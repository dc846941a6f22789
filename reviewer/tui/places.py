"""Where a person left each list, in a small file beside the store."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from reviewer.files import read_own, write_atomic
from reviewer.sharing import personal


def place_file(store: Path) -> Path:
    """The file that remembers this person's places in a store."""
    return personal(store, ".places.json")


def load_place(store: Path, project: str | None) -> int | None:
    """The id that a project was left at; None if none can be read."""
    found = _read(place_file(store)).get(project or "")
    return found if isinstance(found, int) else None


def save_place(store: Path, project: str | None, memory_id: int) -> None:
    """Remember a place; the file is replaced atomically, for its owner only.

    Raises OSError when the folder cannot be written.
    """
    _save(store, {project or "": memory_id})


def _save(store: Path, changed: Mapping[str, object]) -> None:
    path = place_file(store)
    write_atomic(path, json.dumps({**_read(path), **changed}).encode(), durable=False)


def _read(path: Path) -> dict[str, object]:
    """The contents of the file; empty if it is missing or damaged, because it is only a place."""
    try:
        found = json.loads(read_own(path))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def load_context(store: Path, project: str | None) -> int | None:
    """The context that was shown last; None if none was kept."""
    return load_place(store, f"context of {project or ''}")


def load_commit(store: Path, context: int) -> int | None:
    """The commit that the cursor was on in a context; None if none was kept."""
    return load_place(store, f"commit of {context}")


def keep_context(
    store: Path,
    project: str | None,
    context: int,
    commit: int | None,
) -> None:
    """Remember the present context, and the commit under the cursor where there is one.

    Raises OSError when the folder cannot be written.
    """
    changed: dict[str, object] = {f"context of {project or ''}": context}
    if commit is not None:
        changed[f"commit of {context}"] = commit
    _save(store, changed)
