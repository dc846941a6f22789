"""Processes of this machine that end with the one that started them."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from concurrent.futures import ProcessPoolExecutor


def pool(width: int, module: str) -> ProcessPoolExecutor:
    """Processes that call functions of `module`, which is imported once for all of them."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([module])
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
