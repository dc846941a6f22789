"""Differences between Windows, Linux and macOS: flags of files, locks, and groups of processes."""

from __future__ import annotations

import os
import signal
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # Windows
    _fcntl: Any = None
else:
    _fcntl = fcntl

NO_FOLLOW: int = getattr(os, "O_NOFOLLOW", 0)
NO_WAIT: int = getattr(os, "O_NONBLOCK", 0)
NO_TERMINAL: int = getattr(os, "O_NOCTTY", 0)
NOT_INHERITED: int = getattr(os, "O_CLOEXEC", getattr(os, "O_NOINHERIT", 0))
FOLDER: int = getattr(os, "O_DIRECTORY", 0)
BINARY: int = getattr(os, "O_BINARY", 0)
"""Without it, Windows changes a file's line ends."""

POLL = 0.1
"""Seconds between two attempts to lock a file."""


def working_folder() -> Path:
    """The working folder; its former path once it is deleted, as agents delete worktrees."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path(os.environ.get("PWD", os.sep))


def own_command(*words: str) -> list[str]:
    """The command that starts this program with these words.

    It never imports from the current folder, where anybody may have left a `json.py`.
    """
    return [sys.executable, "-P", "-m", "reviewer", *words]


def user() -> int | None:
    """The id of this user; None on systems without user ids."""
    geteuid = getattr(os, "geteuid", None)
    return None if geteuid is None else int(geteuid())


def lock(handle: int, *, wait: bool = False) -> None:
    """Lock an open file against other programs, until it is closed.

    Raises BlockingIOError if another program has it and `wait` is not set.
    """
    if _fcntl is not None:
        _fcntl.flock(handle, _fcntl.LOCK_EX | (0 if wait else _fcntl.LOCK_NB))
        return
    msvcrt = import_module("msvcrt")
    while True:
        try:
            os.lseek(handle, 0, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError as problem:
            if not wait:
                raise BlockingIOError(problem.errno, "another program has locked it") from None
            time.sleep(POLL)
        else:
            return


def end_group(process: int, number: int) -> None:
    """Send a signal to a process and, if there are groups, to everything that it has started.

    Raises ProcessLookupError and PermissionError.
    """
    if hasattr(os, "killpg"):
        os.killpg(process, number)
    else:
        os.kill(process, signal.SIGTERM)


KILL: int = getattr(signal, "SIGKILL", signal.SIGTERM)
HANG_UP: int | None = getattr(signal, "SIGHUP", None)


def default_store() -> Path:
    """The store in the user's data folder."""
    from platformdirs import user_data_path  # late: few commands need it

    return user_data_path("reviewer", appauthor=False) / "reviewer.db"
