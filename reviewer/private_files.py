"""Folders and files that nobody but their owner can look into, whatever the umask says."""

from __future__ import annotations

import os
from pathlib import Path

FOLDER_MODE = 0o700
FILE_MODE = 0o600


def make_folders(path: Path) -> None:
    """Make a folder and those above it that are missing, for their owner only.

    What is there already stays as it is. Raises OSError.
    """
    missing = []
    while not path.exists():
        missing.append(path)
        path = path.parent
    for folder in reversed(missing):
        # `Path.mkdir(parents=True)` gives its mode to the last one only.
        folder.mkdir(mode=FOLDER_MODE, exist_ok=True)


def make_private_folder(path: Path) -> None:
    """Make a folder of the program's own; one that others may look into is closed to them.

    Raises OSError.
    """
    make_folders(path)
    mode = path.stat().st_mode & 0o777
    if mode & ~FOLDER_MODE:
        path.chmod(mode & FOLDER_MODE)


def private_opener(path: str, flags: int) -> int:
    """For `open(..., opener=private_opener)`: a file that is made is its owner's only."""
    return os.open(path, flags, FILE_MODE)
