"""`reviewer serve --demo`, running."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def serving_demo() -> Iterator[str]:
    """Its address, until the end of the block."""
    process = subprocess.Popen(
        [sys.executable, "-m", "reviewer", "serve", "--demo"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.stdout.close()
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)
