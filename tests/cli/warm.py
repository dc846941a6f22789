"""Calls in processes forked from one that has imported the program already.

Each call is a process of its own, with its own folder, environment and streams; only the imports
are shared. Tests of the cost of imports, and of the imports of each verb, start python themselves.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

INTERPRETER = ("PYTHON", "LANG", "LC_")
"""Variables that python itself reads when it starts: such a call needs a start of its own."""


def call(
    arguments: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    typed: str | None,
    seconds: float,
) -> subprocess.CompletedProcess[str]:
    """What `reviewer ARGUMENTS` answered. Raises TimeoutExpired after `seconds`."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.cli.imported"])
    with tempfile.TemporaryDirectory() as scratch:
        streams = [Path(scratch) / name for name in ("in", "out", "err")]
        streams[0].write_text(typed or "", "utf-8")
        process = context.Process(
            target=_run, args=(list(arguments), folder, dict(environment), streams)
        )
        process.start()
        process.join(seconds)
        if process.exitcode is None:
            process.kill()
            raise subprocess.TimeoutExpired(list(arguments), seconds)
        out, err = (path.read_text("utf-8", "surrogateescape") for path in streams[1:])
        return subprocess.CompletedProcess(list(arguments), process.exitcode, out, err)


def _run(
    arguments: list[str], folder: Path, environment: dict[str, str], streams: list[Path]
) -> None:
    from reviewer.main import main

    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    flags = (os.O_RDONLY, os.O_WRONLY | os.O_CREAT, os.O_WRONLY | os.O_CREAT)
    for number, (path, how) in enumerate(zip(streams, flags, strict=True)):
        os.dup2(os.open(path, how, 0o600), number)
    # The modes of python's own streams on a system whose encoding is UTF-8.
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    sys.argv = ["reviewer", *arguments]
    code = main()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(ValueError):
            stream.flush()
    sys.exit(code)
