"""A run in its own thread, which outlives the screen that started it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from msgspec import structs

from reviewer.errors import ConflictError, ReviewerError

if TYPE_CHECKING:
    from pathlib import Path

    from reviewer.pipelines.events import Event, RunDone, StageQuestion
    from reviewer.pipelines.options import RunOptions

POLL_SECONDS = 0.05
EXIT_SECONDS = 2.0
"""Time at the program's end to wait for a run that was cancelled."""


class BackgroundRun:
    """One run, its question and its end; its stages are in its checkpoint. Everything may be read
    from any thread.
    """

    def __init__(self, path: Path, run_id: str = "") -> None:
        self.path = path
        self.run_id = run_id
        self.question: StageQuestion | None = None
        """The question that waits for `reply`."""
        self.done: RunDone | None = None
        self.error = ""
        """Why it could not start or continue, as a sentence."""
        self.defect: BaseException | None = None
        self.listener: Callable[[], object] | None = None
        """Called in the run's thread after each event."""
        self._answers: SimpleQueue[str] = SimpleQueue()
        self._cancelled = threading.Event()
        self._thread: threading.Thread | None = None

    # called by the screen

    def start(self, run: Callable[[RunOptions], RunDone], options: RunOptions) -> None:
        """Call `run` in a thread, with options that ask, watch and cancel here."""
        self._thread = threading.Thread(
            target=self._guarded, args=(run, options), name="pipeline run", daemon=True
        )
        self._thread.start()

    def reply(self, question: StageQuestion, text: str) -> None:
        """Answer a question. Raises ConflictError when it is not open any more."""
        if self.question is not question:
            raise ConflictError("The run does not ask this any more: nothing was answered.")
        self.question = None  # first: the next question may come immediately
        self._answers.put(text)

    def cancel(self) -> None:
        """End the run at its next check."""
        self._cancelled.set()

    def close(self) -> None:
        """Cancel at the end of the program, and give the run a moment to write its checkpoint."""
        self.cancel()
        if self._thread is not None:
            self._thread.join(EXIT_SECONDS)

    @property
    def cancelling(self) -> bool:
        """Whether it was cancelled but has not ended yet."""
        return self._cancelled.is_set() and self.running

    @property
    def running(self) -> bool:
        return self.done is None and not self.error and self.defect is None

    # in the run's thread

    def _guarded(self, run: Callable[[RunOptions], RunDone], options: RunOptions) -> None:
        try:
            self.done = run(
                structs.replace(
                    options, ask=self._ask, watch=self._watch, cancelled=self._cancelled.is_set
                )
            )
        except (ReviewerError, OSError) as problem:
            self.error = str(problem)
        except BaseException as problem:  # the screen raises it
            self.defect = problem
        self.question = None
        self._notify()

    def _watch(self, event: Event) -> None:
        from reviewer.pipelines import events

        if isinstance(event, events.RunStarted):
            self.run_id = event.run_id
        if not isinstance(event, events.Text):  # the answer is shown when it is whole
            self._notify()

    def _ask(self, question: StageQuestion) -> str | None:
        """Wait until the person answers; None once the run is cancelled."""
        self.question = question
        self._notify()
        while not self._cancelled.is_set():
            with suppress(Empty):
                return self._answers.get(timeout=POLL_SECONDS)
        return None

    def _notify(self) -> None:
        if self.listener is not None:
            self.listener()
