"""The table of projects: finding or creating a row, and binding it to a work tree."""

from __future__ import annotations

from collections.abc import Iterable

from reviewer.errors import ConflictError, ReviewerError
from reviewer.projects import StoredProject, belongs_elsewhere
from reviewer.store.acts import Act
from reviewer.store.database import Database, failures_as_sentences


def stored_projects(database: Database) -> list[StoredProject]:
    """Every project, oldest first."""
    with failures_as_sentences(database.path):
        rows = database.reader().execute("SELECT name, root, former FROM project ORDER BY id")
        return [StoredProject(*row) for row in rows]


def is_known(database: Database, name: str) -> bool:
    """Whether anything was ever written for a project, even if all of it was undone."""
    sql = (
        "SELECT EXISTS (SELECT 1 FROM project WHERE name = ?1)"
        " OR EXISTS (SELECT 1 FROM ledger_project WHERE project = ?1)"
    )
    with failures_as_sentences(database.path):
        return bool(database.reader().execute(sql, (name,)).fetchone()[0])


def add_former(act: Act, row: int, folders: Iterable[str]) -> None:
    """Add former folders of a project: those its sessions were held in."""
    ((former,),) = act.query("SELECT former FROM project WHERE id = ?", (row,))
    known = dict.fromkeys([*former.splitlines(), *folders])
    act.update("project", row, former="\n".join(known))


def project_row(act: Act, name: str) -> int:
    """The id of a project. A new project is created and bound to the current work tree.

    Raises OtherProjectError for a project other than the current one, ConflictError if another work
    tree has taken the name meanwhile, ReviewerError for a name with a secret in it.
    """
    _require_no_secret(name)
    act.ownership.require_new(name)
    claim = act.ownership.claim
    claim = claim if claim is not None and claim.project == name else None
    found = act.query("SELECT id, name, root FROM project WHERE name = ?", (name,))
    if not found:
        act.ownership.bound = claim
        return act.insert("project", name=name, root=claim.root if claim else "")
    row, *columns = found[0]
    stored = StoredProject(*columns)
    if claim is not None and claim.before is None and claim.root not in stored.roots:
        raise ConflictError(belongs_elsewhere(stored))
    return int(row)


def _require_no_secret(name: str) -> None:
    from reviewer.text.secrets import mask  # late: its patterns take a while

    if mask(name).kinds:
        raise ReviewerError(
            "The name of the project has a secret in it. Name another one with --project."
        )
