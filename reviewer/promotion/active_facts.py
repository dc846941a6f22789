"""Active entities and memories by type, as ids, for lists that show a part of them."""

from __future__ import annotations

import re
from array import array
from collections import defaultdict

from msgspec import Struct

from reviewer.extraction.candidates import MemoryType
from reviewer.extraction.entities.entity import EntityType, RelationKind
from reviewer.promotion.filters import parse_filter
from reviewer.promotion.queue import Queue
from reviewer.promotion.views import Kind
from reviewer.store.database import Database, failures_as_sentences

RELATION_KINDS: tuple[str, ...] = tuple(RelationKind)
_ORDER = {
    (str(kind), str(name)): place
    for place, (kind, name) in enumerate(
        [
            *((Kind.ENTITY, type_) for type_ in EntityType),
            *((Kind.MEMORY, type_) for type_ in MemoryType),
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

    kind: Kind
    type: str
    ids: array[int]


class ActiveFacts:
    """Reads the active rows with one query, however many types there are."""

    def __init__(self, database: Database, queue: Queue) -> None:
        self._database = database
        self._queue = queue

    @property
    def relation_kinds(self) -> tuple[str, ...]:
        """The relations that one entity may have to another."""
        return RELATION_KINDS

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
        return tuple(FactGroup(Kind(kind), type_, found[kind, type_]) for kind, type_ in known)

    def newest(self, project: str | None, *, filter: str, limit: int) -> list[int]:  # noqa: A002
        """Ids of the active rows that match a filter, the last decided first.

        Raises FilterError.
        """
        condition = parse_filter(filter)
        sql = f"SELECT m.id {_ACTIVE} AND {condition.sql} {_LAST_DECIDED_FIRST} LIMIT ?"
        with failures_as_sentences(self._database.path):
            rows = self._database.reader().execute(sql, (project, *condition.parameters, limit))
            return [row[0] for row in rows]

    def likely_types(self, number: int) -> tuple[str, ...]:
        """All entity types for a memory, the likeliest first. Raises UnknownIdError."""
        view = self._queue.candidate(number)
        return likely_types(view.content, view.rule)


_CUES: tuple[tuple[EntityType, str], ...] = (
    (EntityType.CONSTRAINT, r"must not|never|at most|no more than|cannot|limit|constraint"),
    (EntityType.DECISION, r"decided|decision|chose|instead of|we will|settled on|moves to|use "),
    (EntityType.REQUIREMENT, r"must|shall|has to|have to|needs? to|require|always|at least"),
    (EntityType.PARAMETER, r"\d+(?:[.,]\d+)? ?(?:%|[a-zµ°]{1,4}\b)|=|timeout|threshold|default"),
    (EntityType.RESULT, r"turned out|root cause|measured|was caused|found that|result|because of"),
    (EntityType.VALIDATION_CLAIM, r"verified|validated|proved|tested|confirms?\b"),
    (EntityType.PROCESS, r"before|after|every (?:night|day|week)|deploy|release|workflow|run "),
    (EntityType.INTERFACE, r"\bapi\b|endpoint|protocol|schema|webhook|contract"),
    (EntityType.VENDOR, r"vendor|supplier|supplied|licen[cs]e"),
    (EntityType.COMPONENT, r"module|component|service|library|queue|index|cache"),
    (EntityType.SUBSYSTEM, r"subsystem|pipeline|backend|frontend"),
    (EntityType.SYSTEM, r"system|platform|database|cluster"),
    (EntityType.ANALYSIS_MODEL, r"model|simulation|estimate"),
    (EntityType.MATERIAL, r"steel|alumin|material|alloy|polymer"),
    (EntityType.PROJECT, r"project|milestone|roadmap|charter"),
)
"""Words that suggest a type; where several match, the earlier type comes first."""

_PATTERNS = tuple((type_, re.compile(rf"\b(?:{cue})", re.IGNORECASE)) for type_, cue in _CUES)


def likely_types(content: str, rule: str = "") -> tuple[str, ...]:
    """All types; those whose words are in the text or the rule's name come first."""
    text = f"{rule.replace('_', ' ').replace('.', ' ')}. {content}"
    suggested = [str(type_) for type_, pattern in _PATTERNS if pattern.search(text)]
    others = [str(type_) for type_, _ in _CUES]
    return tuple(dict.fromkeys([*suggested, *others]))
