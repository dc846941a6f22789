"""Runs under way in this program, so that another thread can cancel them or answer them."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from reviewer.pipelines.run_errors import RunError
from reviewer.pipelines.run_events import Question

_LOOK_EVERY = 0.05


class LiveRun:
    """One run under way."""

    def __init__(self) -> None:
        self._cancelled = threading.Event()
        self._answers: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.question: Question | None = None
        """What is asked now."""

    def cancel(self) -> None:
        """Let the run end in order, as soon as it looks."""
        self._cancelled.set()

    def cancelled(self) -> bool:
        """Whether the run should end."""
        return self._cancelled.is_set()

    def answer(self, text: str) -> None:
        """Answer the question that is asked now. Raises RunError when none is."""
        if self.question is None:
            raise RunError("The run asks nothing now.")
        self._answers.put(text)

    def ask(self, question: Question) -> str | None:
        """Wait until a thread answers; None once the run is cancelled."""
        self.question = question
        try:
            while not self.cancelled():
                try:
                    return self._answers.get(timeout=_LOOK_EVERY)
                except queue.Empty:
                    continue
            return None
        finally:
            self.question = None


class LiveRuns:
    """The runs under way, by id."""

    def __init__(self) -> None:
        self._by_id: dict[str, LiveRun] = {}

    @contextmanager
    def open(self, run_id: str) -> Iterator[LiveRun]:
        """A run that is under way inside of the block."""
        live = self._by_id[run_id] = LiveRun()
        try:
            yield live
        finally:
            self._by_id.pop(run_id, None)

    def get(self, run_id: str) -> LiveRun:
        """The run with that id. Raises RunError when it is not under way in this program."""
        live = self._by_id.get(run_id)
        if live is None:
            raise RunError(f"The run {run_id} is not under way in this program.")
        return live
