"""Calls in processes forked from one that has imported the program already.

Each call is a process of its own, with its own folder, environment and streams; only the imports
are shared. Tests of the cost of imports, and of the imports of each verb, start python themselves.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import cache, partial
from multiprocessing import forkserver, get_context
from multiprocessing.context import ForkServerContext
from multiprocessing.reduction import DupFd
from pathlib import Path
from typing import IO, Any

INTERPRETER = ("PYTHON", "LANG", "LC_")
"""Variables that python itself reads when it starts: such a call needs a start of its own."""

First = tuple[str, list[object]]
"""A function (`module:name`) that a call begins with, and its arguments."""

ROOT = Path(__file__).resolve().parents[2]

Running = subprocess.Popen[str]


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
        theirs = (theirs_in, theirs_out, theirs_err)
        self._process = _forking().Process(
            target=_run,
            args=(self.args, str(folder), dict(environment), _mask(), first, *map(_Passed, theirs)),
        )
        self._process.start()
        for each in theirs:
            os.close(each)
        assert self._process.pid is not None
        self.pid = self._process.pid

    def _wait(self, timeout: float | None) -> int:
        self._process.join(timeout)
        self.returncode = self._process.exitcode
        if self.returncode is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return int(self.returncode)

    def _internal_poll(self) -> int | None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._wait(0)
        return None


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
def _forking() -> ForkServerContext:
    """Starts processes from one with the imports, which is started at the first call."""
    context = get_context("forkserver")
    context.set_forkserver_preload(["tests.cli.preloaded"])
    with contextlib.chdir(ROOT):
        forkserver.ensure_running()
    return context


class _Passed:
    """An open file on its way into a process that is being started."""

    def __init__(self, number: int) -> None:
        self._number = number

    def __reduce__(self) -> tuple[Any, ...]:
        return _received, (DupFd(self._number),)


def _received(duplicate: Any) -> int:
    return int(duplicate.detach())


def _run(
    argv: list[str],
    folder: str,
    environment: dict[str, str],
    mask: int,
    first: First | None,
    *streams: int,
) -> None:
    from reviewer.main import program

    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    tempfile.tempdir = None  # it is looked up again
    os.umask(mask)
    for number, opened in enumerate(streams):
        os.dup2(opened, number)
        os.close(opened)
    # The modes of python's own streams on a system whose encoding is UTF-8. The fork server has
    # closed its own.
    opened_as = partial(open, encoding="utf-8", closefd=False)
    sys.stdin = sys.__stdin__ = opened_as(0)  # type: ignore[misc]
    sys.stdout = sys.__stdout__ = opened_as(1, "w")  # type: ignore[misc]
    sys.stderr = sys.__stderr__ = opened_as(2, "w", errors="backslashreplace")  # type: ignore[misc]
    sys.argv = argv
    if first is not None:
        module, name = first[0].split(":")
        getattr(importlib.import_module(module), name)(*first[1])
    try:
        program()
    except SystemExit:  # threads of it still run, and python waits for them when it ends
        atexit._run_exitfuncs()
        raise
