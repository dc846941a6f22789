"""Which project a working folder belongs to."""

from __future__ import annotations

from pathlib import Path


def default_project(folder: Path | None = None) -> str | None:
    """The name of the git work tree that holds `folder` (the working folder), or None."""
    here = (folder or Path.cwd()).absolute()
    for place in (here, *here.parents):
        if (place / ".git").exists():
            return place.name
    return None
