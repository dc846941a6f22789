"""A progress line on stderr, and Ctrl-C as a request to stop."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING

from reviewer.cli.output import count, cut, safe
from reviewer.clock import TimeLeft
from reviewer.errors import BrokenOff

if TYPE_CHECKING:
    from reviewer.promotion.waves.report import WaveProgress

SECONDS_BETWEEN_DRAWINGS = 0.1
STDERR = 2
"""A signal handler must not write to `sys.stderr`, which may be in the middle of a write."""


class ProgressLine:
    """Shows progress of long work; prints nothing when stderr is not a terminal."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()
        self._drawn_at = 0.0
        self._time = TimeLeft()

    def __call__(self, progress: WaveProgress) -> None:
        """Draw the progress of an ingestion, at most ten times a second."""
        if self._due():
            left = self._time.words(progress.bytes_done, progress.bytes_total)
            self._draw(
                f"{progress.files_done:,} of {count(progress.files_total, 'file')}  "
                f"{progress.bytes_done / 1e6:,.1f} of {progress.bytes_total / 1e6:,.1f} MB  "
                f"{count(progress.candidates, 'candidate')}  {f'{left}  ' if left else ''}"
                f"{progress.path or ''}"
            )

    def show(self, line: str, *, at_once: bool = False) -> None:
        """Draw a line, at most ten times a second unless `at_once`."""
        if at_once:
            self._drawn_at = 0.0
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
        sys.stderr.write("\r" + cut(safe(line), columns - 1) + "\x1b[K")
        sys.stderr.flush()

    def clear(self) -> None:
        if self._shown and self._drawn_at:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


class Interruption:
    """Whether the user pressed Ctrl-C. The second time, the work ends at once."""

    def __init__(self) -> None:
        self.asked = False
        self._in_breakable = False

    def __call__(self) -> bool:
        """True once the work should stop in an orderly way."""
        return self.asked

    @contextmanager
    def breakable(self) -> Iterator[None]:
        """A block that the first Ctrl-C ends at once with BrokenOff (see `errors.Breakable`)."""
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
        with suppress(OSError):  # stderr may be closed; stopping matters more
            os.write(STDERR, b"Stopping. Press Ctrl-C again to stop at once.\n")


@contextmanager
def interruptible() -> Iterator[Interruption]:
    """Turn Ctrl-C inside the block into a request that the work checks from time to time."""
    interruption = Interruption()
    before = signal.signal(signal.SIGINT, interruption._note)
    try:
        yield interruption
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def working(line: ProgressLine | None = None) -> Iterator[tuple[ProgressLine, Interruption]]:
    """A progress line, and Ctrl-C as a request, until the end of the block."""
    line = line or ProgressLine()
    with interruptible() as interruption:
        try:
            yield line, interruption
        finally:
            line.clear()
