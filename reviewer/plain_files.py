"""Opening a file that a person named, without waiting for ever for one that never answers."""

from __future__ import annotations

import errno
import stat
from pathlib import Path
from typing import BinaryIO

_GIVEN_BY_A_SHELL = ("/dev/", "/proc/")
"""Where `<(command)` and `/dev/stdin` lie: pipes that have a writer."""


def open_plain(path: Path) -> BinaryIO:
    """The file behind `path`, for reading.

    Raises OSError as `open` does, and for a named pipe, whose writer may never come.
    """
    piped = stat.S_ISFIFO(path.stat().st_mode)
    if piped and not str(path.absolute()).startswith(_GIVEN_BY_A_SHELL):
        raise OSError(errno.EINVAL, "it is a named pipe, not a file", str(path))
    return path.open("rb")


LARGEST = 2_000_000
"""Bytes that a settings file, a keymap or a template may have."""


def read_small(path: Path) -> bytes:
    """A file that a person writes by hand, whole.

    Raises OSError as `open_plain` does, and for one that is larger than LARGEST or has no end.
    """
    with open_plain(path) as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise OSError(errno.EFBIG, f"it is larger than {LARGEST // 1_000_000} MB", str(path))
    return data
