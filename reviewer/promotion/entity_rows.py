"""Writing entity rows inside an act: the row, its structure, its relations."""

from __future__ import annotations

import msgspec

from reviewer.errors import ConflictError, ReviewerError, UnknownIdError
from reviewer.extraction.entities.entity import Attribute, EntityType, RelationKind
from reviewer.extraction.entities.naming import name_key
from reviewer.promotion.structure import Structure, reworded
from reviewer.store.changes import Image, Value
from reviewer.store.ledger import Act

ACYCLIC = (RelationKind.PART_OF, RelationKind.DEPENDS_ON, RelationKind.SUPERSEDES)
"""Relations that cannot lead back to where they began."""

_COPIED = (
    "project_id", "wave_id", "type", "content", "key", "rule", "extractor_version", "prior",
    "signal", "freshness", "confidence", "rank", "flags", "seen", "refs", "first_seen",
    "last_seen", "pending_since",
)  # fmt: skip


def memory_row(act: Act, number: int) -> dict[str, Value]:
    """A row's status and what a successor inherits. Raises UnknownIdError."""
    act.require_own("memory", [number])
    columns = ("kind", "status", *_COPIED)
    rows = act.query(f"SELECT {', '.join(columns)} FROM memory WHERE id = ?", (number,))
    if not rows:
        raise UnknownIdError(f"There is no candidate or memory #{number}.")
    return dict(zip(columns, rows[0], strict=True))


def insert_entity(
    act: Act, row: Image, structure: Structure, *, graduated_from: int | None = None
) -> int:
    """Insert an entity candidate. Raises ConflictError when one says the same already."""
    held = act.query(
        "SELECT id FROM memory WHERE project_id = ? AND kind = 'entity' AND type = ? AND key = ?",
        (row["project_id"], row["type"], row["key"]),
    )
    if held:
        raise ConflictError(f"#{held[0][0]} is a {row['type']} that says the same already.")
    number = act.insert("memory", **{**row, "kind": "entity", "status": "candidate"})
    act.insert(
        "entity",
        memory_id=number,
        name=structure.name,
        slot=structure.slot,
        attributes=msgspec.json.encode(structure.attributes).decode(),
        graduated_from=graduated_from,
    )
    for kind, target in dict.fromkeys((r.kind, r.target_name) for r in structure.relations):
        known = _by_name(act, number, target)
        act.insert("relation", memory_id=number, kind=str(kind), target=target, target_id=known)
    _answer_waiting(act, number, structure.name)
    return number


def change_structure(act: Act, number: int, content: str) -> None:
    """Read the values of an entity anew from a wording that a person has changed."""
    row, name, slot, attributes, type_ = act.query(
        "SELECT e.id, e.name, e.slot, e.attributes, m.type FROM entity e"
        " JOIN memory m ON m.id = e.memory_id WHERE m.id = ?",
        (number,),
    )[0]
    old = Structure(name, slot, msgspec.json.decode(attributes, type=tuple[Attribute, ...]))
    new = reworded(old, content, EntityType(type_))
    act.update(
        "entity", row, slot=new.slot, attributes=msgspec.json.encode(new.attributes).decode()
    )


def add_relation(act: Act, number: int, kind: str, target: int) -> str:
    """State a relation between two entities; returns the act's title.

    A relation that a text stated by name alone is pointed to the target. Raises UnknownIdError,
    ReviewerError for an unknown kind, ConflictError for a relation to itself, for a cycle of one
    that cannot go round, and for one that is stated already.
    """
    act.require_own("memory", [number, target])
    if kind not in list(RelationKind):
        raise ReviewerError(f'There is no relation "{kind}". Kinds: {", ".join(RelationKind)}.')
    names = {
        row[0]: row[1]
        for row in act.query(
            "SELECT memory_id, name FROM entity WHERE memory_id IN (?, ?)", (number, target)
        )
    }
    for each in (number, target):
        if each not in names:
            raise UnknownIdError(f"#{each} is no entity.")
    projects = act.query(
        "SELECT DISTINCT project_id FROM memory WHERE id IN (?, ?)", (number, target)
    )
    if len(projects) > 1:
        raise ConflictError(f"#{number} and #{target} belong to different projects.")
    if number == target:
        raise ConflictError(f"#{number} cannot stand in a relation to itself.")
    if kind in ACYCLIC and number in _reached(act, target, kind):
        raise ConflictError(
            f"#{number} {kind} #{target} would go in a circle: #{target} leads back to #{number}."
        )
    if act.query(
        "SELECT 1 FROM relation WHERE memory_id = ? AND kind = ? AND target_id = ?",
        (number, kind, target),
    ):
        raise ConflictError(f"#{number} {kind} #{target} is stated already.")
    stated = act.query(
        "SELECT id, target_id FROM relation WHERE memory_id = ? AND kind = ? AND target = ?",
        (number, kind, names[target]),
    )
    if stated and stated[0][1] is None:
        act.update("relation", stated[0][0], target_id=target)
    else:
        name = f"{names[target]} (#{target})" if stated else names[target]
        act.insert("relation", memory_id=number, kind=kind, target=name, target_id=target)
    return f"#{number} {kind} #{target}"


def _reached(act: Act, start: int, kind: str) -> set[int]:
    """The entities to which one relation leads, step by step; loops in the data are harmless."""
    seen: set[int] = set()
    waiting = [start]
    while waiting:
        for (found,) in act.query(
            "SELECT target_id FROM relation WHERE memory_id = ? AND kind = ?"
            " AND target_id IS NOT NULL",
            (waiting.pop(), kind),
        ):
            if found not in seen:
                seen.add(found)
                waiting.append(found)
    return seen


def _by_name(act: Act, number: int, name: str) -> int | None:
    """The entity of the same project that bears a name, if there is just one."""
    rows = act.query(
        "SELECT e.memory_id, e.name FROM entity e JOIN memory m ON m.id = e.memory_id"
        " WHERE m.status IN ('candidate', 'active') AND m.id <> ?1"
        " AND m.project_id = (SELECT project_id FROM memory WHERE id = ?1)",
        (number,),
    )
    wanted = name_key(name)
    found = [row[0] for row in rows if name_key(row[1]) == wanted]
    return found[0] if len(found) == 1 else None


def _answer_waiting(act: Act, number: int, name: str) -> None:
    """Point relations that named this entity before it was there to it."""
    wanted = name_key(name)
    for relation, target in act.query(
        "SELECT r.id, r.target FROM relation r JOIN memory m ON m.id = r.memory_id"
        " WHERE r.target_id IS NULL AND m.id <> ?1"
        " AND m.project_id = (SELECT project_id FROM memory WHERE id = ?1)",
        (number,),
    ):
        if name_key(target) == wanted:
            act.update("relation", relation, target_id=number)
