"""Processes of this machine that end with the one that started them."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait


def cores() -> int:
    """How many processes this one may keep busy."""
    if hasattr(os, "sched_getaffinity"):  # not on macOS
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def short_pool(width: int, module: str, seconds: float) -> Iterator[ProcessPoolExecutor]:
    """Processes that call functions of `module`, which is imported once for all of them, until the
    end of the block; work that goes on then is cut off after `seconds`.
    """
    # Else the new processes would import a `json.py` that somebody left in the current folder.
    os.environ["PYTHONSAFEPATH"] = "1"
    context: multiprocessing.context.BaseContext
    if "forkserver" in multiprocessing.get_all_start_methods():
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([module])
    else:  # on Windows
        context = multiprocessing.get_context("spawn")
    # The processes hold one end of a pipe, and end at once when the other one is closed.
    leash, hand = multiprocessing.Pipe(duplex=False)
    executor = ProcessPoolExecutor(
        width, mp_context=context, initializer=_follow_the_parent, initargs=(leash,)
    )
    try:
        yield executor
    finally:
        options = {"wait": True, "cancel_futures": True}
        ending = threading.Thread(target=executor.shutdown, kwargs=options, daemon=True)
        ending.start()
        ending.join(seconds)
        hand.close()
        ending.join()
        leash.close()


def _follow_the_parent(leash: Connection) -> None:
    """Leave Ctrl-C to the parent, and end when it is gone, even when it was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        wait([parent.sentinel, leash])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
