"""Calls in processes forked from one that has imported the program already.

Each call is a process of its own, with its own folder, environment and streams; only the imports
are shared. Tests of the cost of imports, and of the imports of each verb, start python themselves.

A fork costs as much as the memory that it copies. So there are two processes to fork from: one
with what every verb needs, and one that has also imported the client of models and the tokenizer,
for the verbs that use them.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

from tests.cli import imported

INTERPRETER = ("PYTHON", "LANG", "LC_")
"""Variables that python itself reads when it starts: such a call needs a start of its own."""

HEAVY = {
    "annotate", "brief", "commit", "compile", "compress", "context", "fleet", "hook", "keep",
    "make-packet-ready", "mcp", "model", "packet", "pipeline", "propose", "read-sessions",
    "summarize", "view", "watch",
}  # fmt: skip
"""Verbs that may ask a model or count tokens."""

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
    words = list(arguments)
    heavy = _heavy(words)
    with tempfile.TemporaryDirectory() as scratch, socket.socket(socket.AF_UNIX) as asking:
        streams = [os.path.join(scratch, name) for name in ("in", "out", "err")]
        Path(streams[0]).write_text(typed or "", "utf-8")
        asking.connect(_server(heavy))
        request = json.dumps([words, str(folder), dict(environment), _mask(), streams, first])
        asking.sendall(request.encode() + b"\n")
        with asking.makefile("rb") as answers:
            child = int(answers.readline())
            if not select.select([asking], [], [], seconds)[0]:
                os.kill(child, signal.SIGKILL)
                raise subprocess.TimeoutExpired(words, seconds)
            code = int(answers.readline())
        out, err = (Path(each).read_text("utf-8", "surrogateescape") for each in streams[1:])
        return subprocess.CompletedProcess(words, code, out, err)


class Started(subprocess.Popen[str]):
    """A call that goes on beside the test: `Popen`, with a fork in the place of a new python."""

    def __init__(
        self,
        arguments: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        streams: Mapping[str, Any],
    ) -> None:
        """`streams`: stdin, stdout and stderr as `Popen` takes them."""
        self._words = list(arguments)
        self._request = [self._words, str(folder), dict(environment), _mask(), None, None]
        self._asking = socket.socket(socket.AF_UNIX)
        super().__init__(
            ["reviewer", *arguments],
            text=True,
            encoding="utf-8",
            errors="surrogateescape",
            **streams,
        )

    def _execute_child(self, *given: Any) -> None:
        # Popen passes both ends of each pipe, the one to read first, or -1 where there is none.
        theirs = (given[10], given[13], given[15])
        self._asking.connect(_server(_heavy(self._words)))
        streams = [number if each == -1 else each for number, each in enumerate(theirs)]
        request = json.dumps(self._request).encode() + b"\n"
        socket.send_fds(self._asking, [request[:1]], streams)
        self._asking.sendall(request[1:])
        self._answers = self._asking.makefile("rb")
        self.pid = int(self._answers.readline())
        self._child_created = True
        self._close_pipe_fds(*given[10:16])  # type: ignore[attr-defined]

    def _internal_poll(self, *_: Any, **__: Any) -> int | None:
        if self.returncode is None and select.select([self._asking], [], [], 0)[0]:
            self._over()
        return self.returncode

    def _wait(self, timeout: float | None) -> int:
        if self.returncode is None:
            if not select.select([self._asking], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
            self._over()
        return self.returncode

    def _over(self) -> None:
        self.returncode = int(self._answers.readline())
        self._answers.close()
        self._asking.close()


def _heavy(words: Sequence[str]) -> bool:
    return not HEAVY.isdisjoint(words)


def _mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


@cache
def _server(heavy: bool) -> str:
    """The address of a process that forks one process for each call, started at the first."""
    address = tempfile.mktemp(prefix="reviewer-warm-")  # nobody else writes there before us
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.cli.warm", address, str(heavy)],
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


def serve(address: str, heavy: str) -> None:
    """Fork a process for each call until the standard input ends."""
    gc.disable()
    imported.modules(heavy=heavy == "True")
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
                # A call that goes on beside its test sends its streams ahead of the request.
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
    files: list[str] | None,
    first: First | None,
    streams: list[int],
) -> NoReturn:
    from reviewer.main import main

    code = 1
    try:
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        time.tzset()
        os.umask(mask)
        flags = (os.O_RDONLY, os.O_WRONLY | os.O_CREAT, os.O_WRONLY | os.O_CREAT)
        streams += [os.open(*each, 0o600) for each in zip(files or (), flags, strict=False)]
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
        try:
            code = main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(ValueError, OSError):
                stream.flush()
        os._exit(code)


if __name__ == "__main__":
    serve(*sys.argv[1:])
