"""Completing a path that is typed: what stands in its folder and begins so."""

from __future__ import annotations

import os
from pathlib import Path

from reviewer.tui.kit.choice_pane import Option

MOST = 200
"""Entries that are offered at a time."""
LOOKED_AT = 20_000
"""Entries of a folder that are looked at."""


def path_options(text: str) -> list[Option]:
    """Files and folders that a typed path may mean, folders first; empty for no such folder.

    The path itself comes first when it names a file.
    """
    typed = Path(text).expanduser()
    found: list[Option] = []
    if not text.endswith("/") and typed.is_file():
        found.append(_option(typed, is_folder=False))
    folder = typed if text.endswith("/") or not text else typed.parent
    begins = "" if text.endswith("/") or not text else typed.name
    entries: list[tuple[bool, str]] = []
    try:
        with os.scandir(folder) as scan:
            for place, entry in enumerate(scan):
                if place >= LOOKED_AT:
                    break
                fits = entry.name.casefold().startswith(begins.casefold())
                if fits and (begins.startswith(".") or not entry.name.startswith(".")):
                    entries.append((not entry.is_dir(), entry.name))
    except OSError:
        return found  # what is typed names no folder yet
    for is_file, name in sorted(entries)[:MOST]:
        path = folder / name
        if not (found and path == typed):
            found.append(_option(path, is_folder=not is_file))
    return found


def weight(size: int) -> str:
    """How large a file is, for a person: `812 kB`."""
    for unit, name in ((1_000_000, "MB"), (1_000, "kB")):
        if size >= unit:
            value = size / unit
            return f"{value:.1f} {name}" if value < 10 else f"{value:.0f} {name}"
    return f"{size} bytes"


def _option(path: Path, *, is_folder: bool) -> Option:
    if is_folder:
        return Option(str(path), f"{path.name}/")
    try:
        return Option(str(path), f"{path.name}   {weight(path.stat().st_size)}")
    except OSError as problem:
        return Option(str(path), f"{path.name}   {problem.strerror or 'cannot be read'}")
