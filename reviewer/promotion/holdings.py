"""What holds: active entities and memories by type, as ids, for a list that shows a part."""

from __future__ import annotations

from array import array

from msgspec import Struct

from reviewer.extraction.candidates import MemoryType
from reviewer.extraction.entities.entity import EntityType, RelationKind
from reviewer.promotion.filters import parse_filter
from reviewer.promotion.likely_types import likely_types
from reviewer.promotion.queue import Queue
from reviewer.promotion.views import Kind
from reviewer.store.database import Database, failures_as_sentences

RELATION_KINDS: tuple[str, ...] = tuple(RelationKind)
_ORDER = {
    (kind, str(name)): place
    for place, (kind, name) in enumerate(
        [
            *((Kind.ENTITY, type_) for type_ in EntityType),
            *((Kind.MEMORY, type_) for type_ in MemoryType),
        ]
    )
}


class Holding(Struct, frozen=True):
    """The active rows of one type, the last decided first."""

    kind: Kind
    type: str
    ids: array[int]


class Holdings:
    """Reads what is active. One query, whatever the number of types."""

    def __init__(self, database: Database, queue: Queue) -> None:
        self._database = database
        self._queue = queue

    @property
    def relation_kinds(self) -> tuple[str, ...]:
        """How one entity may stand to another."""
        return RELATION_KINDS

    def groups(self, project: str | None = None, *, filter: str = "") -> tuple[Holding, ...]:  # noqa: A002
        """Entities by type, then memories by type; types without rows are left out.

        `filter` is a filter line of the queue. Raises FilterError.
        """
        condition = parse_filter(filter)
        sql = (
            "SELECT m.kind, m.type, m.id FROM memory m WHERE m.status = 'active'"
            " AND m.kind <> 'conflict'"
            " AND (?1 IS NULL OR m.project_id = (SELECT id FROM project WHERE name = ?1))"
            f" AND {condition.sql}"
            " ORDER BY m.decided_at DESC, m.id DESC"
        )
        found: dict[tuple[Kind, str], array[int]] = {}
        with failures_as_sentences(self._database.path):
            rows = self._database.reader().execute(sql, (project, *condition.parameters))
            for kind, type_, number in rows:
                found.setdefault((Kind(kind), type_), array("q")).append(number)
        known = sorted(found, key=lambda key: (_ORDER.get(key, len(_ORDER)), key))
        return tuple(Holding(kind, type_, found[kind, type_]) for kind, type_ in known)

    def likely_types(self, number: int) -> tuple[str, ...]:
        """All entity types for a memory, the likeliest first. Raises UnknownIdError."""
        view = self._queue.candidate(number)
        return likely_types(view.content, view.rule)
