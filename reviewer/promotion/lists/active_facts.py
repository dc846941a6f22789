"""Active entities and memories by type, as ids, for lists that show a part of them."""

from __future__ import annotations

from array import array
from collections import defaultdict

from msgspec import Struct

from reviewer.extraction.candidates import MemoryType
from reviewer.extraction.entities.entity import EntityType, RelationKind
from reviewer.promotion.lists.filters import parse_filter
from reviewer.promotion.views import RowKind
from reviewer.store.database import Database, failures_as_sentences

_ORDER = {
    (str(kind), str(name)): place
    for place, (kind, name) in enumerate(
        [
            *((RowKind.ENTITY, type_) for type_ in EntityType),
            *((RowKind.MEMORY, type_) for type_ in MemoryType),
        ]
    )
}


_ACTIVE = (
    "FROM memory m WHERE m.status = 'active' AND m.kind <> 'conflict'"
    " AND (?1 IS NULL OR m.project_id = (SELECT id FROM project WHERE name = ?1))"
)
_LAST_DECIDED_FIRST = "ORDER BY m.decided_at DESC, m.id DESC"


class FactGroup(Struct, frozen=True):
    """The active rows of one type, the last decided first."""

    kind: RowKind
    type: str
    ids: array[int]


class ActiveFacts:
    """Reads the active rows with one query, however many types there are."""

    entity_types: tuple[str, ...] = tuple(EntityType)
    relation_kinds: tuple[str, ...] = tuple(RelationKind)
    """The relations that one entity may have to another."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def groups(self, project: str | None = None, *, filter: str = "") -> tuple[FactGroup, ...]:  # noqa: A002
        """Entities by type, then memories by type; types without rows are left out.

        `filter` is a filter line of the queue. Raises FilterError.
        """
        condition = parse_filter(filter)
        sql = f"SELECT m.kind, m.type, m.id {_ACTIVE} AND {condition.sql} {_LAST_DECIDED_FIRST}"
        found: defaultdict[tuple[str, str], array[int]] = defaultdict(lambda: array("q"))
        with failures_as_sentences(self._database.path):
            cursor = self._database.reader().cursor()
            cursor.row_factory = None  # a million plain rows take a third of the time
            for kind, type_, number in cursor.execute(sql, (project, *condition.parameters)):
                found[kind, type_].append(number)
        known = sorted(found, key=lambda key: (_ORDER.get(key, len(_ORDER)), key))
        return tuple(FactGroup(RowKind(kind), type_, found[kind, type_]) for kind, type_ in known)

    def newest(self, project: str | None, *, filter: str, limit: int) -> list[int]:  # noqa: A002
        """Ids of the active rows that match a filter, the last decided first.

        Raises FilterError.
        """
        condition = parse_filter(filter)
        sql = f"SELECT m.id {_ACTIVE} AND {condition.sql} {_LAST_DECIDED_FIRST} LIMIT ?"
        rows = self._database.query(sql, (project, *condition.parameters, limit))
        return [row[0] for row in rows]
