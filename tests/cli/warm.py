"""Calls in processes forked from one that has imported the program already.

Each call is a process of its own, with its own folder, environment and streams; only the imports
are shared. Tests of the cost of imports, and of the imports of each verb, start python themselves.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import IO, Any, NoReturn

INTERPRETER = ("PYTHON", "LANG", "LC_")
"""Variables that python itself reads when it starts: such a call needs a start of its own."""

LEFT_OUT = (
    "reviewer.tui",
    "reviewer.__main__",
    "reviewer.fleet.",
    "reviewer.serving",
    "reviewer.agents.mcp_server",
)
"""Modules that a call imports itself."""

First = tuple[str, list[object]]
"""A function (`module:name`) that a call begins with, and its arguments."""

ROOT = Path(__file__).resolve().parents[2]


def call(
    arguments: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    typed: str | None,
    seconds: float,
    first: First | None = None,
) -> subprocess.CompletedProcess[str]:
    """What `reviewer ARGUMENTS` answered. Raises TimeoutExpired after `seconds`."""
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with Started(arguments, folder, environment, streams, first) as running:
        try:
            out, err = running.communicate(typed, seconds)
        except subprocess.TimeoutExpired:
            running.kill()
            raise
    return subprocess.CompletedProcess(running.args, running.returncode, out, err)


Running = subprocess.Popen[str]


class Started(subprocess.Popen[str]):
    """A call that goes on beside the test: a `Popen` whose process was forked elsewhere."""

    def __init__(
        self,
        arguments: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        streams: Mapping[str, Any],
        first: First | None = None,
    ) -> None:
        """`streams`: stdin, stdout and stderr as `Popen` takes them."""
        self.args = ["reviewer", *arguments]
        self.returncode: int | Any = None
        self.text_mode = True
        self._communication_started = self._child_created = False
        self._input = None
        self._sigint_wait_secs = 0.25
        self.stdin, theirs_in = _stream(streams["stdin"], 0)
        self.stdout, theirs_out = _stream(streams["stdout"], 1)
        self.stderr, theirs_err = _stream(streams["stderr"], 2)
        self._asking = socket.socket(socket.AF_UNIX)
        self._asking.connect(_server())
        words = [list(arguments), str(folder), dict(environment), _mask(), first]
        request = json.dumps(words).encode() + b"\n"
        socket.send_fds(self._asking, [request[:1]], [theirs_in, theirs_out, theirs_err])
        self._asking.sendall(request[1:])
        for each in (theirs_in, theirs_out, theirs_err):
            os.close(each)
        self._answers = self._asking.makefile("rb")
        self.pid = int(self._answers.readline())

    def _wait(self, timeout: float | None) -> int:
        if self.returncode is None:
            if not select.select([self._asking], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
            self.returncode = int(self._answers.readline())
            self._answers.close()
            self._asking.close()
        return int(self.returncode)

    def _internal_poll(self) -> int | None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._wait(0)
        return None if self.returncode is None else int(self.returncode)


def _stream(given: Any, number: int) -> tuple[IO[str] | None, int]:
    """Our end of a pipe, or None; and the end of the child, which the caller closes."""
    if given == subprocess.PIPE:
        reads, writes = os.pipe()
        ours, theirs, mode = (writes, reads, "w") if number == 0 else (reads, writes, "r")
        return open(ours, mode, encoding="utf-8", errors="surrogateescape"), theirs
    if given == subprocess.DEVNULL:
        return None, os.open(os.devnull, os.O_RDWR)
    if given is None:
        return None, os.dup(number)
    return None, os.dup(given if isinstance(given, int) else given.fileno())


def _mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


@cache
def _server() -> str:
    """The address of a process that forks one process for each call, started at the first."""
    address = tempfile.mktemp(prefix="reviewer-warm-")  # nobody else writes there before us
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.cli.warm", address],
        cwd=ROOT,
        stdin=subprocess.PIPE,  # it ends when this process does
        stdout=subprocess.PIPE,
    )
    atexit.register(_end, server, address)
    assert server.stdout is not None
    assert server.stdout.readline() == b"ready\n"
    return address


def _end(server: subprocess.Popen[bytes], address: str) -> None:
    assert server.stdin is not None
    server.stdin.close()
    server.wait()
    Path(address).unlink(missing_ok=True)


def import_program() -> None:
    """Import what a call may need, also the tokenizer and what new stores need and keep."""
    import reviewer
    from reviewer.store.schema import schema_problems
    from reviewer.text.tokens import counter

    for module in pkgutil.walk_packages(reviewer.__path__, "reviewer."):
        if not module.name.startswith(LEFT_OUT):
            importlib.import_module(module.name)
    with contextlib.closing(sqlite3.connect(":memory:")) as store:
        schema_problems(store)
    counter()


def serve(address: str) -> None:
    """Fork a process for each call until the standard input ends."""
    gc.disable()
    import_program()
    gc.collect()
    gc.freeze()  # collecting in a child would copy all of these objects
    gc.enable()
    waiting: dict[int, socket.socket] = {}
    ended, wakes = os.pipe()
    os.set_blocking(wakes, False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started it ends it
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wakes)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen(64)
        os.write(1, b"ready\n")
        while True:
            ready, _, _ = select.select([listener.fileno(), ended, 0], [], [])
            if 0 in ready:
                return
            if ended in ready:
                os.read(ended, 4096)
                _report(waiting)
            if listener.fileno() in ready:
                asking, _ = listener.accept()
                begun, streams, _, _ = socket.recv_fds(asking, 1, 3)
                with asking.makefile("rb") as questions:
                    request = json.loads(begun + questions.readline())
                child = os.fork()
                if child == 0:
                    signal.set_wakeup_fd(-1)
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    signal.signal(signal.SIGINT, signal.default_int_handler)
                    os.close(ended)
                    os.close(wakes)
                    for each in (listener, asking, *waiting.values()):
                        each.close()
                    _run(*[*request, streams])
                for stream in streams:
                    os.close(stream)
                waiting[child] = asking
                asking.sendall(f"{child}\n".encode())


def _report(waiting: dict[int, socket.socket]) -> None:
    """Tell those who wait how the processes ended that have ended by now."""
    while waiting:
        child, status = os.waitpid(-1, os.WNOHANG)
        if child == 0:
            return
        with waiting.pop(child) as asking, contextlib.suppress(BrokenPipeError):
            asking.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())


def _run(
    arguments: list[str],
    folder: str,
    environment: dict[str, str],
    mask: int,
    first: First | None,
    streams: list[int],
) -> NoReturn:
    from reviewer.main import program

    try:
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        time.tzset()
        tempfile.tempdir = None  # it is looked up again
        os.umask(mask)
        for number, opened in enumerate(streams):
            os.dup2(opened, number)
            os.close(opened)
        # The modes of python's own streams on a system whose encoding is UTF-8.
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
        sys.argv = ["reviewer", *arguments]
        if first is not None:
            module, name = first[0].split(":")
            getattr(importlib.import_module(module), name)(*first[1])
        program()
    except SystemExit:  # threads of it still run, and python waits for them when it ends
        raise
    except BaseException:
        sys.excepthook(*sys.exc_info())
        sys.stderr.flush()
    os._exit(1)


if __name__ == "__main__":
    serve(*sys.argv[1:])
