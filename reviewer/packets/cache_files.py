"""Files in the user's cache folder: private, replaced in one step, safe to delete."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from reviewer import __version__
from reviewer.private_files import make_private_folder

NEWEST = 64
"""So many files are kept."""


def cache_folder() -> Path:
    """Where counts and packets of earlier calls are kept."""
    from platformdirs import user_cache_path

    return user_cache_path("reviewer", appauthor=False) / "packets"


@cache
def code_stamp() -> str:
    """What changes when the code changes that makes packets: nothing older is used again."""
    here = Path(__file__).parent
    newest = max(
        entry.stat().st_mtime_ns
        for folder in (here, here.parent / "text", here.parent / "sources")
        for entry in os.scandir(folder)
    )
    return f"{__version__} {newest}"


def write_privately(path: Path, text: str) -> str:
    """Write a file that only its owner can read, in one step, and forget the oldest of too many.

    Returns a sentence when that is not possible; what was there stays.
    """
    beside = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        make_private_folder(path.parent)
        number = os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        try:
            with os.fdopen(number, "w", encoding="utf-8") as stream:
                stream.write(text)
            os.replace(beside, path)
        finally:
            beside.unlink(missing_ok=True)
        _forget_oldest(path.parent)
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        return f"Nothing can be kept in {path.parent}: {reason}. It works without, but slower."
    return ""


def _forget_oldest(folder: Path) -> None:
    found = [(entry.stat().st_mtime_ns, entry.path) for entry in os.scandir(folder)]
    for _, path in sorted(found)[:-NEWEST]:
        Path(path).unlink(missing_ok=True)
