"""`engine.pipelines`: pipelines, their runs, and what a run would hand to each stage."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from reviewer.clock import Clock
from reviewer.pipelines.rules import PipelineRules
from reviewer.store.database import Database
from reviewer.store.ledger import Ledger

if TYPE_CHECKING:
    from reviewer.commits.values import Imported
    from reviewer.pipelines.checkpoint import Checkpoint
    from reviewer.pipelines.run_events import Ask, RunDone, Watch
    from reviewer.pipelines.run_store import RunView
    from reviewer.pipelines.runs import KeptTurn, RunOptions, Runs
    from reviewer.pipelines.values import Pipeline, RunHistory


class Pipelines:
    """Pipelines and their runs. `rules` needs no store; runs are rows and folders beside it.

    A run lives in the thread that starts or resumes it. Its callbacks are called in that thread:
    `watch` with each event, `ask` with a question, `cancelled` whenever it looks whether to end.
    """

    def __init__(self, database: Database, ledger: Ledger, clock: Clock) -> None:
        self._database = database
        self._ledger = ledger
        self._clock = clock
        self.rules = PipelineRules()

    @cached_property
    def _runs(self) -> Runs:
        from reviewer.pipelines.runs import Runs

        return Runs(self._database, self._ledger, self._clock)

    def start_run(
        self,
        path: Path,
        project: str,
        options: RunOptions | None = None,
        *,
        ask: Ask | None = None,
        watch: Watch | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> RunDone:
        """Run the pipeline of a file until it ends or pauses; blocks.

        Raises RunError when it cannot start, DotError when the file is no pipeline.
        """
        return self._runs.start(path, project, options, ask=ask, watch=watch, cancelled=cancelled)

    def resume_run(
        self,
        which: str,
        options: RunOptions | None = None,
        *,
        ask: Ask | None = None,
        watch: Watch | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> RunDone:
        """Go on with a run: its id, its folder, or its pipeline file (its latest run); blocks.

        Raises RunError, CheckpointError, UnknownIdError.
        """
        return self._runs.resume(which, options, ask=ask, watch=watch, cancelled=cancelled)

    def cancel(self, run_id: str) -> None:
        """End a run that is under way in this program, in order. Raises RunError."""
        self._runs.live.get(run_id).cancel()

    def answer(self, run_id: str, text: str) -> None:
        """Answer what a run asks that was started with `wait`. Raises RunError."""
        self._runs.live.get(run_id).answer(text)

    def runs(self, project: str | None = None) -> list[RunView]:
        """The runs of the store, newest first."""
        return self._runs.store.all(project)

    def run(self, run_id: str) -> RunView:
        """A run by its id or the beginning of it. Raises UnknownIdError."""
        return self._runs.store.get(run_id)

    def is_offline(self, which: str) -> bool:
        """Whether the run that `resume_run` would go on with had the offline stand-in."""
        return self._runs.is_offline(which)

    def checkpoint(self, run_id: str) -> Checkpoint:
        """Where a run stands. Raises UnknownIdError, CheckpointError."""
        return self._runs.checkpoint(run_id)

    def pipeline_of(self, run_id: str) -> Pipeline:
        """The pipeline as the run began with it. Raises UnknownIdError, RunError."""
        return self._runs.pipeline(run_id)

    def history_of(self, run_id: str) -> RunHistory:
        """A run as preambles tell it. Raises UnknownIdError, CheckpointError."""
        return self._runs.history(run_id)

    def conversation(self, run_id: str, thread: str | None = None) -> tuple[KeptTurn, ...]:
        """What was asked and answered in a thread, or in all stages. Raises RunError."""
        return self._runs.conversation(run_id, thread)

    def import_conversation(
        self, run_id: str, thread: str | None = None, *, name: str | None = None
    ) -> Imported:
        """Open a conversation as a context; again, it adds only what is new. Raises RunError."""
        from reviewer.pipelines.runs_import import import_conversation

        return import_conversation(
            self._database, self._ledger, self._clock, self._runs, run_id, thread, name
        )
