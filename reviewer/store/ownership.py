"""The current project, and the projects that rows and acts belong to."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any

from reviewer.errors import ConflictError, OtherProjectError
from reviewer.projects import RootClaim
from reviewer.store.changes import Run, Value

Query = Callable[[str, Sequence[Value]], Iterable[Sequence[Any]]]

_OF_PROJECT = "{} r JOIN project p ON p.id = r.project_id"
_OF_MEMORY = "{} r JOIN memory m ON m.id = r.memory_id JOIN project p ON p.id = m.project_id"
_OF_CONTEXT = "{} r JOIN context x ON x.id = r.context_id JOIN project p ON p.id = x.project_id"
_OF_COMMIT = (
    "{} r JOIN commit_ c ON c.id = r.commit_id JOIN context x ON x.id = c.context_id"
    " JOIN project p ON p.id = x.project_id"
)
_JOINS = {
    "project": "{} p",
    **dict.fromkeys(
        ("wave", "source", "record", "memory", "state", "context", "pipeline_run", "finding"),
        _OF_PROJECT,
    ),
    **dict.fromkeys(("evidence", "content_history", "entity", "relation", "conflict"), _OF_MEMORY),
    **dict.fromkeys(("commit_", "compression"), _OF_CONTEXT),
    **dict.fromkeys(("annotation", "anchor", "segment"), _OF_COMMIT),
}
"""The joins from each table to the project `p` of a row."""

_NEVER_ALONE = {"content", "record", "evidence", "commit_", "segment", "erasure"}
"""Tables written only together with another row of the same project, or without a project."""


def projects_of(query: Query, table: str, rows: Iterable[int]) -> Iterable[tuple[int, str]]:
    """The project's name of each existing row, as (row, name)."""
    way = _JOINS[table].format(table)
    row_id = "p.id" if table == "project" else "r.id"
    sql = f"SELECT {row_id}, p.name FROM {way} WHERE {row_id} IN (SELECT value FROM json_each(?))"
    return ((row, name) for row, name in query(sql, (json.dumps(list(rows)),)))


class Ownership:
    """The current project; None for all. Ids of other projects are refused."""

    def __init__(self) -> None:
        self.project: str | None = None
        self.claim: RootClaim | None = None
        """The work tree to bind the project to at its next write."""
        self.bound: RootClaim | None = None
        """The project bound by this process."""
        self.taken: dict[str, str] = {}
        """Names that new projects may not have here, each with the reason as a sentence."""

    def require(self, query: Query, table: str, rows: Iterable[int]) -> None:
        """Raise OtherProjectError for the first of the rows that belongs to another project."""
        if self.project is None:
            return
        for row, name in projects_of(query, table, rows):
            self.require_name(f"{_NOUNS.get(table, '')}#{row}", name)

    def require_name(self, what: str, name: str) -> None:
        """Raise OtherProjectError if `name` is not the current project."""
        if self.project not in (None, name):
            raise OtherProjectError(what, name)

    def require_new(self, name: str) -> None:
        """Raise if no project of that name may be created from here."""
        if self.project not in (None, name):
            raise OtherProjectError("This", name)
        if self.project is None and name in self.taken:
            raise ConflictError(self.taken[name])


_NOUNS = {"context": "Context ", "commit_": "Commit ", "wave": "Wave "}


class Owners:
    """Collects the projects of an act, change by change."""

    def __init__(self) -> None:
        self._projects: set[int] = set()
        self._rows: defaultdict[str, set[int]] = defaultdict(set)

    def see(self, run: Run) -> None:
        """Add the projects of changes."""
        if "project_id" in run.columns:
            for values in (run.before, run.after):
                self.see_projects(values[run.columns.index("project_id")] if values else ())
        elif run.table not in _NEVER_ALONE:
            self._rows[run.table].update(run.rows)

    def see_projects(self, projects: Iterable[object]) -> None:
        """Add the projects of inserted rows."""
        # First made distinct: a large run nearly always has one.
        self._projects.update(number for number in set(projects) if isinstance(number, int))

    def names(self, query: Query) -> set[str]:
        """The names of the projects of existing rows."""
        rows = {**self._rows, "project": self._rows.get("project", set()) | self._projects}
        found = (projects_of(query, table, numbers) for table, numbers in rows.items())
        return {name for _, name in chain.from_iterable(found)}
