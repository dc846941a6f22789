"""Completing a path that a person types."""

from __future__ import annotations

import os
from pathlib import Path

from reviewer.tui.kit.choice_pane import Option

MOST_OFFERED = 200
MOST_READ = 20_000
"""Entries of a folder that are looked at."""


def path_options(text: str, folder: Path | None = None) -> list[Option]:
    """Files and folders that a typed path may mean, folders first; empty for no such folder.

    The path itself comes first when it names a file. A relative path is taken from `folder`, whose
    parent is offered last while nothing is typed; without it from the working folder.
    """
    typed = Path(text).expanduser()
    if folder is not None:
        typed = folder / typed
    whole = text.endswith("/") or not text
    found: list[Option] = []
    if not whole and typed.is_file():
        found.append(_option(typed, is_folder=False))
    inside, begins = (typed, "") if whole else (typed.parent, typed.name)
    entries: list[tuple[bool, str]] = []
    try:
        with os.scandir(inside) as scan:
            for place, entry in enumerate(scan):
                if place >= MOST_READ:
                    break
                fits = entry.name.casefold().startswith(begins.casefold())
                if fits and (begins.startswith(".") or not entry.name.startswith(".")):
                    entries.append((not entry.is_dir(), entry.name))
    except OSError:
        return found  # what is typed names no folder yet
    for is_file, name in sorted(entries)[:MOST_OFFERED]:
        path = inside / name
        if not (found and path == typed):
            found.append(_option(path, is_folder=not is_file))
    if folder is not None and not text and folder.parent != folder:
        found.append(Option(str(folder.parent), "../"))
    return found


def _option(path: Path, *, is_folder: bool) -> Option:
    if is_folder:
        return Option(str(path), f"{path.name}/")
    try:
        return Option(str(path), f"{path.name}   {file_size(path.stat().st_size)}")
    except OSError as problem:
        return Option(str(path), f"{path.name}   {problem.strerror or 'cannot be read'}")


def file_size(size: int) -> str:
    """A number of bytes for a person: `812 kB`."""
    for unit, name in ((1_000_000, "MB"), (1_000, "kB")):
        if size >= unit:
            value = size / unit
            return f"{value:.1f} {name}" if value < 10 else f"{value:.0f} {name}"
    return f"{size} bytes"
