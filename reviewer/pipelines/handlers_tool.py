"""Runs the shell command of a tool node; only ever called when the person has allowed it."""

from __future__ import annotations

import os
import re
import selectors
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

from reviewer.pipelines.run_errors import StageError, StoppedError

SECONDS = 600.0
"""How long a command may take that says nothing about it."""
LONGEST_OUTPUT = 1_000_000
"""Bytes of a command's output that are kept; the beginning goes first."""
_LOOK_EVERY = 0.1
_DURATION = re.compile(r"\s*(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>ms|s|m|h)?\s*")
_SECONDS_OF = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, None: 1.0}


def seconds_of(duration: str) -> float | None:
    """Seconds of a duration such as `900`, `900s`, `10m`; None when it is none."""
    found = _DURATION.fullmatch(duration)
    return None if found is None else float(found["number"]) * _SECONDS_OF[found["unit"]]


def run_command(
    command: str, *, folder: Path, goal: str, seconds: str, cancelled: Callable[[], bool]
) -> tuple[int, str]:
    """Exit code and output (both streams) of a command, run by /bin/sh in `folder`.

    Nothing of the run is written into the command's text: the goal is in the variable `goal`, so
    that no answer of a model can become a command. Raises StageError when it cannot be started or
    takes too long, StoppedError when a person stopped it; its whole process group ends.
    """
    allowed = seconds_of(seconds) or SECONDS
    try:
        process = subprocess.Popen(  # noqa: S603  # only what the person has allowed gets here
            ["/bin/sh", "-c", command],
            cwd=folder,
            env={**os.environ, "goal": goal.replace("\0", "")},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except (OSError, ValueError) as problem:
        raise StageError(f"The command cannot be started: {problem}.") from problem
    assert process.stdout is not None
    ends = time.monotonic() + allowed
    with process:
        try:
            output = _read(process.stdout, ends, cancelled)
            code = process.wait(max(ends - time.monotonic(), 0.01))
        except (TimeoutError, subprocess.TimeoutExpired):
            raise StageError(f"The command took longer than {allowed:g} s and was ended.") from None
        finally:
            _end_group(process.pid)
    return code, output.decode("utf-8", "replace")


def _read(pipe: IO[bytes], ends: float, cancelled: Callable[[], bool]) -> bytes:
    kept = bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while True:
            if cancelled():
                raise StoppedError
            if time.monotonic() > ends:
                raise TimeoutError
            if not selector.select(_LOOK_EVERY):
                continue
            piece = os.read(pipe.fileno(), 65_536)
            if not piece:
                return bytes(kept)
            kept += piece
            if len(kept) > LONGEST_OUTPUT:
                del kept[: len(kept) - LONGEST_OUTPUT]


def _end_group(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return  # it has ended
