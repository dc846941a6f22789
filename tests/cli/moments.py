"""Every moment at which a command touches the disk, and the state after a fault at one of them.

A command runs in a process of its own. Its moments are the statements that it
gives to SQLite and the files that it opens for writing, renames, makes or removes. At the moment
chosen it is killed, or that one thing fails.
"""

from __future__ import annotations

import atexit
import errno
import os
import shutil
import signal
import sqlite3
import sys
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

from reviewer.engine import Engine
from tests.cli import warm
from tests.stored import rows_of
from tests.waiting import PATIENCE

PROJECT = "kiosk"
FILE_EVENTS = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.chmod"}
NEVER = 10**9


class Fault(Enum):
    """What happens at the chosen moment."""

    KILLED = "killed"
    FULL = "the disk is full"
    BROKEN = "the disk cannot be read or written"


class Outcome(NamedTuple):
    """How a command ended; `moments` is None when it was killed."""

    code: int
    out: str
    err: str
    moments: int | None


class Moments:
    """Counts moments, and brings the fault at one of them."""

    def __init__(self, folder: Path, fault: Fault, chosen: int) -> None:
        self.count = 0
        self._folder, self._fault, self._chosen = str(folder), fault, chosen

    def install(self) -> None:
        """From now on, for the rest of this process."""
        moments = self

        class Connection(sqlite3.Connection):
            def execute(self, sql: str, *rest: Any) -> sqlite3.Cursor:
                moments.pass_(moments.sql_fault(sql))
                return super().execute(sql, *rest)

            def executemany(self, sql: str, *rest: Any) -> sqlite3.Cursor:
                moments.pass_(moments.sql_fault(sql))
                return super().executemany(sql, *rest)

            def executescript(self, sql: str) -> sqlite3.Cursor:
                moments.pass_(moments.sql_fault(sql))
                return super().executescript(sql)

        connect = sqlite3.connect
        sqlite3.connect = lambda *a, **k: connect(*a, **{"factory": Connection, **k})
        sys.addaudithook(self._file_event)

    def sql_fault(self, sql: str) -> Exception:
        """The error of SQLite when the disk fails during a statement."""
        if self._fault is Fault.FULL and not sql.lstrip().upper().startswith(("SELECT", "PRAGMA")):
            problem = sqlite3.OperationalError("database or disk is full")
            problem.sqlite_errorcode = sqlite3.SQLITE_FULL
        else:
            problem = sqlite3.OperationalError("disk I/O error")
            problem.sqlite_errorcode = sqlite3.SQLITE_IOERR
        return problem

    def _file_event(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, flags = arguments
            writes = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
            if not writes or (isinstance(mode, str) and mode.startswith("r") and "+" not in mode):
                return
        elif event in FILE_EVENTS:
            path = arguments[0]
        else:
            return
        if isinstance(path, (str, os.PathLike)) and os.path.abspath(path).startswith(self._folder):
            number = errno.ENOSPC if self._fault is Fault.FULL else errno.EIO
            self.pass_(OSError(number, os.strerror(number), str(path)))

    def pass_(self, problem: Exception) -> None:
        """One moment goes by, or not."""
        self.count += 1
        if self.count != self._chosen:
            return
        if self._fault is Fault.KILLED:
            os.kill(os.getpid(), signal.SIGKILL)
        raise problem


def watch(folder: str, fault: str, at: int, told: str) -> None:
    """In the process of a command: bring a fault at one moment, write down how many went by."""
    moments = Moments(Path(folder), Fault[fault], at)
    moments.install()
    atexit.register(lambda: Path(told).write_text(str(moments.count)))


def call(folder: Path, *arguments: str, fault: Fault = Fault.KILLED, at: int = NEVER) -> Outcome:
    """A command on the store in a folder."""
    told = folder.parent / f"{folder.name}.told"
    done = warm.call(
        ["--db", str(folder / "store.db"), "--project", PROJECT, *arguments],
        folder,
        {**os.environ, "HOME": str(folder)},
        None,
        PATIENCE,
        first=("tests.cli.moments:watch", [str(folder), fault.name, at, str(told)]),
    )
    code = done.returncode
    return Outcome(code, done.stdout, done.stderr, int(told.read_text()) if code >= 0 else None)


def copied(made: Path, name: str) -> Path:
    """A copy of a prepared folder beside it."""
    target = made.parent / name
    if target.exists():
        shutil.rmtree(target)
    shutil.copytree(made, target)
    return target


def ledger(folder: Path) -> list[tuple[str, str]]:
    """Kind and hash of every act of the store; the chain and the rows have to be whole."""
    if not (folder / "store.db").exists():
        return []
    engine = Engine.open(folder / "store.db")
    try:
        verdict = engine.history.verify()
        assert verdict.ok, verdict.problems
        return rows_of(engine.path, "SELECT kind, hash FROM ledger ORDER BY id")
    finally:
        engine.close()
