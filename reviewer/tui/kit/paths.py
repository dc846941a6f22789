"""Completing a path that a person types."""

from __future__ import annotations

import os
from pathlib import Path

from reviewer.tui.kit.option import Option

MOST = 200
"""Entries offered at a time."""
MOST_READ = 20_000
"""Entries of a folder that are read."""


def path_options(text: str) -> list[Option]:
    """Files and folders that a typed path may mean, folders first; empty if the folder does not
    exist.

    The path itself comes first when it names a file.
    """
    typed = Path(text).expanduser()
    found: list[Option] = []
    if not text.endswith("/") and typed.is_file():
        found.append(_option(typed, is_folder=False))
    folder = typed if text.endswith("/") or not text else typed.parent
    prefix = "" if text.endswith("/") or not text else typed.name
    entries: list[tuple[bool, str]] = []
    try:
        with os.scandir(folder) as scan:
            for number, entry in enumerate(scan):
                if number >= MOST_READ:
                    break
                fits = entry.name.casefold().startswith(prefix.casefold())
                if fits and (prefix.startswith(".") or not entry.name.startswith(".")):
                    entries.append((not entry.is_dir(), entry.name))
    except OSError:
        return found  # the typed text does not name a folder yet
    for is_file, name in sorted(entries)[:MOST]:
        path = folder / name
        if not (found and path == typed):
            found.append(_option(path, is_folder=not is_file))
    return found


def typed_path(text: str) -> str:
    """The path that was typed or pasted behind the prefilled folder: `/a//b` means `/b`."""
    for begin in ("//", "/~"):
        before, found, rest = text.rpartition(begin)
        if found and (before or begin == "/~"):
            return begin[1] + rest
    return text


def file_size(size: int) -> str:
    """The size of a file for a person: `812 kB`."""
    for unit, name in ((1_000_000, "MB"), (1_000, "kB")):
        if size >= unit:
            value = size / unit
            return f"{value:.1f} {name}" if value < 10 else f"{value:.0f} {name}"
    return f"{size} bytes"


def _option(path: Path, *, is_folder: bool) -> Option:
    if is_folder:
        return Option(str(path), f"{path.name}/")
    try:
        return Option(str(path), f"{path.name}   {file_size(path.stat().st_size)}")
    except OSError as problem:
        return Option(str(path), f"{path.name}   {problem.strerror or 'cannot be read'}")
