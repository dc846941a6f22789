"""Standard streams that the caller closed (`reviewer ... >&-`), so that no code meets None."""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper
from typing import IO

STDIN, STDOUT, STDERR = range(3)


def stand_in_for_closed() -> None:
    """Open what stands for each closed stream, before any file could get its number.

    Reading a closed stdin and writing a closed stdout fail with EBADF, as the system has it; what
    would be said on a closed stderr is lost. The exit code still tells.
    """
    if sys.stdin is None:
        sys.stdin = _stream(STDIN, os.O_WRONLY, "r")
    if sys.stdout is None:
        sys.stdout = _stream(STDOUT, os.O_RDONLY, "w")
    if sys.stderr is None:
        sys.stderr = _stream(STDERR, os.O_WRONLY, "w")


def flush_streams() -> None:
    """Flush stdout and stderr; what cannot be written any more (a closed terminal) is discarded.

    The interpreter would flush them again when it ends, fail, and replace the exit code with 120.
    """
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        if stream is None or stream.closed:
            continue
        try:
            stream.flush()
        except OSError:
            discard_output(stream)


def discard_output(stream: IO[str]) -> None:
    """Send what a stream still holds, and all that follows, nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _stream(wanted: int, flags: int, mode: str) -> TextIOWrapper:
    stream = os.fdopen(_number(wanted, flags), mode, encoding="utf-8", closefd=False)
    assert isinstance(stream, TextIOWrapper)
    return stream


def _number(wanted: int, flags: int) -> int:
    """The number of a null device that allows only what `flags` say: `wanted`, if it is free."""
    opened = os.open(os.devnull, flags)
    try:
        os.fstat(wanted)
    except OSError:
        os.dup2(opened, wanted)
        os.close(opened)
        return wanted
    return opened
