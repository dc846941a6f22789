"""Ids of active entities and memories, for lists that show a window of them."""

from __future__ import annotations

from array import array

from reviewer.extraction.entities.entity import EntityType
from reviewer.promotion.lists.filters import parse_filter
from reviewer.store.database import Database, failures_as_sentences

_ACTIVE = (
    "WHERE m.status = 'active' AND m.kind <> 'conflict'"
    " AND (?1 IS NULL OR m.project_id = (SELECT id FROM project WHERE name = ?1))"
)
_AT_A_CALL = "FROM use_of_memory WHERE moment <> 'start'"
_WITH_LAST_USE = (
    f"LEFT JOIN (SELECT memory_id, max(at) AS at {_AT_A_CALL} GROUP BY memory_id) u"
    " ON u.memory_id = m.id"
)
_LAST_USED_OR_DECIDED = "max(coalesce(m.decided_at, ''), coalesce(u.at, ''))"


class ActiveFacts:
    """Reads the active rows."""

    entity_types: tuple[str, ...] = tuple(EntityType)

    def __init__(self, database: Database) -> None:
        self._database = database

    def ids(self, project: str | None = None, *, filter: str = "") -> array[int]:  # noqa: A002
        """Ids of the active rows, most recently used at a call or decided first.

        `filter` is a filter line of the queue. Raises FilterError.
        """
        if self._database.first(f"SELECT 1 {_AT_A_CALL} LIMIT 1") is None:
            return self._read(project, filter)  # in the order of an index
        return self._read(project, filter, _WITH_LAST_USE, _LAST_USED_OR_DECIDED)

    def _read(
        self,
        project: str | None,
        text: str,
        join: str = "",
        order: str = "m.decided_at",
    ) -> array[int]:
        condition = parse_filter(text)
        sql = (
            f"SELECT m.id FROM memory m {join} {_ACTIVE} AND {condition.sql}"
            f" ORDER BY {order} DESC, m.id DESC"
        )
        with failures_as_sentences(self._database.path):
            cursor = self._database.reader().cursor()
            cursor.row_factory = None  # plain rows take a third of the time for a million
            found = cursor.execute(sql, (project, *condition.parameters))
            return array("q", (number for (number,) in found))
