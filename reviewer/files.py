"""Files: private ones, user-named ones, atomic replacement, and folders of strangers.

Links inside such a folder are not followed, so files outside it can be neither read nor
overwritten. `within`: a descriptor of the folder that contains `path`, so that the folder cannot be
swapped between two calls. Without it, the folder is opened by its path, and links are followed.
Windows has no such descriptors: there `within` is NO_HANDLE, and paths are used instead.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from reviewer.errors import ReviewerError, SourceError
from reviewer.system import (
    BINARY,
    FOLDER,
    HAS_FOLDER_HANDLES,
    NO_FOLLOW,
    NO_TERMINAL,
    NO_WAIT,
    NOT_INHERITED,
    PATH_ONLY,
    user,
)

FOLDER_MODE = 0o700
FILE_MODE = 0o600

LARGEST_BY_HAND = 2_000_000
"""Maximum size in bytes of a settings file, a keymap or a template."""

LARGEST_OWN = 64_000_000
"""Maximum size in bytes of a program-owned file that is read at once."""

HEAD_OF_OWN = 4_000
"""Bytes that identify an earlier text of the program."""

NO_HANDLE = -1
"""The folder descriptor on systems without folder descriptors."""

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


def make_folders(path: Path) -> None:
    """Create a folder and its missing parents, private to their owner.

    Existing folders are unchanged. Raises OSError.
    """
    missing = []
    while not path.exists():
        missing.append(path)
        path = path.parent
    for folder in reversed(missing):
        # `Path.mkdir(parents=True)` sets the mode of the last folder only.
        folder.mkdir(mode=FOLDER_MODE, exist_ok=True)


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
    handle = open_regular(path, flags & ~os.O_TRUNC | NOT_INHERITED, within=NO_HANDLE)
    try:
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
        raise OSError(errno.EFBIG, f"it is larger than {largest // 1_000_000} MB", str(path))
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


@contextmanager
def own_folder(path: Path) -> Iterator[int]:
    """A descriptor of a folder of this user, open until the end of the block.

    Raises OSError if it cannot be opened or belongs to another user.
    """
    if not HAS_FOLDER_HANDLES:
        path.stat()
        yield NO_HANDLE
        return
    try:
        folder = os.open(path, os.O_RDONLY | FOLDER)
    except NotADirectoryError:
        raise OSError(errno.ENOTDIR, "it is a file, not a folder", str(path)) from None
    try:
        if os.fstat(folder).st_uid != user():
            raise PermissionError(errno.EPERM, "it belongs to another user", str(path))
        yield folder
    finally:
        os.close(folder)


@contextmanager
def folder_without_links(path: Path) -> Iterator[int]:
    """A descriptor of an absolute folder path without links, for working inside it safe from links
    created meanwhile.

    Raises OSError, also if a part is a link by now.
    """
    if not HAS_FOLDER_HANDLES:
        path.stat()
        yield NO_HANDLE
        return
    handle = os.open(path.anchor, PATH_ONLY | FOLDER)
    try:
        for part in path.parts[1:]:
            inner = os.open(part, PATH_ONLY | FOLDER | NO_FOLLOW, dir_fd=handle)
            os.close(handle)
            handle = inner
        yield handle
    finally:
        os.close(handle)


def open_new(path: Path, mode: int, *, within: int) -> int:
    """A descriptor of a new file in a folder. Raises OSError, also if it exists."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_FOLLOW | BINARY
    if within == NO_HANDLE:
        return os.open(path, flags, mode)
    return os.open(path.name, flags, mode, dir_fd=within)


def stat_within(path: Path, within: int) -> os.stat_result:
    """The status of a file in a folder; a link is not followed. Raises OSError."""
    if within == NO_HANDLE:
        return path.lstat()
    return os.stat(path.name, dir_fd=within, follow_symlinks=False)


def replace_within(fresh: Path, path: Path, *, within: int) -> None:
    """Replace a file with a new one in the same folder. Raises OSError."""
    if within == NO_HANDLE:
        os.replace(fresh, path)
    else:
        os.replace(fresh.name, path.name, src_dir_fd=within, dst_dir_fd=within)


def remove_within(path: Path, *, within: int) -> None:
    """Remove a file in a folder; a missing one is not an error. Raises OSError."""
    with suppress(FileNotFoundError):
        if within == NO_HANDLE:
            path.unlink()
        else:
            os.unlink(path.name, dir_fd=within)


def open_regular(path: Path, flags: int, *, within: int) -> int:
    """A descriptor of a regular file. A new file is private to its owner. Never blocks.

    Raises OSError as `os.open` does, and for a link, a pipe, a device or a folder.
    """
    try:
        handle = _open_within(path, flags | NO_FOLLOW | NO_WAIT | NO_TERMINAL, within)
    except OSError as problem:
        if problem.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "it is a link, not a file", str(path)) from None
        raise
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "it is a folder, a pipe or a device, not a file", str(path))
    return handle


def _open_within(path: Path, flags: int, within: int) -> int:
    if within != NO_HANDLE:
        return os.open(path.name, flags | BINARY, FILE_MODE, dir_fd=within)
    if path.is_symlink():
        raise OSError(errno.ELOOP, "it is a link, not a file", str(path))
    return os.open(path, flags | BINARY, FILE_MODE)


def read_regular(path: Path, largest: int, *, within: int) -> bytes:
    """All bytes of a regular file. Raises OSError as `open_regular`, and above `largest` bytes."""
    with open(open_regular(path, os.O_RDONLY, within=within), "rb") as file:
        return _all_of(file, largest, path)


def write_atomic(
    path: Path,
    data: bytes,
    *,
    durable: bool = True,
    within: int | None = None,
) -> None:
    """Write a file atomically, readable by its owner only; a crash leaves the old or the new one.

    A link at `path` is replaced; its target is unchanged. `durable`: the directory entry is synced
    to disk, too, before this returns. Raises OSError; then the old file is still there.
    """
    if within is None and not HAS_FOLDER_HANDLES:
        within = NO_HANDLE
    if within is None:
        folder = os.open(path.parent, os.O_RDONLY | FOLDER)
        try:
            write_atomic(path, data, durable=durable, within=folder)
        finally:
            os.close(folder)
        return
    # A random name: nobody can plant a link or a file there beforehand.
    fresh = path.with_name(f".reviewer-{os.urandom(16).hex()}.tmp")
    handle = open_new(fresh, FILE_MODE, within=within)
    try:
        with open(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        replace_within(fresh, path, within=within)
    except BaseException:
        with suppress(OSError):  # the first problem is the one to report
            remove_within(fresh, within=within)
        raise
    if durable and within != NO_HANDLE:
        os.fsync(within)


def write_over_own(
    path: Path, data: bytes, is_own: Callable[[bytes], bool], otherwise: str
) -> tuple[Path, bytes | None]:
    """Write a user-named file; an existing one keeps its mode, and is replaced only if `is_own`
    accepts its beginning. `otherwise`: the end of the refusal's sentence.

    Returns the file, links followed, and the replaced content. Raises ReviewerError if it cannot be
    written; it is then unchanged.
    """
    try:
        target = Path(os.path.realpath(path))
    except ValueError as problem:  # a NUL in the name
        raise ReviewerError(f"{str(path)!r} is not a file name: {problem}.") from problem
    try:
        if path.is_symlink() and not target.exists():
            raise ReviewerError(f"{path} is a link to {target}, which does not exist.")
        if not target.exists():
            write_atomic(target, data)
            return target, None
        if not target.is_file():
            raise ReviewerError(f"{path} is not a regular file: name a file.")
        with open_file(target) as stream:
            head = stream.read(HEAD_OF_OWN)
            if not is_own(head):
                raise ReviewerError(f"{path} already exists and {otherwise}")
            before = head + stream.read()
        mode = target.stat().st_mode & 0o7777
        write_atomic(target, data)
        os.chmod(target, mode)
    except OSError as problem:
        raise ReviewerError(f"{path} cannot be written: {problem.strerror}.") from problem
    return target, before
