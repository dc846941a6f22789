"""A question about the working folder that both the command line and the screen ask."""

from __future__ import annotations

from pathlib import Path

from reviewer.errors import SourceError


def context_folder(path: Path) -> Path | None:
    """The context folder at a path, or None."""
    from reviewer.packets.folder import find_folder

    try:
        return find_folder(path)
    except SourceError:
        return None
