"""Shell commands of tool nodes, which run only with permission."""

from __future__ import annotations

import os
import re
import selectors
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

from reviewer.pipelines.attribute_meanings import COMMAND, first_of
from reviewer.pipelines.events import StoppedError
from reviewer.pipelines.values import PipelineNode
from reviewer.system import KILL, end_group

COMMAND_SECONDS = 600.0
"""Time limit of a command without a `timeout`."""
LONGEST_OUTPUT = 1_000_000
"""Maximum bytes kept of a command's output; the end is kept."""
_CHECK_SECONDS = 0.1
_DURATION = re.compile(r"\s*(?P<number>\d+(?:\.\d+)?)\s*+(?P<unit>ms|s|m|h)?\s*+")
_SECONDS_OF = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, None: 1.0}


class CommandError(Exception):
    """A command could not be started, or took too long."""


def command_of(node: PipelineNode) -> str:
    """The shell command of a tool node; empty if it has none."""
    return first_of(node.attributes, COMMAND) or ""


def seconds_of(duration: str) -> float | None:
    """Seconds of a duration such as `900`, `900s`, `10m`; else None."""
    found = _DURATION.fullmatch(duration)
    return None if found is None else float(found["number"]) * _SECONDS_OF[found["unit"]]


def run_command(
    node: PipelineNode, folder: Path, goal: str, cancelled: Callable[[], bool]
) -> tuple[int, str]:
    """Exit code and output (both streams) of a node's command, run by /bin/sh in `folder`.

    The text of the command is never filled in, so that a model's answer cannot become a command;
    the goal is in the variable `goal`. Raises CommandError if it cannot be started or takes too
    long, StoppedError if a person stopped it; its process group is killed.
    """
    allowed = seconds_of(node.attributes.get("timeout", "")) or COMMAND_SECONDS
    try:
        process = subprocess.Popen(  # noqa: S603  # the person has allowed it
            ["/bin/sh", "-c", command_of(node)],
            cwd=folder,
            env={**os.environ, "goal": goal.replace("\0", "")},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except (OSError, ValueError) as problem:
        raise CommandError(f"The command cannot be started: {problem}.") from problem
    assert process.stdout is not None
    ends = time.monotonic() + allowed
    with process:
        try:
            output = _read(process.stdout, ends, cancelled)
            code = process.wait(max(ends - time.monotonic(), 0.01))
        except (TimeoutError, subprocess.TimeoutExpired):
            raise CommandError(
                f"The command took longer than {allowed:g} s and was killed."
            ) from None
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
            if not selector.select(_CHECK_SECONDS):
                continue
            piece = os.read(pipe.fileno(), 65_536)
            if not piece:
                return bytes(kept)
            kept += piece
            if len(kept) > LONGEST_OUTPUT:
                del kept[: len(kept) - LONGEST_OUTPUT]


def _end_group(group: int) -> None:
    try:
        end_group(group, KILL)
    except (ProcessLookupError, PermissionError):
        return  # it has ended
