"""One thread that works through what the Compress screen wants previewed, what is urgent first.

Previews share what an engine remembers of a segment, so there is one thread for all of them; a
wish that is no longer current is dropped before its turn comes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Sequence
from threading import Lock
from typing import Any, NamedTuple

from textual.message import Message
from textual.screen import Screen

from reviewer.errors import ReviewerError


class Job(NamedTuple):
    """Work, and what takes its result; `key` says what it is, so that nothing is done twice."""

    key: Hashable
    work: Callable[[], Any]
    then: Callable[[Any], None]
    failed: Callable[[ReviewerError], None]


class Desk:
    """Works for a screen. Results come back as messages, in the order of the work."""

    class Done(Message):
        """A job is done; `take` gives its result away, on the screen's thread."""

        def __init__(self, take: Callable[[], None], age: int) -> None:
            super().__init__()
            self.take = take
            self.age = age

    def __init__(self, screen: Screen[Any]) -> None:
        self._screen = screen
        self._lock = Lock()
        self._waiting: deque[Job] = deque()
        self._working: Hashable = None
        self._alive = False
        self.age = 0
        """Results of another age are about things that are no longer so."""

    def want(self, jobs: Sequence[Job]) -> None:
        """Do these, in this order, and nothing that was wanted before; what is begun is ended."""
        with self._lock:
            self._waiting = deque(job for job in jobs if job.key != self._working)
            self._begin()

    def first(self, job: Job) -> None:
        """Do this before everything else."""
        with self._lock:
            self._waiting = deque([job, *(each for each in self._waiting if each.key != job.key)])
            self._begin()

    def start_over(self) -> None:
        """Drop everything; what is being worked on is not taken."""
        with self._lock:
            self._waiting.clear()
            self._working = None
            self.age += 1

    def take(self, message: Done) -> None:
        """Give a result away, unless it is of another age."""
        if message.age == self.age:
            message.take()

    def _begin(self) -> None:
        if self._waiting and not self._alive:
            self._alive = True
            self._screen.run_worker(self._work, thread=True, group="desk")

    def _next(self) -> tuple[Job, int] | None:
        with self._lock:
            if not self._waiting:
                self._alive = False
                self._working = None
                return None
            job = self._waiting.popleft()
            self._working = job.key
            return job, self.age

    def _work(self) -> None:
        while (found := self._next()) is not None:
            job, age = found
            try:
                value = job.work()
            except ReviewerError as error:
                take = _given(job.failed, error)
            else:
                take = _given(job.then, value)
            self._screen.post_message(self.Done(take, age))


def _given(take: Callable[[Any], None], value: object) -> Callable[[], None]:
    return lambda: take(value)
