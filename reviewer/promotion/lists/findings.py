"""Findings in sessions, for a list."""

from __future__ import annotations

from reviewer.clock import Clock, iso
from reviewer.promotion.rows.finding_rows import (
    SELECT,
    SUNK,
    FindingView,
    costliest_first,
    finding_row,
    groups_of,
    is_stale,
    view_of,
)
from reviewer.store.database import Database


class KeptFindings:
    """Reads the findings of the store."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def all(self, project: str | None) -> list[FindingView]:
        """The findings of one project or of all: by number of sessions, then by cost; failures of
        services that have not recurred for SUNK come last.
        """
        where, parameters = ("1", ()) if project is None else ("p.name = ?", (project,))
        rows = self._database.query(SELECT.format(where), parameters)
        before = iso(self._clock() - SUNK)
        views = map(view_of, groups_of(map(finding_row, rows)))
        return sorted(views, key=lambda view: (is_stale(view, before), *costliest_first(view)))
