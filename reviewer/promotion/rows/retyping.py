"""Changing the type of a memory or an entity, inside an act."""

from __future__ import annotations

from reviewer.errors import ConflictError
from reviewer.extraction.entities.entity import EntityType
from reviewer.promotion.rows.conflict_rows import settle_conflicts
from reviewer.promotion.rows.decided_rows import (
    STATUS_WORDS,
    DecidedRow,
    make_first_leader,
    members_of,
)
from reviewer.promotion.rows.entity_rows import (
    add_structure,
    change_structure,
    kind_and_type,
    parse_structure,
    remove_structure,
)
from reviewer.promotion.rows.known_rows import row_with_key
from reviewer.promotion.views import RowKind, Status
from reviewer.store.acts import Act


def change_type(act: Act, row: DecidedRow, type_: str, now: str) -> list[str]:
    """Change the type of a row; returns the change in words, if any.

    A candidate may become an entity or a memory; an active memory becomes an entity by graduating.
    Raises ReviewerError for an unknown type, ConflictError if that is not possible or a row of that
    type says the same.
    """
    kind, new = kind_and_type(type_)
    content, key, old, project = act.query(
        "SELECT content, key, type, project_id FROM memory WHERE id = ?", (row.id,)
    )[0]
    if (kind, new) == (row.kind, old):
        return []
    if kind is not row.kind:
        _require_may_change_kind(act, row, kind, new)
    if same := row_with_key(act, project, (str(kind), new, key), besides=row.id):
        other, status = same
        raise ConflictError(
            f"#{other} ({STATUS_WORDS[Status(status)]}, {new}) says the same."
            f" Nothing was changed; reject #{row.id} instead."
        )
    # Marked as edited, so that it is not proposed again under its earlier type.
    act.update("memory", row.id, kind=str(kind), type=new, edited=1)
    if kind is not row.kind:
        for members in members_of(act, [row]).values():  # only rows of one kind are near duplicates
            make_first_leader(act, members)
        act.update("memory", row.id, leader_id=None)
        if kind is RowKind.ENTITY:
            add_structure(act, row.id, parse_structure(content, EntityType(new)))
        else:
            settle_conflicts(act, [row.id], now)
            remove_structure(act, row.id)
    elif kind is RowKind.ENTITY:
        change_structure(act, row.id, content)
    return [f"{old} to {new}"]


def _require_may_change_kind(act: Act, row: DecidedRow, kind: RowKind, new: str) -> None:
    if row.status is not Status.CANDIDATE:
        what, way = "a memory", f"reviewer restore {row.id} puts it back into the queue first"
        if kind is RowKind.ENTITY:
            what, way = "an entity", f"reviewer graduate {row.id} --as {new}"
        raise ConflictError(
            f"#{row.id} is an active {row.kind} and cannot become {what} by its type alone: {way}"
        )
    if act.query(
        "SELECT 1 FROM entity WHERE memory_id = ? AND graduated_from IS NOT NULL", (row.id,)
    ):
        raise ConflictError(
            f"#{row.id} was graduated from a memory. To have the memory back: reviewer reject "
            f"{row.id}"
        )
