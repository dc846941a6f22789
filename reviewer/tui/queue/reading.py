"""Reading the sessions of a project from the Queue screen."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from reviewer.clock import TimeLeft
from reviewer.text.display import display_line
from reviewer.tui.kit.actor import RunningAct

if TYPE_CHECKING:
    from reviewer.engine import Engine
    from reviewer.promotion.report import Progress, WaveReport


class ReadingAct(RunningAct):
    """An ingestion in a thread: how far it is, and whether it should stop."""

    def __init__(self) -> None:
        super().__init__("Reading sessions")
        self._progress: Progress | None = None
        self._time = TimeLeft()

    @property
    def progress(self) -> Progress | None:
        """How far it is; None while files are looked for."""
        return self._progress

    def time_left(self) -> str:
        """`about 40 s left`; empty as long as nobody can say."""
        done = self._progress
        return self._time.words(done.bytes_done, done.bytes_total) if done is not None else ""

    def show(self, progress: Progress) -> None:
        """Note how far the ingestion is."""
        self._progress = progress

    def is_stopped(self) -> bool:
        return self._stop.is_set()

    @property
    def sentence(self) -> str:
        if self._stop.is_set():
            return "Reading sessions: stopping ..."
        if self._progress is None:
            return "Looking for sessions ... - escape stops"
        done = self._progress
        path = display_line(Path(str(done.path or "")).name)
        left = self.time_left()
        return (
            f"Reading {done.files_done:,} of {done.files_total:,} files, "
            f"{done.bytes_done / 1e6:,.1f} of {done.bytes_total / 1e6:,.1f} MB, "
            f"{done.candidates:,} candidates{f', {left}' if left else ''}"
            f" - escape stops and keeps it  {path}"
        )


def read_project_sessions(engine: Engine, project: str, act: ReadingAct) -> WaveReport | None:
    """Read the sessions of the project around the working folder; None when there are none.

    Raises as `Intake.ingest` does.
    """
    from reviewer.sources.discovery import Machine, Scope, choose, find_sessions

    scope = Scope.of(Path.cwd())
    chosen = choose(each for each in find_sessions(Machine.here(), scope) if each.belongs_to(scope))
    if not chosen.paths:
        return None
    return engine.intake.ingest(
        chosen.paths,
        project=project,
        progress=act.show,
        cancelled=act.is_stopped,
        sessions=chosen.sessions,
    )
