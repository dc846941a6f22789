"""One line on stderr, drawn again and again while something long goes on."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from reviewer.cli.output import cut, safe
from reviewer.errors import BrokenOff

if TYPE_CHECKING:
    from types import FrameType

    from reviewer.engine import Progress

SECONDS_BETWEEN_DRAWINGS = 0.1
STDERR = 2
"""Its number: a handler of signals may not write to `sys.stderr`, which may be busy writing."""


class ProgressLine:
    """Shows how far an ingestion, or other long work, is; nothing when stderr is no terminal."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()
        self._drawn_at = 0.0

    def __call__(self, progress: Progress) -> None:
        """Draw the line again, at most ten times a second."""
        if self._due():
            self._draw(
                f"{progress.files_done} of {progress.files_total} files  "
                f"{progress.bytes_done / 1e6:,.1f} of {progress.bytes_total / 1e6:,.1f} MB  "
                f"{progress.candidates} candidates  {safe(str(progress.path or ''))}"
            )

    def show(self, line: str) -> None:
        """Draw another line, at most ten times a second."""
        if self._due():
            self._draw(line)

    def _due(self) -> bool:
        now = time.monotonic()
        if not self._shown or now - self._drawn_at < SECONDS_BETWEEN_DRAWINGS:
            return False
        self._drawn_at = now
        return True

    def _draw(self, line: str) -> None:
        from shutil import get_terminal_size

        columns = get_terminal_size().columns
        sys.stderr.write("\r" + cut(line, columns - 1) + "\x1b[K")
        sys.stderr.flush()

    def clear(self) -> None:
        """Take the line away."""
        if self._shown and self._drawn_at:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


class Interruption:
    """Whether the person pressed Ctrl-C. The second time, the work is broken off at once."""

    def __init__(self) -> None:
        self.asked = False
        self._in_breakable = False

    def __call__(self) -> bool:
        """True once the work should come to an orderly end."""
        return self.asked

    @contextmanager
    def breakable(self) -> Iterator[None]:
        """A block that the first Ctrl-C ends at once, with BrokenOff (see `errors.Breakable`)."""
        self._in_breakable = True
        try:
            if self.asked:
                raise BrokenOff
            yield
        finally:
            self._in_breakable = False

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
        if self._in_breakable:
            raise BrokenOff
        with suppress(OSError):  # stderr may be closed; the end is what was asked for
            os.write(STDERR, b"Ending. Ctrl-C again ends at once.\n")


@contextmanager
def interruptible() -> Iterator[Interruption]:
    """Turn Ctrl-C inside the block into a request that the work asks for from time to time."""
    interruption = Interruption()
    before = signal.signal(signal.SIGINT, interruption._note)
    try:
        yield interruption
    finally:
        signal.signal(signal.SIGINT, before)
