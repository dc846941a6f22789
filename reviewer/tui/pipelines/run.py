"""A run in its own thread, which outlives the screen that started it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from reviewer.errors import ConflictError, ReviewerError

if TYPE_CHECKING:
    from pathlib import Path

    from reviewer.engine import Engine
    from reviewer.pipelines.events import Event, RunDone, StageDone, StageQuestion
    from reviewer.pipelines.service import RunOptions

KEPT_CHARACTERS = 20_000
"""Characters of the arriving answer that are kept, the newest."""
POLL_SECONDS = 0.05
EXIT_SECONDS = 2.0
"""Time at the program's end to wait for a run that was cancelled."""


class BackgroundRun:
    """One run and its present activity. Everything may be read from any thread."""

    def __init__(self, engine: Engine, path: Path, *, stepping: bool) -> None:
        self._engine = engine
        self.path = path
        self.run_id = ""
        self.node = ""
        """The node that is running; of several in branches, the one that began last."""
        self.active: dict[int, str] = {}
        """All nodes that are running, by their step."""
        self.ended: dict[str, str] = {}
        """Outcomes of the nodes that ended in branches whose fan-in is still to come."""
        self.mode = ""
        self.degraded = False
        self.answer = ""
        """The part of its answer that has arrived."""
        self.question: StageQuestion | None = None
        """The question that waits for `reply`."""
        self.stages = 0
        self.next = ""
        """The node after the stage that has ended."""
        self.remark = ""
        """A remark about a recent answer."""
        self.pausing = False
        """The run waits for the next step."""
        self.done: RunDone | None = None
        self.error = ""
        """Why it could not start or continue, as a sentence."""
        self.defect: BaseException | None = None
        self.listener: Callable[[], object] | None = None
        """Called in the run's thread when something has changed since `seen`."""
        self._stepping = stepping
        self._answers: SimpleQueue[str] = SimpleQueue()
        self._gate = threading.Event()
        self._cancelled = threading.Event()
        self._unseen = True
        self._thread: threading.Thread | None = None

    # called by the screen

    def start(self, project: str, options: RunOptions) -> None:
        pipelines = self._engine.pipelines
        self._start_thread(
            lambda: pipelines.start_run(
                self.path,
                project,
                options,
                ask=self._ask,
                watch=self._watch,
                cancelled=self._cancelled.is_set,
            )
        )

    def resume(self, run_id: str, options: RunOptions) -> None:
        pipelines = self._engine.pipelines
        self._start_thread(
            lambda: pipelines.resume_run(
                run_id,
                options,
                ask=self._ask,
                watch=self._watch,
                cancelled=self._cancelled.is_set,
            )
        )

    def proceed(self, *, stepping: bool) -> None:
        """Take the next step, or all of them."""
        self._stepping = stepping
        self._gate.set()

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

    def seen(self) -> None:
        """The screen has drawn everything so far: notify it again from now on."""
        self._unseen = True

    @property
    def cancelling(self) -> bool:
        """Whether it was cancelled but has not ended yet."""
        return self._cancelled.is_set() and self.running

    @property
    def running(self) -> bool:
        return self.done is None and not self.error and self.defect is None

    # in the run's thread

    def _start_thread(self, run: Callable[[], RunDone]) -> None:
        self._thread = threading.Thread(
            target=self._guarded, args=(run,), name="pipeline run", daemon=True
        )
        self._thread.start()

    def _guarded(self, run: Callable[[], RunDone]) -> None:
        try:
            self.done = run()
        except (ReviewerError, OSError) as problem:
            self.error = str(problem)
        except BaseException as problem:  # the screen raises it
            self.defect = problem
        self.node = self.mode = ""
        self.active, self.ended = {}, {}
        self.pausing, self.question = False, None
        self._notify(always=True)

    def _watch(self, event: Event) -> None:
        from reviewer.pipelines import events

        match event:
            case events.RunStarted():
                self.run_id, self.stages = event.run_id, event.stages
            case events.StageStarted():
                self.node, self.mode, self.answer = event.node, event.fidelity, ""
                self.active = {**self.active, event.step: event.node}
                self.degraded = event.degraded
            case events.Text():
                self.answer = (self.answer + event.text)[-KEPT_CHARACTERS:]
            case events.StageDone():
                self.stages, self.next = event.step, event.target
                self._end_stage(event)
                if event.remark:
                    self.remark = f"{event.node}: {event.remark}"
                self._notify(always=True)
                if event.target:
                    self._wait_for_step()
                return
        self._notify(always=not isinstance(event, events.Text))

    def _ask(self, question: StageQuestion) -> str | None:
        """Wait until the person answers; None once the run is cancelled.

        Of several branches that ask, one at a time gets here, perhaps after stages of the others.
        """
        self.question = question
        self._notify(always=True)
        try:
            while not self._cancelled.is_set():
                with suppress(Empty):
                    return self._answers.get(timeout=POLL_SECONDS)
            return None
        finally:
            self.question = None

    def _end_stage(self, event: StageDone) -> None:
        self.active = {step: node for step, node in self.active.items() if step != event.step}
        if self.active:
            self.node = next(reversed(self.active.values()))
            self.ended = {**self.ended, event.node: event.outcome}
        else:
            self.ended = {}

    def _wait_for_step(self) -> None:
        """Wait between two stages for the next step."""
        if not self._stepping or self._cancelled.is_set():
            return
        self._gate.clear()
        self.pausing = True
        self._notify(always=True)
        while not self._gate.wait(POLL_SECONDS) and not self._cancelled.is_set():
            continue
        self.pausing = False

    def _notify(self, *, always: bool) -> None:
        """Wake the screen; pieces of an answer do so once until the screen has drawn."""
        listener = self.listener
        if listener is not None and (always or self._unseen):
            self._unseen = False
            listener()
