"""A pipeline run in its own thread, which outlives its screen."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import TYPE_CHECKING

from msgspec import structs

from reviewer.errors import ConflictError, ReviewerError

if TYPE_CHECKING:
    from pathlib import Path

    from reviewer.pipelines.events import Event, RunDone, StageQuestion
    from reviewer.pipelines.options import RunOptions

EXIT_SECONDS = 2.0
"""Time to wait on exit for a cancelled run."""


class BackgroundRun:
    """One run, with its question and its result; its stages are in the checkpoint. Attributes may
    be read from any thread.
    """

    def __init__(self, path: Path, run_id: str = "") -> None:
        self.path = path
        self.run_id = run_id
        self.question: StageQuestion | None = None
        """The question waiting for `reply`."""
        self.done: RunDone | None = None
        self.error = ""
        """Why it could not start or continue, in one sentence."""
        self.defect: BaseException | None = None
        self.listener: Callable[[], object] | None = None
        """Called in the run's thread after each event."""
        self._answers: SimpleQueue[str | None] = SimpleQueue()
        self._cancelled = threading.Event()
        self._thread: threading.Thread | None = None

    # called by the screen

    def start(self, run: Callable[[RunOptions], RunDone], options: RunOptions) -> None:
        """Call `run` in a thread, with ask, watch and cancel connected to this object."""
        self._thread = threading.Thread(
            target=self._guarded, args=(run, options), name="pipeline run", daemon=True
        )
        self._thread.start()

    def reply(self, question: StageQuestion, text: str) -> None:
        """Answer a question. Raises ConflictError if it is closed."""
        if self.question is not question:
            raise ConflictError("The run no longer asks this: no answer was given.")
        self.question = None  # first, because the next question may follow immediately
        self._answers.put(text)

    def cancel(self) -> None:
        """Stop the run at its next check; an open question gets no answer."""
        self._cancelled.set()
        self._answers.put(None)

    def close(self) -> None:
        """Cancel on exit, and give the run a moment to write its checkpoint."""
        self.cancel()
        if self._thread is not None:
            self._thread.join(EXIT_SECONDS)

    @property
    def cancelling(self) -> bool:
        """Whether it is cancelled but still running."""
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
        except BaseException as problem:  # raised again on the screen
            self.defect = problem
        self.question = None
        self._notify()

    def _watch(self, event: Event) -> None:
        from reviewer.pipelines import events

        if isinstance(event, events.RunStarted):
            self.run_id = event.run_id
        self._notify()

    def _ask(self, question: StageQuestion) -> str | None:
        """Wait until the person answers; None once the run is cancelled."""
        self.question = question
        self._notify()
        return self._answers.get()

    def _notify(self) -> None:
        if self.listener is not None:
            self.listener()
