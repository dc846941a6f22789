"""Processes of this machine that end with the one that started them."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from concurrent.futures import ProcessPoolExecutor


def cores() -> int:
    """How many processes this one may keep busy."""
    if hasattr(os, "sched_getaffinity"):  # not on macOS
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def pool(width: int, module: str) -> ProcessPoolExecutor:
    """Processes that call functions of `module`, which is imported once for all of them."""
    context: multiprocessing.context.BaseContext
    if "forkserver" in multiprocessing.get_all_start_methods():
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([module])
    else:  # on Windows
        context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(width, mp_context=context, initializer=_follow_the_parent)


def _follow_the_parent() -> None:
    """Leave Ctrl-C to the parent, and end when it is gone, even when it was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
