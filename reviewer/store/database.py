"""Opens the SQLite file, and turns its errors into sentences."""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from reviewer.errors import ReadStoppedError, StoreError
from reviewer.files import is_own, make_folders
from reviewer.mounts import network_file_system
from reviewer.sharing import is_shared
from reviewer.store.changes import Value
from reviewer.store.migrations import bring_up_to_date
from reviewer.store.ownership import Ownership

PROGRESS_STEPS = 20_000
"""SQLite steps between two checks for cancellation: a few milliseconds."""

NOT_WRITTEN = " The last step was not written."

SHARED_MEMORY_BYTES = 32_768
"""The file that SQLite creates beside a store before it reads."""

CACHE_KIB = 32_768
"""The page cache of a connection, at most: an index is written in random order."""

BUSY_MILLISECONDS = 10_000
"""How long a write waits for another process."""


class Database:
    """One store file: a writing connection guarded by a lock, and a reading one per thread."""

    def __init__(self, path: Path) -> None:
        """Open or create the store at `path` and bring its tables up to date.

        Raises StoreError if the file cannot be opened, or is not a store readable by this program.
        """
        self.path = path
        self.write_lock = threading.RLock()
        self.ownership = Ownership()
        self._local = threading.local()
        self._readers: list[sqlite3.Connection] = []
        self.is_owner = True
        """The file belongs to the user that runs this process."""
        if is_shared(path) and (system := network_file_system(path.parent)):
            raise StoreError(
                f"{path} is shared by a group and on a network share ({system}), where writers on "
                "several hosts would damage it. Move it to a local disk of one host."
            )
        with failures_as_sentences(path, writing=True):
            self._prepare_folder()
            self.writer = self.connect()
            self.writer.execute(f"PRAGMA cache_size = -{2 * CACHE_KIB}")
            bring_up_to_date(self.writer, path)
            self._place = path.absolute()
            self._file = _identity(self._place)
            self.is_owner = is_own(self._place)

    def _prepare_folder(self) -> None:
        try:
            make_folders(self.path.parent)
            if not self.path.exists():
                os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
            elif not self.path.is_file() and not self.path.is_dir():
                raise StoreError(
                    f"{self.path} is a pipe or a device, not a regular file. Name another with"
                    " --db."
                )
            elif self.path.is_file() and not _may_write(self.path):
                raise StoreError(
                    f"The store {self.path} is read-only. Copy it to a folder of your own, with"
                    f" {self.path.name}-wal if there is one, and name the copy with --db."
                )
        except OSError as problem:
            raise StoreError(
                f"Cannot create the store {self.path}: {problem.strerror}. "
                "Name another place with --db."
            ) from problem

    def connect(self) -> sqlite3.Connection:
        """A new connection, in autocommit mode. Raises sqlite3.Error, and StoreError."""
        connection = sqlite3.connect(
            self.path,
            isolation_level=None,
            check_same_thread=False,
            timeout=BUSY_MILLISECONDS / 1000,
        )
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")
        # Some builds overwrite every freed page, too; forgotten rows are overwritten by `erasing`.
        connection.execute("PRAGMA secure_delete = FAST")
        connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        return connection

    def reader(self) -> sqlite3.Connection:
        """The calling thread's own connection, which cannot write."""
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            self.require_in_place()  # connecting to a missing file would create an empty one
            with failures_as_sentences(self.path):
                connection = self.connect()
                connection.execute("PRAGMA query_only = ON")
            connection.row_factory = sqlite3.Row
            self._local.connection = connection
            self._readers.append(connection)
        return connection

    def require_own(self, table: str, rows: Iterable[int]) -> None:
        """Raise OtherProjectError unless the rows belong to the current project."""
        with failures_as_sentences(self.path):
            self.ownership.require(self.reader().execute, table, rows)

    def query(
        self, sql: str, parameters: Sequence[Value] | Mapping[str, Value] = ()
    ) -> list[sqlite3.Row]:
        """Rows read on the calling thread's connection. Raises StoreError."""
        with failures_as_sentences(self.path):
            return self.reader().execute(sql, parameters).fetchall()

    def first(self, sql: str, parameters: Sequence[Value] = ()) -> sqlite3.Row | None:
        """The first row, or None. Raises StoreError."""
        return next(iter(self.query(sql, parameters)), None)

    @contextmanager
    def reading_until(self, cancelled: Callable[[], bool] | None) -> Iterator[None]:
        """Stop a read of the calling thread inside the block as soon as `cancelled` returns true.

        Raises ReadStoppedError then, and StoreError for errors of SQLite.
        """
        with failures_as_sentences(self.path):
            if cancelled is None:
                yield
                return
            reader = self.reader()
            reader.set_progress_handler(cancelled, PROGRESS_STEPS)
            try:
                yield
            finally:
                reader.set_progress_handler(None, 0)

    def require_in_place(self) -> None:
        """Raise StoreError unless the path still leads to the opened file.

        SQLite goes on writing to a file that was removed, renamed or replaced, or on a disk that
        was unmounted; such writes would be lost.
        """
        if _identity(self._place) != self._file:
            raise StoreError(
                f"The store {self.path} was moved, removed or replaced while it was open. The last "
                "step was not written; put the file back. To use another in its place, leave the "
                f"program, take {self.path.name}-wal away, and put the other there again."
            )
        log = self._place.with_name(self._place.name + "-wal")
        if not log.exists() and self._uses_log():
            raise StoreError(
                f"{log} was removed while the store was open. The last step was not written; "
                "leave the program to make the store whole, and start again."
            )

    def _uses_log(self) -> bool:
        return bool(self.writer.execute("PRAGMA journal_mode").fetchone()[0] == "wal")

    def data_version(self) -> int:
        """A number that changes with every write by another connection. Raises StoreError."""
        with failures_as_sentences(self.path):
            return int(self.reader().execute("PRAGMA data_version").fetchone()[0])

    def close(self) -> None:
        """Close every connection."""
        for connection in [self.writer, *self._readers]:
            connection.close()
        self._readers.clear()


def _may_write(path: Path) -> bool:
    """Whether this user may write to a file, and create a log beside it."""
    return os.access(path, os.W_OK) and os.access(path.resolve().parent, os.W_OK)


def _identity(path: Path) -> tuple[int, int] | None:
    """Device and inode of the file behind a path; None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


@contextmanager
def failures_as_sentences(path: Path, *, writing: bool = False) -> Iterator[None]:
    """Turn errors of SQLite inside the block into StoreErrors with advice.

    With `writing`, the sentence says that nothing was written; not for a block that only reads,
    which may follow one that wrote.
    """
    try:
        yield
    except sqlite3.Error as problem:
        if _code(problem) == sqlite3.SQLITE_INTERRUPT:
            raise ReadStoppedError("The read was cancelled.") from problem
        raise StoreError(_sentence(path, problem, writing)) from problem


def is_of_the_disk(problem: sqlite3.Error) -> bool:
    """Whether the disk failed or had no room, rather than a row being at fault."""
    return _code(problem) in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_NOMEM)


def _code(problem: sqlite3.Error) -> int:
    return int(getattr(problem, "sqlite_errorcode", sqlite3.SQLITE_ERROR)) & 0xFF


def _is_full(path: Path) -> bool:
    """Whether there is no room for the files that SQLite keeps beside a store, even to read. False
    if the system cannot say.
    """
    try:
        return shutil.disk_usage(path.parent).free < SHARED_MEMORY_BYTES
    except OSError:
        return False


def _sentence(path: Path, problem: sqlite3.Error, writing: bool) -> str:
    code = _code(problem)
    if code == sqlite3.SQLITE_NOTADB:
        return f"{path} is not a reviewer store. Name another file with --db."
    if code == sqlite3.SQLITE_CORRUPT:
        return f"The store {path} is damaged ({problem}). Restore it from a backup."
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return (
            f"The store {path} is busy: another program has been writing for more than "
            f"{BUSY_MILLISECONDS // 1000} s. The last step was not written; try again."
        )
    if code == sqlite3.SQLITE_READONLY:
        return f"The store {path} is read-only. Change its permissions or name another with --db."
    if code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and _is_full(path)):
        return f"The disk of {path} is full. The last step was not written; make room, try again."
    if code == sqlite3.SQLITE_CANTOPEN:
        if path.is_dir():
            return f"{path} is a folder: name a file in it with --db."
        return f"Cannot open the store {path}. Check the folder's permissions or use --db."
    if code == sqlite3.SQLITE_IOERR and not writing:
        return f"The store {path} could not be read ({problem}). Check the disk and its limits."
    if code == sqlite3.SQLITE_IOERR:
        return (
            f"The store {path} could not be read or written ({problem}). The last step was not "
            "written; check the disk and its limits."
        )
    return f"The store {path} answered: {problem}." + (NOT_WRITTEN if writing else "")
