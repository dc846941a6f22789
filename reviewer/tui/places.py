"""What the screen keeps for its next run, in a small file beside the store: where the person was in
each list, the last screen, and the theme.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from reviewer.files import read_own, write_atomic
from reviewer.sharing import personal

FILE = ".places.json"


def kept(store: Path) -> dict[str, object]:
    """All that this person's screen has kept, by name; empty if the file is missing or damaged."""
    try:
        found = json.loads(read_own(personal(store, FILE)))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def keep(store: Path, values: Mapping[str, object]) -> None:
    """Keep values by name. Raises OSError if the folder cannot be written."""
    text = json.dumps({**kept(store), **values})
    write_atomic(personal(store, FILE), text.encode(), durable=False)
