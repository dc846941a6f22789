"""A run under way in a thread of its own: it outlives the screen that started it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from reviewer.errors import ReviewerError

if TYPE_CHECKING:
    from pathlib import Path

    from reviewer.engine import Engine, Event, Question, RunDone, RunOptions

KEPT = 20_000
"""Characters of the answer that arrives, at most: the newest."""
LOOK_EVERY = 0.05
LEAVING_SECONDS = 2.0
"""So long the program waits at its end for a run that was cancelled."""


class Course:
    """One run and what it does now. Everything may be read from any thread."""

    def __init__(self, engine: Engine, path: Path, *, stepping: bool) -> None:
        self._engine = engine
        self.path = path
        self.run_id = ""
        self.answered_by = ""
        self.node = ""
        """The node that is running."""
        self.mode = ""
        self.thread_name = ""
        self.degraded = False
        self.answer = ""
        """What has arrived of its answer."""
        self.question: Question | None = None
        self.stages = 0
        self.next = ""
        """The node that follows the stage that has ended."""
        self.note = ""
        self.remark = ""
        """What a person should know about the latest answer that gave cause for it."""
        self.pausing = False
        """The run waits for the next step."""
        self.done: RunDone | None = None
        self.error = ""
        """Why it could not begin or go on, as a sentence."""
        self.defect: BaseException | None = None
        self.told: Callable[[], object] | None = None
        """Called, in the run's thread, when something has changed since `seen`."""
        self._stepping = stepping
        self._gate = threading.Event()
        self._cancelled = threading.Event()
        self._untold = True
        self._thread: threading.Thread | None = None

    # what the screen does

    def start(self, project: str, options: RunOptions) -> None:
        """Run the pipeline."""
        pipelines = self._engine.pipelines
        self._begin(
            lambda: pipelines.start_run(
                self.path, project, options, watch=self._watch, cancelled=self._cancelled.is_set
            )
        )

    def resume(self, run_id: str, options: RunOptions) -> None:
        """Go on with a run."""
        pipelines = self._engine.pipelines
        self._begin(
            lambda: pipelines.resume_run(
                run_id, options, watch=self._watch, cancelled=self._cancelled.is_set
            )
        )

    def go_on(self, *, stepping: bool) -> None:
        """Take the next step, or all of them."""
        self._stepping = stepping
        self._gate.set()

    def reply(self, text: str) -> None:
        """Answer the question. Raises RunError when nothing is asked."""
        asked, self.question = self.question, None  # before: the next one may come at once
        try:
            self._engine.pipelines.answer(self.run_id, text)
        except ReviewerError:
            self.question = asked
            raise

    def cancel(self) -> None:
        """End the run as soon as it looks."""
        self._cancelled.set()
        if self.run_id:
            with suppress(ReviewerError):  # it has ended meanwhile
                self._engine.pipelines.cancel(self.run_id)

    def close(self) -> None:
        """The program ends: cancel, and give the run a moment to write where it stands."""
        self.cancel()
        if self._thread is not None:
            self._thread.join(LEAVING_SECONDS)

    def seen(self) -> None:
        """The screen has drawn everything so far: tell again from now on."""
        self._untold = True

    @property
    def cancelling(self) -> bool:
        """Whether it was cancelled and has not ended yet."""
        return self._cancelled.is_set() and self.running

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self.done is None and not self.error and self.defect is None

    # what happens in the run's thread

    def _begin(self, run: Callable[[], RunDone]) -> None:
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
        self.pausing, self.question = False, None
        self._tell(always=True)

    def _watch(self, event: Event) -> None:
        from reviewer import engine

        match event:
            case engine.RunStarted():
                self.run_id, self.answered_by = event.run_id, event.engine
                self.stages, self.note = event.stages, event.note
            case engine.StageStarted():
                self.node, self.mode, self.answer = event.node, event.fidelity, ""
                self.thread_name, self.degraded = event.thread, event.degraded
            case engine.Text():
                self.answer = (self.answer + event.text)[-KEPT:]
            case engine.Question():
                self.question = event
            case engine.Retrying():
                self.note = f"{event.node}: attempt {event.attempt + 1}, because {event.reason}"
            case engine.StageDone():
                self.stages, self.question, self.next = event.step, None, event.target
                if event.remark:
                    self.remark = f"{event.node}: {event.remark}"
                self._tell(always=True)
                if event.target:
                    self._wait_for_step()
                return
        self._tell(always=not isinstance(event, engine.Text))

    def _wait_for_step(self) -> None:
        """Stay between two stages until the next step is asked for."""
        if not self._stepping or self._cancelled.is_set():
            return
        self._gate.clear()
        self.pausing = True
        self._tell(always=True)
        while not self._gate.wait(LOOK_EVERY) and not self._cancelled.is_set():
            continue
        self.pausing = False

    def _tell(self, *, always: bool) -> None:
        """Wake the screen; pieces of an answer wake it once until it has looked."""
        told = self.told
        if told is not None and (always or self._untold):
            self._untold = False
            told()
