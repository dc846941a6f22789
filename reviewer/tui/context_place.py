"""The context that a project was left at, and the commit in it, for every screen about them."""

from __future__ import annotations

from pathlib import Path

from reviewer.tui.place import load_place, save_place


def load_context(store: Path, project: str | None) -> int | None:
    """The context that was in sight last; None when nothing was kept."""
    return load_place(store, f"context of {project or ''}")


def load_commit(store: Path, context: int) -> int | None:
    """The commit that the cursor was on in a context; None when nothing was kept."""
    return load_place(store, f"commit of {context}")


def keep_context(store: Path, project: str | None, context: int, commit: int | None) -> None:
    """Remember the context in sight, and the commit under the cursor where there is one.

    Raises OSError when the folder cannot be written.
    """
    save_place(store, f"context of {project or ''}", context)
    if commit is not None:
        save_place(store, f"commit of {context}", commit)
