"""The runs of a store: one row each, with its files in a folder beside the store."""

from __future__ import annotations

from itertools import count
from pathlib import Path

from msgspec import Struct, structs

from reviewer.clock import Clock, iso
from reviewer.errors import UnknownIdError
from reviewer.files import FOLDER_MODE, make_private_folder
from reviewer.pipelines.events import RunError, RunState
from reviewer.pipelines.run_folder import RunFolder
from reviewer.sharing import personal
from reviewer.store.acts import Scope
from reviewer.store.database import Database
from reviewer.store.ledger import Ledger
from reviewer.store.project_rows import project_row

_RUNS = (
    "SELECT r.run_id, p.name, r.path, r.name, r.folder, r.state, coalesce(r.current_node, ''),"
    " r.started_at, r.changed_at FROM pipeline_run r JOIN project p ON p.id = r.project_id"
)


class RunView(Struct, frozen=True):
    """A run. `state` is up to date: a run whose program has died is interrupted."""

    run_id: str
    project: str
    path: str
    name: str
    folder: str
    state: RunState
    current_node: str
    started_at: str
    changed_at: str

    @property
    def can_resume(self) -> bool:
        return self.state not in ("done", "running")


class RunStore:
    """The table of runs. Its acts are not part of undo."""

    def __init__(self, database: Database, ledger: Ledger, clock: Clock) -> None:
        self._database = database
        self._ledger = ledger
        self._clock = clock

    def new_folder(self, name: str) -> Path:
        """Create the folder of a new run beside the store; unique even for programs started in the
        same second. Its name, from the time and the pipeline's name, is the run's id.

        Raises RunError.
        """
        plain = "".join(c if c.isascii() and c.isalnum() else "-" for c in name)[:24].strip("-")
        base = f"{self._clock():%Y%m%d-%H%M%S}-{plain.lower() or 'run'}"
        runs = personal(self._database.path.absolute(), "-runs")
        for number in count(1):
            folder = runs / (base if number == 1 else f"{base}-{number}")
            if self._views("WHERE r.run_id = ?", folder.name):  # of a store that was copied
                continue
            try:
                make_private_folder(runs)
                folder.mkdir(mode=FOLDER_MODE)
            except FileExistsError:
                continue
            except OSError as problem:
                raise RunError(f"{folder} cannot be created: {problem.strerror}.") from problem
            break
        return folder

    def register(self, project: str, path: Path, name: str, folder: Path, node: str) -> None:
        """Record the start of a run. Raises StoreError."""
        now = iso(self._clock())
        with self._ledger.act("run", f"Run of {name} started", scope=Scope.INTAKE) as act:
            act.insert(
                "pipeline_run",
                project_id=project_row(act, project),
                run_id=folder.name,
                path=str(path),
                name=name,
                folder=str(folder),
                state="running",
                current_node=node,
                started_at=now,
                changed_at=now,
            )

    def change(self, run_id: str, state: RunState, node: str) -> None:
        """Record the state of a run. Raises StoreError."""
        now = iso(self._clock())
        with self._ledger.act("run", f"Run {run_id}: {state}", scope=Scope.INTAKE) as act:
            for (row,) in act.query("SELECT id FROM pipeline_run WHERE run_id = ?", (run_id,)):
                act.update("pipeline_run", row, state=state, current_node=node, changed_at=now)

    def all(self, project: str | None = None) -> list[RunView]:
        if project is None:
            return self._views("ORDER BY r.id DESC")
        return self._views("WHERE p.name = ? ORDER BY r.id DESC", project)

    def get(self, run_id: str) -> RunView:
        """A run by its id or a unique prefix of it.

        Raises UnknownIdError, also for a run of another project.
        """
        views = self._views("WHERE r.run_id = ?", run_id)
        if not views and run_id:
            views = self._views("WHERE instr(r.run_id, ?) = 1 ORDER BY r.id DESC", run_id)
        views = self._own(views) or views
        if len(views) > 1:
            names = ", ".join(view.run_id for view in views[:5])
            raise UnknownIdError(f"Several runs begin with {run_id}: {names}.")
        if not views:
            raise UnknownIdError(f"No run {run_id}. See: reviewer pipeline runs")
        self._database.ownership.require_name(f"Run {views[0].run_id}", views[0].project)
        return views[0]

    def latest_of(self, path: Path) -> RunView:
        """The latest run of a file that can be resumed. Raises RunError, with advice, if there is
        none or if a newer one is in progress in another program.
        """
        own = self._own(self._views("WHERE r.path = ? ORDER BY r.id DESC", str(path)))
        for view in own:
            if view.state == "running":
                raise RunError(
                    f"The run {view.run_id} of {path} is in progress in another program, at "
                    f"{view.current_node}: it can be resumed here once it has stopped there. "
                    "Resume an earlier one by its id: reviewer pipeline runs"
                )
            if view.can_resume:
                return view
        why = "every run of it has reached its exit" if own else "it has not been run here"
        raise RunError(f"No run of {path} to resume: {why}. Start one: reviewer pipeline run FILE")

    def _own(self, views: list[RunView]) -> list[RunView]:
        project = self._database.ownership.project
        return [view for view in views if project in (None, view.project)]

    def _views(self, rest: str, *parameters: str) -> list[RunView]:
        rows = self._database.query(f"{_RUNS} {rest}", parameters)
        return [_as_it_is_now(RunView(*row)) for row in rows]


def _as_it_is_now(view: RunView) -> RunView:
    """Update a row from the run's files: rows are written only at the start and the end."""
    if view.state != "running":
        return view
    folder = RunFolder(Path(view.folder))
    if not folder.is_locked():
        view = structs.replace(view, state="interrupted")
    try:
        checkpoint = folder.checkpoint()
    except RunError:
        return view  # a resume reports a damaged checkpoint; a list of runs does not
    return structs.replace(view, current_node=checkpoint.next_node or checkpoint.current_node)
