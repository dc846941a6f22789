"""Waiting for what another thread, process or program brings."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

PATIENCE = 120.0
"""Seconds: a busy machine takes long, and what is there at once is waited for no longer."""
BETWEEN = 0.01
"""Seconds between two looks."""


def until(true: Callable[[], object], seconds: float = PATIENCE) -> None:
    """Return as soon as it is true. Raises AssertionError when it is not in so many seconds."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it never came"
        time.sleep(BETWEEN)


def is_gone(process: int) -> bool:
    """Whether a process has ended; one that nobody has waited for has."""
    try:
        return "\nState:\tZ" in Path(f"/proc/{process}/status").read_text()
    except (ProcessLookupError, FileNotFoundError):
        return True


async def until_async(true: Callable[[], object], seconds: float = PATIENCE) -> None:
    """The same for what the event loop brings."""
    async with asyncio.timeout(seconds):
        while not true():
            await asyncio.sleep(BETWEEN)
