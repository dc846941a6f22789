"""Opening a read-only store, such as one in a mounted backup."""

from __future__ import annotations

import os
from pathlib import Path

from reviewer.errors import StoreError


def is_read_only(path: Path) -> bool:
    """Whether this user may not write to the file, or create a log beside it."""
    return path.is_file() and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))


def read_only_address(path: Path) -> str:
    """The URI for opening the store without creating files beside it.

    Another program's log is read too; without one, the file is treated as immutable until its
    `stamp` changes. By default, SQLite would create files beside a store in a writable folder, and
    these would keep everyone from writing to it later.

    Raises StoreError if the log has changes missing from the file, and cannot be read.
    """
    log, index = _beside(path)
    address = path.absolute().as_uri()
    if not _size(log):
        return f"{address}?immutable=1"
    if os.access(log, os.R_OK) and os.access(index, os.R_OK):
        return f"{address}?mode=ro"
    raise StoreError(
        f"The store {path} is read-only, and its latest changes are still in {log}. Copy both to a "
        "folder of your own, and name the copy with --db."
    )


def looking_address(path: Path) -> str:
    """The URI for inspecting a file that may not be a store; leaves no files behind.

    Raises StoreError as `read_only_address` does.
    """
    if is_read_only(path):
        return read_only_address(path)
    return f"{path.absolute().as_uri()}?mode=ro"


def stamp(path: Path) -> tuple[int, int, int]:
    """A value that changes if somebody else writes to the file or begins a log."""
    found = path.stat()
    return found.st_mtime_ns, found.st_size, _size(_beside(path)[0])


def _beside(path: Path) -> tuple[Path, Path]:
    return path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
