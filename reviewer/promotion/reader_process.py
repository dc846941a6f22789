"""How a reading process begins: as a copy of this one where that is safe, else from the start.

A copy is there at once and knows all that this process has loaded; one that begins anew needs
0.3 s for that.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from typing import IO, Protocol, cast

MOST_FILES = 1 << 20
"""Open files of which one may be closed in a copy; the system's own limit may be absurd."""

_ANSWERED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if os.name == "posix" else ()

Serve = Callable[[IO[bytes], IO[bytes]], None]
"""The life of a reading process: jobs come in by the first stream, pieces go out by the second."""


class ReaderProcess(Protocol):
    """A process that reads, and the streams to it."""

    stdin: IO[bytes] | None
    stdout: IO[bytes] | None
    pid: int

    def kill(self) -> None:
        """End it, whatever it does."""
        ...

    def poll(self) -> int | None:
        """How it ended; None while it runs."""
        ...

    def wait(self) -> int:
        """Wait for its end."""
        ...


def start(serve: Serve) -> ReaderProcess:
    """Begin a reading process. Raises OSError when the system lets none begin."""
    return Forked(serve) if may_fork() else begun_anew()


def may_fork() -> bool:
    """Whether a copy of this process would be whole: other threads would stand still in it."""
    return sys.platform == "linux" and threading.active_count() == 1


class Forked:
    """A copy of this process that reads and nothing else."""

    def __init__(self, serve: Serve) -> None:
        in_reader, in_writer = os.pipe()
        out_reader, out_writer = os.pipe()
        # A signal must not be answered twice, by the copy as well.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _ANSWERED)
        try:
            self.pid = os.fork()
            if not self.pid:
                _live(serve, in_reader, out_writer, before)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        os.close(in_reader)
        os.close(out_writer)
        self.stdin: IO[bytes] | None = os.fdopen(in_writer, "wb")
        self.stdout: IO[bytes] | None = os.fdopen(out_reader, "rb")
        self._ended: int | None = None

    def kill(self) -> None:
        """See `ReaderProcess`."""
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)

    def poll(self) -> int | None:
        """See `ReaderProcess`."""
        return self._look(os.WNOHANG)

    def wait(self) -> int:
        """See `ReaderProcess`."""
        ended = self._look(0)
        assert ended is not None
        return ended

    def _look(self, options: int) -> int | None:
        if self._ended is None:
            number, status = os.waitpid(self.pid, options)
            if number:
                self._ended = os.waitstatus_to_exitcode(status)
        return self._ended


def _live(serve: Serve, in_reader: int, out_writer: int, mask: Iterable[int]) -> None:
    """The life of a copy. Nothing of what it was copied from may go on: no end of it is reached,
    no file of it stays open, and a signal is for the one who asked.
    """
    status = 1
    try:
        os.setsid()
        for each in _ANSWERED:
            signal.signal(each, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        # The streams take the places of the standard ones, so that all others can be closed.
        kept = (os.dup(in_reader), os.dup(out_writer), os.open(os.devnull, os.O_WRONLY))
        first = max(kept) + 1
        places = [os.dup2(file, first + number) for number, file in enumerate(kept)]
        for number, place in enumerate(places):
            os.dup2(place, number)
        os.closerange(len(places), min(os.sysconf("SC_OPEN_MAX"), MOST_FILES))
        with open(0, "rb", closefd=False) as stdin, open(1, "wb", closefd=False) as stdout:
            serve(stdin, stdout)
        status = 0
    finally:
        os._exit(status)  # whatever went wrong: the one who asked sees it, and reads himself


def begun_anew() -> ReaderProcess:
    """A new process."""
    # -P: a folder that is being read must not be where modules are found.
    program = (
        "import sys; sys.path[:] = sys.argv[1:];"
        "from reviewer.promotion.readers import serve_standard; serve_standard()"
    )
    paths = [path for path in sys.path if path]
    process = subprocess.Popen(  # noqa: S603
        [sys.executable, "-P", "-c", program, *paths],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # ctrl+c is for the one who asked
    )
    return cast(ReaderProcess, process)
