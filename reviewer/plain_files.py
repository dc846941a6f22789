"""Opening files that the user named, without blocking for ever on a pipe without a writer."""

from __future__ import annotations

import errno
import stat
from pathlib import Path
from typing import BinaryIO

_GIVEN_BY_A_SHELL = ("/dev/", "/proc/")
"""Folders of `<(command)` and `/dev/stdin`, which are pipes that have a writer."""


def open_plain(path: Path) -> BinaryIO:
    """The file behind `path`, for reading.

    Raises OSError as `open` does, and for a named pipe, which may never get a writer.
    """
    piped = stat.S_ISFIFO(path.stat().st_mode)
    if piped and not str(path.absolute()).startswith(_GIVEN_BY_A_SHELL):
        raise OSError(errno.EINVAL, "it is a named pipe, not a file", str(path))
    return path.open("rb")


LARGEST = 2_000_000
"""Maximum size in bytes of a settings file, a keymap or a template."""


def read_small(path: Path) -> bytes:
    """All bytes of a file that people write by hand.

    Raises OSError as `open_plain` does, and for a file that is larger than LARGEST or endless.
    """
    with open_plain(path) as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise OSError(errno.EFBIG, f"it is larger than {LARGEST // 1_000_000} MB", str(path))
    return data
