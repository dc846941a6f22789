"""Folders and files that only their owner can read, whatever the umask."""

from __future__ import annotations

import os
from pathlib import Path

FOLDER_MODE = 0o700
FILE_MODE = 0o600


def make_folders(path: Path) -> None:
    """Make a folder and its missing parents, private to their owner.

    Existing folders stay as they are. Raises OSError.
    """
    missing = []
    while not path.exists():
        missing.append(path)
        path = path.parent
    for folder in reversed(missing):
        # `Path.mkdir(parents=True)` sets the mode of the last folder only.
        folder.mkdir(mode=FOLDER_MODE, exist_ok=True)


def make_private_folder(path: Path) -> None:
    """Make a folder of the program itself; an existing one that others can read becomes private.

    Raises OSError.
    """
    make_folders(path)
    mode = path.stat().st_mode & 0o777
    if mode & ~FOLDER_MODE:
        path.chmod(mode & FOLDER_MODE)


def private_opener(path: str, flags: int) -> int:
    """For `open(..., opener=private_opener)`: a new file is private to its owner."""
    return os.open(path, flags, FILE_MODE)
