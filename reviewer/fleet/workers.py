"""The workers of a job: processes of this machine, or a Dask cluster."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager
from multiprocessing.connection import Connection, wait
from typing import NamedTuple, TypeAlias

from reviewer.fleet.values import FleetError, extra, line

LAST_SECONDS = 5
"""Seconds for parts in progress to finish after an interruption."""
CONNECT_SECONDS = 20


class Workers(NamedTuple):
    """An executor, the number of parts it reads at once, and whether it is alive."""

    executor: Executor
    width: int
    alive: Callable[[], bool] = lambda: True


Opener: TypeAlias = Callable[[], AbstractContextManager[Workers]]


def cores() -> int:
    """The number of cores available to this process."""
    if hasattr(os, "sched_getaffinity"):  # not on macOS
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def died(problem: BaseException) -> bool:
    """Whether the process that read a part is gone."""
    return isinstance(problem, BrokenProcessPool) or type(problem).__name__ == "KilledWorker"


@contextmanager
def processes(width: int) -> Iterator[Workers]:
    """Processes of this machine, until the end of the block; unfinished work is cut off after
    LAST_SECONDS. They end with the process that started them.
    """
    # So that the processes do not import a `json.py` from the current folder.
    os.environ["PYTHONSAFEPATH"] = "1"
    context: multiprocessing.context.BaseContext
    if "forkserver" in multiprocessing.get_all_start_methods():
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["reviewer.fleet.part"])  # imported once for all of them
    else:  # on Windows
        context = multiprocessing.get_context("spawn")
    # Each process has one end of a pipe, and exits at once when the other end is closed.
    leash, hand = multiprocessing.Pipe(duplex=False)
    executor = ProcessPoolExecutor(
        width, mp_context=context, initializer=_follow_the_parent, initargs=(leash,)
    )
    try:
        yield Workers(executor, width)
    finally:
        options = {"wait": True, "cancel_futures": True}
        ending = threading.Thread(target=executor.shutdown, kwargs=options, daemon=True)
        ending.start()
        ending.join(LAST_SECONDS)
        hand.close()
        ending.join()
        leash.close()


def _follow_the_parent(leash: Connection) -> None:
    """Leave Ctrl-C to the parent, and end with it, even if it is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        wait([parent.sentinel, leash])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def dask_cluster(address: str) -> Iterator[Workers]:
    """The workers of a Dask scheduler, left as they are. Raises FleetError."""
    distributed = extra("distributed")
    logging.disable(logging.CRITICAL)  # errors become sentences of ours
    try:
        client = distributed.Client(address, timeout=CONNECT_SECONDS)
    except (OSError, TimeoutError, ValueError) as problem:
        raise FleetError(
            f"No Dask scheduler answers at {address}: {line(problem)}. Start one: dask scheduler; "
            "then on each machine: dask worker ADDRESS"
        ) from problem
    try:
        width = sum(client.ncores().values())
        if not width:
            raise FleetError(
                f"The scheduler at {address} has no workers. On each machine: dask worker {address}"
            )
        executor = client.get_executor(retries=2, pure=False)
        try:
            yield Workers(executor, width, lambda: client.status == "running")
        finally:
            executor.shutdown(wait=False)  # cancels parts that have not begun
    finally:
        client.close(timeout=2)
