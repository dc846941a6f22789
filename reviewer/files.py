"""Files: private ones, user-named ones, and atomic replacement."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from reviewer.errors import SourceError
from reviewer.system import (
    BINARY,
    FOLDER,
    NO_FOLLOW,
    NO_TERMINAL,
    NO_WAIT,
    NOT_INHERITED,
    user,
)

FOLDER_MODE = 0o700
FILE_MODE = 0o600

LARGEST_BY_HAND = 2_000_000
"""Maximum size in bytes of a settings file, a keymap or a template."""

LARGEST_OWN = 64_000_000
"""Maximum size in bytes of a program-owned file that is read at once."""

LATEST = 2**63 - 1
"""Nanoseconds since 1970: in April 2262, the last moment that fits a column of a store."""

_SHELL_PIPES = ("/dev/fd/", "/dev/stdin", "/proc/")
"""Prefixes of `<(command)` and `/dev/stdin`, which are pipes with a writer; unlike pipes in
`/dev/shm`, which anybody may create.
"""


def login_name() -> str:
    """The login name of this process's user, independent of the environment."""
    try:
        import pwd
    except ImportError:  # Windows
        import getpass

        return getpass.getuser()
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:  # a container may run as a number without a name
        return f"user {os.geteuid()}"


def is_own(path: Path) -> bool:
    """Whether a file belongs to this process's user. Raises OSError."""
    return user() in (None, path.stat().st_uid)


def modified_ns(found: os.stat_result) -> int:
    """When a file was modified; a date after LATEST is LATEST."""
    return min(found.st_mtime_ns, LATEST)


def unreadable(path: Path, problem: OSError | ValueError) -> SourceError:
    """The error for a user-named file or folder, as a sentence."""
    if isinstance(problem, FileNotFoundError):
        return SourceError(f"{path} does not exist: check the path.")
    if isinstance(problem, OSError):
        return SourceError(f"{path} cannot be read: {reason_of(problem)}.")
    return SourceError(f"{str(path)!r} is not a file name: {problem}.")  # a NUL in the name


def reason_of(problem: OSError) -> str:
    """The system's reason as a part of a sentence: `permission denied`."""
    return (problem.strerror or str(problem)).lower()


def make_folders(path: Path, mode: int = FOLDER_MODE) -> list[Path]:
    """Create a folder and its missing parents, by default private to their owner; returns them,
    outermost first.

    Existing folders are unchanged. Raises OSError.
    """
    missing: list[Path] = []
    while not path.exists():
        missing.insert(0, path)
        path = path.parent
    for folder in missing:
        # `Path.mkdir(parents=True)` sets the mode of the last folder only.
        folder.mkdir(mode=mode, exist_ok=True)
    return missing


def make_private_folder(path: Path) -> None:
    """Create a folder for the program itself; an existing one becomes private.

    Raises OSError, also for a link, which could lead into a folder that is not the program's.
    """
    if path.is_symlink():
        raise OSError(errno.ELOOP, "it is a link, not a folder", str(path))
    make_folders(path)
    mode = path.stat().st_mode & 0o777
    if mode & ~FOLDER_MODE:
        path.chmod(mode & FOLDER_MODE)


def open_file(path: Path, *, buffering: int = -1) -> BinaryIO:
    """A regular file for reading; links are followed. Never waits for a writer.

    Raises OSError as `open` does, and for a folder, a pipe or a device.
    """
    handle = os.open(path, os.O_RDONLY | NO_WAIT | NO_TERMINAL | BINARY)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "it is a folder, a pipe or a device, not a file", str(path))
    return os.fdopen(handle, "rb", buffering=buffering)


def read_file_within(path: Path, largest: int) -> bytes:
    """All bytes of a regular file; links are followed. Raises OSError as `open_file` does, and
    above `largest` bytes.
    """
    with open_file(path) as file:
        return _all_of(file, largest, path)


def append_own(path: Path, data: bytes) -> None:
    """Append to a file private to its owner, created if missing. Raises OSError."""
    handle = open_own(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        os.write(handle, data)
    finally:
        os.close(handle)


def open_own(path: Path, flags: int) -> int:
    """A descriptor of a program-owned file; a new one is private to its owner.

    Raises OSError as `os.open` does, and for a link, a pipe, a device, a folder, or another user's
    file. Never waits for a writer.
    """
    if path.is_symlink():
        raise OSError(errno.ELOOP, "it is a link, not a file", str(path))
    safe = NO_FOLLOW | NO_WAIT | NO_TERMINAL | NOT_INHERITED | BINARY
    handle = os.open(path, flags & ~os.O_TRUNC | safe, FILE_MODE)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "it is a folder, a pipe or a device, not a file", str(path))
        foreign = user() not in (None, os.fstat(handle).st_uid)
        if foreign and flags & (os.O_WRONLY | os.O_RDWR):
            raise PermissionError(errno.EPERM, "it belongs to another user", str(path))
        if flags & os.O_TRUNC:
            os.ftruncate(handle, 0)
    except BaseException:
        os.close(handle)
        raise
    return handle


def read_own(path: Path, largest: int = LARGEST_OWN) -> bytes:
    """All bytes of a program-owned file. Raises OSError as `open_own`, or above `largest` bytes."""
    with open(open_own(path, os.O_RDONLY), "rb") as file:
        return _all_of(file, largest, path)


def _all_of(file: BinaryIO, largest: int, path: Path) -> bytes:
    data = file.read(largest + 1)
    if len(data) > largest:
        raise OSError(errno.EFBIG, f"it is larger than {largest:,} bytes", str(path))
    return data


def open_plain(path: Path) -> BinaryIO:
    """The file behind `path`, for reading.

    Raises OSError as `open` does, and for a named pipe, which may never get a writer.
    """
    piped = stat.S_ISFIFO(path.stat().st_mode)
    if piped and not str(path.absolute()).startswith(_SHELL_PIPES):
        raise OSError(errno.EINVAL, "it is a named pipe, not a file", str(path))
    return path.open("rb")


def read_small(path: Path) -> bytes:
    """All bytes of a hand-written file.

    Raises OSError as `open_plain` does, and for a file that is endless or larger than
    LARGEST_BY_HAND.
    """
    with open_plain(path) as file:
        return _all_of(file, LARGEST_BY_HAND, path)


def open_new(path: Path, mode: int = FILE_MODE) -> int:
    """A descriptor of a new file. Raises OSError, also if it exists."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_FOLLOW | BINARY, mode)


def write_atomic(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Write a file atomically, readable by its owner only; a crash leaves the old or the new one.

    A link at `path` is replaced; its target is unchanged. `durable`: the directory entry is synced
    to disk, too, before this returns. Raises OSError; then the old file is still there.
    """
    # A random name: nobody can plant a link or a file there beforehand.
    fresh = path.with_name(f".reviewer-{os.urandom(16).hex()}.tmp")
    handle = open_new(fresh)
    try:
        with open(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, path)
    except BaseException:
        with suppress(OSError):  # the first problem is the one to report
            fresh.unlink()
        raise
    if durable and FOLDER:
        folder = os.open(path.parent, os.O_RDONLY | FOLDER)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
