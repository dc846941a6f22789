"""Runs as the store knows them: one row a run, its files in a folder beside the store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec import Struct

from reviewer.clock import Clock, iso
from reviewer.errors import UnknownIdError
from reviewer.pipelines.checkpoint import read_checkpoint
from reviewer.pipelines.run_errors import RunError
from reviewer.pipelines.run_events import RunState
from reviewer.pipelines.run_files import RunFolder
from reviewer.store.database import Database, failures_as_sentences
from reviewer.store.ledger import Ledger, Scope
from reviewer.store.project_rows import project_row

_COLUMNS = (
    "r.run_id, p.name, r.path, r.name, r.folder, r.state, r.current_node, r.started_at,"
    " r.changed_at"
)


class RunView(Struct, frozen=True):
    """A run. `state` is what it is now: a run whose program is gone is interrupted."""

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
        """Whether it may go on."""
        return self.state not in ("done", "running")


class RunStore:
    """The table of runs. Starting and ending one is an act outside of what undo walks."""

    def __init__(self, database: Database, ledger: Ledger, clock: Clock) -> None:
        self._database = database
        self._ledger = ledger
        self._clock = clock

    def new_folder(self, run_id: str) -> Path:
        """Where a run is kept when no other place is named: beside the store."""
        store = self._database.path
        return store.absolute().with_name(f"{store.name}-runs") / run_id

    def new_id(self, name: str) -> str:
        """An id that no run has yet: when it began, and the pipeline's name.

        Two programs that start at the same moment are told apart by the table's constraint.
        """
        plain = "".join(c if c.isascii() and c.isalnum() else "-" for c in name)[:24].strip("-")
        base = f"{self._clock():%Y%m%d-%H%M%S}-{plain.lower() or 'run'}"
        taken = set(self._ids(base))
        number = 1
        while (found := base if number == 1 else f"{base}-{number}") in taken or (
            self.new_folder(found).exists()  # of a run that was killed before it was registered
        ):
            number += 1
        return found

    def register(
        self, run_id: str, *, project: str, path: Path, name: str, folder: Path, node: str
    ) -> None:
        """Say that a run has begun. Raises StoreError."""
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
        """Say where a run stands now. Raises StoreError."""
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
            raise UnknownIdError(f"{run_id} may be several runs: {names}.")
        if not rows:
            raise UnknownIdError(f"There is no run {run_id}. See: reviewer pipeline runs")
        ownership.require_name(f"Run {rows[0][0]}", rows[0][1])
        return _view(rows[0])

    def knows(self, run_id: str) -> bool:
        """Whether a run has a row."""
        return bool(self._rows(" WHERE r.run_id = ?", (run_id,)))

    def latest_of(self, path: Path) -> RunView | None:
        """The latest run of a file that can go on, or None."""
        rows = self._rows(" WHERE r.path = ? ORDER BY r.id DESC", (str(path),))
        own = [row for row in rows if self._database.ownership.project in (None, row[1])]
        return next((view for view in map(_view, own) if view.can_resume), None)

    def _ids(self, start: str) -> list[str]:
        return [
            row[0] for row in self._rows(" WHERE substr(r.run_id, 1, ?) = ?", (len(start), start))
        ]

    def _rows(self, rest: str, parameters: tuple[Any, ...]) -> list[Any]:
        with failures_as_sentences(self._database.path):
            return (
                self._database.reader()
                .execute(
                    f"SELECT {_COLUMNS} FROM pipeline_run r JOIN project p ON p.id = r.project_id"
                    + rest,
                    parameters,
                )
                .fetchall()
            )


def _view(row: Any) -> RunView:
    state: RunState = row[5]
    node = row[6] or ""
    if state == "running":
        # The row is written when a run begins and when it ends; in between its files know.
        folder = RunFolder(Path(row[4]))
        if not folder.is_held():
            state = "interrupted"
        node = _node_of(folder) or node
    return RunView(
        run_id=row[0],
        project=row[1],
        path=row[2],
        name=row[3],
        folder=row[4],
        state=state,
        current_node=node,
        started_at=row[7],
        changed_at=row[8],
    )


def _node_of(folder: RunFolder) -> str:
    """The node that a run is at by its checkpoint; empty where there is none to read yet.

    A damaged one is told of when the run is to go on, not when runs are listed.
    """
    try:
        checkpoint = read_checkpoint(folder.checkpoint)
    except RunError:
        return ""
    return checkpoint.next_node or checkpoint.current_node
