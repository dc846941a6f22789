"""The runs of a store: a row for each, its files in a folder beside the store."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from reviewer.clock import Clock, iso
from reviewer.errors import UnknownIdError
from reviewer.files import FOLDER_MODE, make_private_folder
from reviewer.pipelines.checkpoint import read_checkpoint
from reviewer.pipelines.events import RunError, RunState
from reviewer.pipelines.run_folder import RunFolder
from reviewer.sharing import personal
from reviewer.store.acts import Scope
from reviewer.store.database import Database
from reviewer.store.ledger import Ledger
from reviewer.store.project_rows import project_row

_COLUMNS = (
    "r.run_id, p.name, r.path, r.name, r.folder, r.state, coalesce(r.current_node, ''),"
    " r.started_at, r.changed_at"
)


class RunView(Struct, frozen=True):
    """A run. `state` is the current one: a run whose program has ended is interrupted."""

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
        """Whether it can be resumed."""
        return self.state not in ("done", "running")


class RunStore:
    """The table of runs. Its acts are not among those that undo takes back."""

    def __init__(self, database: Database, ledger: Ledger, clock: Clock) -> None:
        self._database = database
        self._ledger = ledger
        self._clock = clock

    def new_folder(self, name: str) -> tuple[str, Path]:
        """An id made of the time and the pipeline's name, and the folder beside the store that is
        made for it, so that no program that starts in the same second gets it too.

        Raises RunError.
        """
        plain = "".join(c if c.isascii() and c.isalnum() else "-" for c in name)[:24].strip("-")
        base = f"{self._clock():%Y%m%d-%H%M%S}-{plain.lower() or 'run'}"
        runs = personal(self._database.path.absolute(), "-runs")
        for number in count(1):
            run_id = base if number == 1 else f"{base}-{number}"
            try:
                make_private_folder(runs)
                (runs / run_id).mkdir(mode=FOLDER_MODE)
            except FileExistsError:
                continue
            except OSError as problem:
                raise RunError(f"{runs / run_id} cannot be made: {problem.strerror}.") from problem
            break
        return run_id, runs / run_id

    def register(
        self,
        run_id: str,
        *,
        project: str,
        path: Path,
        name: str,
        folder: Path,
        node: str,
    ) -> None:
        """Record that a run has begun. Raises StoreError."""
        now = iso(self._clock())
        with self._ledger.act("run", f"Run of {name} began", scope=Scope.INTAKE) as act:
            row = project_row(act, project)
            act.insert(
                "pipeline_run",
                project_id=row,
                run_id=run_id,
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
        title = f"Run {run_id}: {state}"
        with self._ledger.act("run", title, scope=Scope.INTAKE) as act:
            found = act.query("SELECT id FROM pipeline_run WHERE run_id = ?", (run_id,))
            for (row,) in found:
                act.update(
                    "pipeline_run",
                    row,
                    state=state,
                    current_node=node,
                    changed_at=iso(self._clock()),
                )

    def all(self, project: str | None = None) -> list[RunView]:
        """The runs, newest first."""
        where = "" if project is None else " WHERE p.name = ?"
        rows = self._rows(f"{where} ORDER BY r.id DESC", () if project is None else (project,))
        return [_view(row) for row in rows]

    def get(self, run_id: str) -> RunView:
        """A run by its id, or by the beginning of it that no other of its project has.

        Raises UnknownIdError, also for a run of another project.
        """
        rows = self._rows(" WHERE r.run_id = ?", (run_id,))
        if not rows and run_id:
            rows = self._rows(
                " WHERE substr(r.run_id, 1, ?) = ? ORDER BY r.id DESC", (len(run_id), run_id)
            )
        ownership = self._database.ownership
        rows = [row for row in rows if ownership.project in (None, row[1])] or rows
        if len(rows) > 1:
            names = ", ".join(row[0] for row in rows[:5])
            raise UnknownIdError(f"Several runs begin with {run_id}: {names}.")
        if not rows:
            raise UnknownIdError(f"There is no run {run_id}. See: reviewer pipeline runs")
        ownership.require_name(f"Run {rows[0][0]}", rows[0][1])
        return _view(rows[0])

    def latest_of(self, path: Path) -> RunView:
        """The latest run of a file that can be resumed. Raises RunError, with what to do, if there
        is none or if a newer one is under way in another program.
        """
        rows = self._rows(" WHERE r.path = ? ORDER BY r.id DESC", (str(path),))
        own = [row for row in rows if self._database.ownership.project in (None, row[1])]
        for view in map(_view, own):
            if view.state == "running":
                raise RunError(
                    f"The run {view.run_id} of {path} is under way in another program, at "
                    f"{view.current_node}: it can go on here when it has ended or stopped there. "
                    "An earlier one goes on by its id: reviewer pipeline runs"
                )
            if view.can_resume:
                return view
        why = "every run of it has reached its exit" if own else "it has not been run here"
        raise RunError(f"No run of {path} can go on: {why}. Start one: reviewer pipeline run FILE")

    def _rows(self, rest: str, parameters: tuple[Any, ...]) -> list[Any]:
        return self._database.query(
            f"SELECT {_COLUMNS} FROM pipeline_run r JOIN project p ON p.id = r.project_id{rest}",
            parameters,
        )


def _view(row: Any) -> RunView:
    view = RunView(*row)
    if view.state != "running":
        return view
    # The row is written when a run begins and ends; in between, its files are newer.
    folder = RunFolder(Path(view.folder))
    if not folder.is_locked():
        view = structs.replace(view, state="interrupted")
    try:
        checkpoint = read_checkpoint(folder)
    except RunError:
        return view  # a resume reports a damaged checkpoint; a list of runs does not
    return structs.replace(view, current_node=checkpoint.next_node or checkpoint.current_node)
