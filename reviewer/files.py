"""Files: private ones, ones that a person names, atomic replacement, and folders of strangers.

Where others may have prepared a folder's contents, no link inside it is followed, so that nothing
outside of it can be read or overwritten. `within` is a descriptor of the folder that `path` lies
in; it keeps the folder from being exchanged between two calls. Without it, the folder is opened by
its path, where links are followed.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

FOLDER_MODE = 0o700
FILE_MODE = 0o600

LARGEST = 2_000_000
"""Bytes that a settings file, a keymap or a template may have."""

_GIVEN_BY_A_SHELL = ("/dev/", "/proc/")
"""Where `<(command)` and `/dev/stdin` lie: pipes that have a writer."""


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


def open_plain(path: Path) -> BinaryIO:
    """The file behind `path`, for reading.

    Raises OSError as `open` does, and for a named pipe, whose writer may never come.
    """
    piped = stat.S_ISFIFO(path.stat().st_mode)
    if piped and not str(path.absolute()).startswith(_GIVEN_BY_A_SHELL):
        raise OSError(errno.EINVAL, "it is a named pipe, not a file", str(path))
    return path.open("rb")


def read_small(path: Path) -> bytes:
    """A file that a person writes by hand, whole.

    Raises OSError as `open_plain` does, and for one that is larger than LARGEST or has no end.
    """
    with open_plain(path) as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise OSError(errno.EFBIG, f"it is larger than {LARGEST // 1_000_000} MB", str(path))
    return data


class ForeignFolderError(PermissionError):
    """A folder belongs to another user; `filename` names it."""


@contextmanager
def own_folder(path: Path, *, within: int | None = None) -> Iterator[int]:
    """A descriptor of a folder of this user, open until the end of the block.

    Raises ForeignFolderError when it belongs to another user, OSError when it cannot be opened or,
    with `within`, is a link.
    """
    flags = os.O_RDONLY | os.O_DIRECTORY
    try:
        if within is None:
            folder = os.open(path, flags)
        else:
            folder = os.open(path.name, flags | os.O_NOFOLLOW, dir_fd=within)
    except OSError as problem:
        if problem.errno in (errno.ELOOP, errno.ENOTDIR):
            raise OSError(
                errno.ENOTDIR, "it is a file or a link, not a folder", str(path)
            ) from None
        raise
    try:
        if os.fstat(folder).st_uid != os.geteuid():
            raise ForeignFolderError(errno.EPERM, "it belongs to another user", str(path))
        yield folder
    finally:
        os.close(folder)


def open_regular(path: Path, flags: int, *, within: int) -> int:
    """A descriptor of a regular file; one that is made is its owner's only. Never waits.

    Raises OSError as `os.open` does, and for a link, a pipe, a device or a folder.
    """
    try:
        handle = os.open(
            path.name, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY, FILE_MODE, dir_fd=within
        )
    except OSError as problem:
        if problem.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "it is a link, not a file", str(path)) from None
        raise
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "it is a folder, a pipe or a device, not a file", str(path))
    return handle


def read_regular(path: Path, largest: int, *, within: int) -> bytes:
    """A regular file, whole. Raises OSError as `open_regular`, and above `largest` bytes."""
    with open(open_regular(path, os.O_RDONLY, within=within), "rb") as file:
        data = file.read(largest + 1)
    if len(data) > largest:
        raise OSError(errno.EFBIG, f"it is larger than {largest // 1_000_000} MB", str(path))
    return data


def write_atomic(
    path: Path, data: bytes, *, durable: bool = True, within: int | None = None
) -> None:
    """Put a file in place, readable by its owner only; a crash leaves the old one or the new one.

    A link at `path` is replaced, and what it leads to stays as it is. `durable`: the new name, too,
    is on the disk when this returns. Raises OSError; the old file is then still there.
    """
    if within is None:
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            write_atomic(path, data, durable=durable, within=folder)
        finally:
            os.close(folder)
        return
    # Nobody can plant a link or a file under a name that nobody can guess.
    fresh = f".reviewer-{os.urandom(16).hex()}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    handle = os.open(fresh, flags, FILE_MODE, dir_fd=within)
    try:
        with open(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, path.name, src_dir_fd=within, dst_dir_fd=within)
    except BaseException:
        with suppress(OSError):  # it is gone, or the first problem says why it cannot go
            os.unlink(fresh, dir_fd=within)
        raise
    if durable:
        os.fsync(within)
