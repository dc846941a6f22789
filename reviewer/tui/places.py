"""The last cursor position in the queue of each project, in a small file beside the store."""

from __future__ import annotations

import json
from pathlib import Path

from reviewer.files import read_own, write_atomic
from reviewer.sharing import personal


def place_file(store: Path) -> Path:
    """The file with this person's positions in a store."""
    return personal(store, ".places.json")


def load_place(store: Path, project: str | None) -> int | None:
    """The last id under the cursor in a project; None if unknown."""
    found = _read(place_file(store)).get(project or "")
    return found if isinstance(found, int) else None


def save_place(store: Path, project: str | None, memory_id: int) -> None:
    """Save a position; the file is replaced atomically and readable only by its owner.

    Raises OSError if the folder cannot be written.
    """
    path = place_file(store)
    places = {**_read(path), project or "": memory_id}
    write_atomic(path, json.dumps(places).encode(), durable=False)


def _read(path: Path) -> dict[str, object]:
    """The contents of the file; empty if it is missing or damaged."""
    try:
        found = json.loads(read_own(path))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
