"""Reading for the Pipelines screen: the file, and the run that is shown.

Every read runs in a worker; a later one of its sort makes it void.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from reviewer.text.display import display_line
from reviewer.tui.screens.pipelines_files import (
    pipelines_below,
    read_graph,
    read_run,
)
from reviewer.tui.screens.pipelines_model import Graph, NodeState
from reviewer.tui.screens.pipelines_values import RunShown

if TYPE_CHECKING:
    from reviewer.engine import RunView
    from reviewer.tui.screens.pipelines import PipelinesScreen


class PipelinesReading:
    """Fills the list and the panes of a `PipelinesScreen`."""

    def __init__(self, screen: PipelinesScreen) -> None:
        self._screen = screen
        self._engine = screen.engine
        self.path: Path | None = None
        self.was_read = False
        self.below: Sequence[Path] = ()
        """Pipelines below the working folder."""
        self.runs: Sequence[RunView] = ()
        self.run: RunShown | None = None
        self.trouble = ""
        """Why the file is no pipeline, as a sentence."""
        self._changed_at = 0.0
        self._version = self._engine.foreign_version()

    # the file

    def open_latest(self) -> None:
        """Show what runs now, else what ran last, else the only pipeline below this folder."""
        engine, project = self._engine, self._screen.project
        course = self._screen.running.course
        running = course.path if course is not None and course.running else None

        def work() -> tuple[Sequence[RunView], Sequence[Path], Path | None]:
            runs = engine.pipelines.runs(project)
            below = pipelines_below(Path.cwd())
            there = (Path(run.path) for run in runs if Path(run.path).is_file())
            path = running or next(there, None)
            return runs, below, path or (below[0] if len(below) == 1 else None)

        def took(found: tuple[Sequence[RunView], Sequence[Path], Path | None]) -> None:
            self.runs, self.below = found[0], found[1]
            if found[2] is None:
                self.was_read = True
                self._screen.showing.draw_all()
            else:
                self.open(found[2])

        self._screen.read(work, took, group="graph")

    def open(self, path: Path, run: str | None = None, said: str = "") -> None:
        """Show a pipeline, and the run named, or its latest run."""
        engine, same = self._engine, path == self.path
        self.path = path
        if not same:
            self._screen.modes.reset()
            self._screen.answering.left_pipeline()
            self._screen.say("")  # what was said is about another file
            self._screen.row.way_number = 0

        def work() -> tuple[Graph, RunShown | None, Sequence[RunView], float]:
            changed = _changed_at(path)
            graph = read_graph(engine, path)
            runs = engine.pipelines.runs()
            mine = [view for view in runs if Path(view.path) == path.absolute()]
            view = next((each for each in mine if run in (None, each.run_id)), None)
            return graph, read_run(engine, view) if view else None, runs, changed

        def took(found: tuple[Graph, RunShown | None, Sequence[RunView], float]) -> None:
            graph, shown, self.runs, self._changed_at = found
            self.was_read, self.trouble = True, ""
            self._screen.model.load(graph)
            self._take_run(shown)
            if said:
                self._screen.say(said)

        def failed(sentence: str) -> None:
            self.was_read, self.trouble, self.run = True, sentence, None
            self._screen.row.handed = None
            self._changed_at = _changed_at(path)
            self._screen.model.load(None)
            self._screen.model.states = {}
            self._screen.showing.draw_all()
            self._screen.trouble(sentence)

        self._screen.read(work, took, group="graph", failed=failed)

    def refresh(self) -> None:
        """Read the file and the run again."""
        if self.path is not None:
            self.open(self.path, self.run_id, "Read again.")

    def watch(self) -> None:
        """Notice that the file was changed, or that another program has run something."""
        screen = self._screen
        if not screen.is_active or screen.busy or self.path is None:
            return
        version = self._engine.foreign_version()
        if _changed_at(self.path) != self._changed_at:
            self.open(self.path, self.run_id, f"{display_line(self.path.name)} was read again.")
        elif version != self._version and not screen.running.under_way:
            self.open(self.path, self.run_id)
        self._version = version

    # the run

    @property
    def run_id(self) -> str | None:
        """The run that is shown."""
        return self.run.view.run_id if self.run is not None else None

    def read_run(self, run_id: str, then: str = "") -> None:
        """Read a run again: it has gone on, or has ended."""
        engine = self._engine

        def work() -> tuple[RunShown, Sequence[RunView]]:
            return read_run(engine, engine.pipelines.run(run_id)), engine.pipelines.runs()

        def took(found: tuple[RunShown, Sequence[RunView]]) -> None:
            self.runs = found[1]
            self._take_run(found[0])
            if then:
                self._screen.say(then)

        self._screen.read(work, took, group="run")

    def _take_run(self, run: RunShown | None) -> None:
        self.run = run
        self._version = self._engine.foreign_version()
        self.show_states()
        self._screen.showing.draw_all()
        self._screen.row.read_handed()
        if run is not None and run.trouble:
            self._screen.trouble(run.trouble)

    def show_states(self) -> None:
        """How each node stands, with what the run does now."""
        states = dict(self.run.states) if self.run is not None else {}
        course = self._screen.running.course
        if course is not None and course.running and course.node and self._screen.running.is_shown:
            before = states.get(course.node, NodeState())
            now = "asks" if course.question is not None else "runs"
            if not course.pausing:
                states[course.node] = msgspec.structs.replace(before, now=now)
        self._screen.model.states = states
        self._screen.list.refresh()


def _changed_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0  # a file that is gone: reading it says so
