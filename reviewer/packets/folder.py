"""What a `.context` folder is, and which of its files a packet is made from.

Imports little: whether anything changed is asked before anything else (`kept.py`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from reviewer.errors import SourceError

ORDER = (
    "CONSTITUTION.md",
    "TASKS.md",
    "CONVENTIONS.md",
    "ARCHITECTURE.md",
    "DECISIONS.md",
    "LEARNINGS.md",
    "GLOSSARY.md",
    "AGENT_PLAYBOOK.md",
)
"""The files of a context folder, in the order in which an agent reads them."""

FOLDERS = ("decisions", "learnings")
"""Where entries are moved to, one or more in a file."""

_CORE = {name.lower() for name in (*ORDER[:3], *ORDER[4:6])}
_NO_ENTRY = re.compile(r"(?:readme|index|template|_.*)\.md", re.IGNORECASE)


def find_folder(path: Path) -> Path:
    """The context folder at `path`: itself, or the `.context` in it.

    Raises SourceError, in one line, when there is none.
    """
    try:
        if not path.is_dir():
            what = "is no folder" if path.exists() else "does not exist"
            raise SourceError(f"{path} {what}: name a .context folder, or one that holds it.")
        for folder in (path / ".context", path):
            if folder.is_dir() and _holds_context(folder):
                return folder
    except OSError as problem:
        raise SourceError(f"{path} cannot be read: {problem.strerror}.") from problem
    except ValueError as problem:  # a NUL in the name
        raise SourceError(f"{str(path)!r} is no name of a folder: {problem}.") from problem
    raise SourceError(
        f"{path} is no context folder: it has no {ORDER[0]}, {ORDER[1]}, {ORDER[4]} or "
        f"{ORDER[5]}. Name a .context folder, or one that holds it."
    )


def names_in(folder: Path) -> dict[str, str]:
    """The names in a folder by their lower-case form; of two, the one in capitals."""
    return {name.lower(): name for name in sorted(os.listdir(folder), reverse=True)}


def moved_entries(folder: Path, section: str) -> Iterator[tuple[str, Path]]:
    """Files of `decisions/` or `learnings/` that may hold entries, with their names below.

    Raises OSError when that folder cannot be listed.
    """
    real = names_in(folder).get(section)
    if real is None or not (folder / real).is_dir():
        return
    for name in sorted(os.listdir(folder / real)):
        if name.lower().endswith(".md") and not _NO_ENTRY.fullmatch(name):
            yield f"{real}/{name}", folder / real / name


def _holds_context(folder: Path) -> bool:
    names = names_in(folder)
    if folder.name == ".context":
        return not names or bool(names.keys() & (_CORE | set(FOLDERS)))
    return bool(names.keys() & _CORE)
