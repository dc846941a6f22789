"""When a screen under test has no work left: read from the loop, not guessed by a pause."""

from __future__ import annotations

import asyncio
import os
from asyncio.base_events import BaseEventLoop
from time import monotonic, process_time

import pytest

TICK = 1 / 60
"""Seconds between two paints of Textual: a timer due within one belongs to the present work."""

STUCK = 0.05
LOOKS = 3
"""Looks in a row, so many seconds each, at which no thread did a stroke of work: then one that has
not ended is taken to wait for something itself. A look that ends late says nothing: the machine is
busy, and perhaps the thread got no processor.
"""

LONGEST = 2.0
"""Seconds after which a loop that never rests (a spinner, a watched run) is left to itself; more
where others keep the processors busy.
"""

_in_threads: set[asyncio.Future[object]] = set()


def count_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `idle` know what the loop has given to threads."""
    given = BaseEventLoop.run_in_executor

    def counted(loop: BaseEventLoop, *work: object) -> asyncio.Future[object]:
        future: asyncio.Future[object] = given(loop, *work)  # type: ignore[arg-type]
        _in_threads.add(future)
        future.add_done_callback(_in_threads.discard)
        return future

    _in_threads.clear()
    monkeypatch.setattr(BaseEventLoop, "run_in_executor", counted)


def _longest() -> float:
    return LONGEST * max(os.getloadavg()[0] / (os.cpu_count() or 1) / 2, 1.0)


async def idle(soon: float = TICK) -> None:
    """Return when no callback is ready, no thread works, and no timer is due within `soon`."""
    loop, longest = asyncio.get_running_loop(), _longest()
    # No public API shows the pending work of a loop; these two attributes have existed as long as
    # asyncio.
    ready, scheduled = loop._ready, loop._scheduled  # type: ignore[attr-defined]
    end = loop.time() + longest
    while loop.time() < end:
        await asyncio.sleep(0)
        if ready or await _threads_work():
            continue
        waits = [each.when() - loop.time() for each in scheduled if not each.cancelled()]
        due = min(waits, default=longest)
        if due > soon:
            return
        await asyncio.sleep(max(due, 0))


async def _threads_work() -> bool:
    """Whether something came of the threads, or some may still come."""
    for _look in range(LOOKS if _in_threads else 0):
        worked, began = process_time(), monotonic()
        done, _ = await asyncio.wait(
            _in_threads, timeout=STUCK, return_when=asyncio.FIRST_COMPLETED
        )
        late = monotonic() - began - STUCK
        if done or process_time() - worked > STUCK / 20 or late > STUCK / 5:
            return True
    return False
