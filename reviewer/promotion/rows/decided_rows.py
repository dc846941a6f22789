"""The rows of a decision: reading and checking them, and its effects on other rows."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from reviewer.errors import ConflictError, ReviewerError, UnknownIdError
from reviewer.promotion.views import RowKind, Status
from reviewer.store.acts import AMONG, Act, listed

STATUS_WORDS = {
    Status.CANDIDATE: "waiting",
    Status.ACTIVE: "already active",
    Status.INVALID: "already rejected",
    Status.SUPERSEDED: "merged into another memory",
    Status.GRADUATED: "graduated to an entity",
}


RETIRE = "retire"
"""Rule of a proposal to retire the memory at the end of its signature; see `waves/expiry.py`."""
OF_DECISION = "decision"
"""Rule of a memory that came with somebody else's decision."""


class DecidedRow(Struct, frozen=True, gc=False):
    """The columns of a row that a decision depends on."""

    id: int
    kind: RowKind
    status: Status
    leader_id: int | None
    project: str = ""
    rule: str = ""


def rows_of(act: Act, ids: Sequence[int]) -> list[DecidedRow]:
    """The rows of those ids, each once, in that order.

    Raises UnknownIdError, also for a row of another project than the current one.
    """
    wanted = list(dict.fromkeys(ids))
    if not wanted:
        raise ReviewerError("Name at least one id.")
    sql = (
        "SELECT m.id, m.kind, m.status, m.leader_id, p.name, m.rule FROM memory m"
        f" JOIN project p ON p.id = m.project_id WHERE m.id {AMONG}"
    )
    found: dict[int, DecidedRow] = {}
    for number, kind, status, *rest in act.query(sql, (listed(wanted),)):
        found[number] = DecidedRow(number, RowKind(kind), Status(status), *rest)
        act.ownership.require_name(f"#{number}", found[number].project)
    missing = [number for number in wanted if number not in found]
    if missing:
        raise UnknownIdError(
            f"There is no candidate or memory {_named(missing)}. Nothing was changed."
        )
    return [found[number] for number in wanted]


def candidates_of(act: Act, ids: Sequence[int]) -> list[DecidedRow]:
    """The rows, all waiting. Raises UnknownIdError, or ConflictError for one that is not."""
    rows = rows_of(act, ids)
    decided = [row for row in rows if row.status is not Status.CANDIDATE]
    if decided:
        others = f" ({len(decided)} of {len(rows)})" if len(rows) > 1 else ""
        raise ConflictError(
            f"#{decided[0].id} is {state_of(act, decided[0])}{others}. Nothing was changed."
        )
    return rows


def state_of(act: Act, row: DecidedRow) -> str:
    """The status of a row in words; for a graduated one, with its entity."""
    if row.status is Status.GRADUATED:
        return f"graduated to entity #{_entity_of(act, row.id)[0]}"
    if row.status is Status.SUPERSEDED:
        (by,) = act.query("SELECT superseded_by FROM memory WHERE id = ?", (row.id,))[0]
        return STATUS_WORDS[row.status] if by is None else f"superseded by #{by}"
    return STATUS_WORDS[row.status]


def refuse_graduated(act: Act, rows: Sequence[DecidedRow]) -> None:
    """Raise ConflictError for a graduated memory, with the way back."""
    for row in rows:
        if row.status is Status.GRADUATED:
            entity, status = _entity_of(act, row.id)
            first = "" if status == Status.CANDIDATE else f"reviewer restore {entity}, then "
            raise ConflictError(
                f"#{row.id} is graduated to entity #{entity}. To have the memory back, reject the "
                f"entity: {first}reviewer reject {entity}"
            )


def _entity_of(act: Act, memory: int) -> tuple[int, str]:
    """The entity that a graduated memory became, and its status."""
    number, status = act.query(
        "SELECT m.id, m.status FROM entity e JOIN memory m ON m.id = e.memory_id"
        " WHERE e.graduated_from = ?",
        (memory,),
    )[0]
    return number, status


def members_of(act: Act, rows: Sequence[DecidedRow]) -> dict[int, list[int]]:
    """Waiting near duplicates by leader, without those decided in the same act."""
    chosen = {row.id for row in rows}
    found: dict[int, list[int]] = {}
    sql = (
        f"SELECT leader_id, id FROM memory WHERE status = 'candidate' AND leader_id {AMONG}"
        " ORDER BY rank DESC, id"
    )
    for leader, member in act.query(sql, (listed(chosen),)):
        if member not in chosen:
            found.setdefault(leader, []).append(member)
    return found


def regroup(act: Act, rows: Sequence[DecidedRow]) -> None:
    """Make the best of the remaining near duplicates their new leader."""
    for members in members_of(act, rows).values():
        act.update("memory", members[0], leader_id=None)
        act.update_many("memory", members[1:], leader_id=members[0])


def require_one_project(first: DecidedRow, second: DecidedRow) -> None:
    """Raise ConflictError for two rows of different projects."""
    if first.project != second.project:
        raise ConflictError(
            f"#{first.id} belongs to project {first.project} and #{second.id} to {second.project}. "
            "Nothing was changed."
        )


def _named(ids: Sequence[int]) -> str:
    shown = ", ".join(f"#{number}" for number in ids[:5])
    return shown + (f" and {len(ids) - 5} more" if len(ids) > 5 else "")


def require_no_conflicts(rows: Sequence[DecidedRow]) -> None:
    """Raise ConflictError for a conflict, which is settled instead of promoted or rejected, and for
    a proposal to retire a memory.
    """
    for row in rows:
        if row.rule == RETIRE:
            raise ConflictError(
                f"#{row.id} proposes to retire a memory: promoting it does, rejecting it keeps the "
                "memory. Nothing was changed."
            )
        if row.kind is RowKind.CONFLICT:
            raise ConflictError(
                f"#{row.id} is a conflict: settle it by superseding one side, keeping both, or "
                "dismissing it. Nothing was changed."
            )


def retire(act: Act, proposals: Sequence[DecidedRow], now: str) -> None:
    """Make invalid the memories that these rows propose to retire."""
    for row in proposals:
        ((signature,),) = act.query("SELECT signature FROM memory WHERE id = ?", (row.id,))
        target = int(signature.rpartition("#")[2])
        act.update("memory", row.id, status="superseded", superseded_by=target, decided_at=now)
        for _ in act.query("SELECT 1 FROM memory WHERE id = ? AND status = 'active'", (target,)):
            act.update("memory", target, status="invalid", decided_at=now)
            settle_without(act, [target], now)


def find_conflicts(act: Act, rows: Sequence[DecidedRow], now: str) -> list[int]:
    """Open the conflicts of entities that become active; returns the newly opened ones."""
    entities = [row.id for row in rows if row.kind is RowKind.ENTITY]
    if not entities:
        return []
    # Late: most decisions are about memories and need no patterns of entities.
    from reviewer.promotion.rows.conflict_rows import open_conflicts

    before = {number for _, number in _open_conflicts_of(act, entities)}
    open_conflicts(act, entities, now)
    return sorted({number for _, number in _open_conflicts_of(act, entities)} - before)


def settle_without(act: Act, ids: Sequence[int], now: str) -> list[int]:
    """Settle the open conflicts whose side was decided away; returns them.

    They open again when that side is back, like those settled by a person by superseding.
    """
    settled: dict[int, int] = dict(_open_conflicts_of(act, ids))
    act.update_many("conflict", list(settled), resolution="superseded")
    act.update_many("memory", list(settled.values()), status="active", decided_at=now)
    return sorted(settled.values())


def about_conflicts(verb: str, conflicts: Sequence[int]) -> str:
    """The part of an act's title about the conflicts that it opened or settled."""
    if not conflicts:
        return ""
    if len(conflicts) > 1:
        return f", {verb} {len(conflicts)} conflicts"
    return f", {verb} conflict #{conflicts[0]}"


def _open_conflicts_of(act: Act, ids: Sequence[int]) -> list[tuple[int, int]]:
    """The open conflicts with one of those rows as a side: their ids and those of their rows."""
    return act.query(
        "SELECT id, memory_id FROM conflict WHERE resolution IS NULL"
        f" AND (left_id {AMONG} OR right_id {AMONG})",
        (listed(ids), listed(ids)),
    )


def set_resolution(act: Act, rows: Sequence[DecidedRow], resolution: str | None) -> None:
    """Dismiss rejected conflicts; open restored ones again (None)."""
    for row in rows:
        if row.kind is RowKind.CONFLICT:
            (found,) = act.query("SELECT id FROM conflict WHERE memory_id = ?", (row.id,))
            act.update("conflict", found[0], resolution=resolution)


def move_memories(act: Act, rows: Sequence[DecidedRow], before: Status, after: Status) -> None:
    """Update the memories graduated to these entities: active again if the entity is rejected,
    graduated again if it is back in the queue.
    """
    for row in rows:
        if row.kind is RowKind.ENTITY:
            for (memory,) in act.query(
                "SELECT m.id FROM entity e JOIN memory m ON m.id = e.graduated_from"
                " WHERE e.memory_id = ? AND m.status = ?",
                (row.id, before),
            ):
                act.update("memory", memory, status=str(after))
