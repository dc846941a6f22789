"""Previews in a thread, the most urgent first."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Sequence
from threading import Lock
from typing import Any, NamedTuple

from textual.message import Message

from reviewer.errors import ReviewerError


class Delivered(Message):
    """A result from a thread; `take` uses it on the screen."""

    def __init__(self, take: Callable[[], None]) -> None:
        super().__init__()
        self.take = take


class Job(NamedTuple):
    """Work in a thread with a callback for its result, identified by `key`."""

    key: Hashable
    work: Callable[[], Any]
    then: Callable[[Any], None]
    failed: Callable[[ReviewerError], None]


class PreviewQueue:
    """One thread that works through jobs, the most urgent first.

    One thread, because previews share the engine's cached analysis of a segment. A job that is no
    longer wanted is dropped before its turn comes.
    """

    def __init__(
        self,
        start: Callable[[Callable[[], None]], object],
        deliver: Callable[[Delivered], object],
    ) -> None:
        """`start` runs a function in a thread; `deliver` hands a result to the screen's thread."""
        self._start = start
        self._deliver = deliver
        self._lock = Lock()
        self._waiting: deque[Job] = deque()
        self._working: Hashable = None
        self._alive = False
        self._generation = 0

    def replace(self, jobs: Sequence[Job]) -> None:
        """Replace the waiting jobs by these, in this order; the job in progress continues."""
        with self._lock:
            self._waiting = deque(job for job in jobs if job.key != self._working)
            self._begin()

    def prioritize(self, job: Job) -> None:
        """Do this job before all others."""
        with self._lock:
            self._waiting = deque([job, *(each for each in self._waiting if each.key != job.key)])
            self._begin()

    def start_over(self) -> None:
        """Drop everything; the result of the job in progress is ignored."""
        with self._lock:
            self._waiting.clear()
            self._working = None
            self._generation += 1

    def _begin(self) -> None:
        if self._waiting and not self._alive:
            self._alive = True
            self._start(self._work)

    def _next(self) -> tuple[Job, int] | None:
        with self._lock:
            if not self._waiting:
                self._alive = False
                self._working = None
                return None
            job = self._waiting.popleft()
            self._working = job.key
            return job, self._generation

    def _work(self) -> None:
        while (found := self._next()) is not None:
            self._do(*found)

    def _do(self, job: Job, generation: int) -> None:
        take: Callable[[Any], None]
        value: Any
        try:
            take, value = job.then, job.work()
        except ReviewerError as error:
            take, value = job.failed, error

        def take_if_current() -> None:
            if generation == self._generation:
                take(value)

        self._deliver(Delivered(take_if_current))
