"""The rows of a decision: reading and checking them, and the other rows that a decision changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from reviewer.clock import Clock, iso
from reviewer.errors import ConflictError, ReviewerError, UnknownIdError
from reviewer.promotion.views import Kind, Status
from reviewer.store.ledger import Act, chunks

STATUS_WORDS = {
    Status.CANDIDATE: "waiting",
    Status.ACTIVE: "already active",
    Status.INVALID: "already rejected",
    Status.SUPERSEDED: "merged into another memory",
    Status.GRADUATED: "graduated to an entity",
}


class DecidedRow(Struct, frozen=True, gc=False):
    """The columns of a row that a decision depends on."""

    id: int
    kind: Kind
    status: Status
    leader_id: int | None
    project: str = ""


def rows_of(act: Act, ids: Sequence[int]) -> list[DecidedRow]:
    """The rows of those ids, each once, in that order.

    Raises UnknownIdError, also for a row of a project other than the current one.
    """
    wanted = list(dict.fromkeys(ids))
    if not wanted:
        raise ReviewerError("Name at least one id.")
    rows: list[DecidedRow] = []
    missing: list[int] = []
    for chunk in chunks(wanted):
        sql = (
            "SELECT m.id, m.kind, m.status, m.leader_id, p.name FROM memory m"
            " JOIN project p ON p.id = m.project_id"
            f" WHERE m.id IN ({','.join('?' * len(chunk))})"
        )
        found = {row[0]: row for row in act.query(sql, chunk)}
        for number in chunk:
            if number in found:
                _, kind, status, leader, project = found[number]
                act.ownership.require_name(f"#{number}", project)
                rows.append(DecidedRow(number, Kind(kind), Status(status), leader, project))
            else:
                missing.append(number)
    if missing:
        raise UnknownIdError(
            f"There is no candidate or memory {_listed(missing)}. Nothing was changed."
        )
    return rows


def candidates_of(act: Act, ids: Sequence[int]) -> list[DecidedRow]:
    """The same, all waiting. Raises UnknownIdError, or ConflictError for one that is not."""
    rows = rows_of(act, ids)
    decided = [row for row in rows if row.status is not Status.CANDIDATE]
    if decided:
        others = f" ({len(decided)} of {len(rows)})" if len(rows) > 1 else ""
        raise ConflictError(
            f"#{decided[0].id} is {STATUS_WORDS[decided[0].status]}{others}. Nothing was changed."
        )
    return rows


def members_of(act: Act, rows: Sequence[DecidedRow]) -> dict[int, list[int]]:
    """Waiting near duplicates by leader, without those that are decided in the same act."""
    chosen = {row.id for row in rows}
    found: dict[int, list[int]] = {}
    for chunk in chunks([row.id for row in rows]):
        sql = (
            "SELECT leader_id, id FROM memory WHERE status = 'candidate' AND leader_id IN"
            f" ({','.join('?' * len(chunk))}) ORDER BY rank DESC, id"
        )
        for leader, member in act.query(sql, chunk):
            if member not in chosen:
                found.setdefault(leader, []).append(member)
    return found


def regroup(act: Act, rows: Sequence[DecidedRow]) -> None:
    """The best of the near duplicates left behind leads the others from now on."""
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


def _listed(ids: Sequence[int]) -> str:
    shown = ", ".join(f"#{number}" for number in ids[:5])
    return shown + (f" and {len(ids) - 5} more" if len(ids) > 5 else "")


def require_no_conflicts(rows: Sequence[DecidedRow]) -> None:
    """Raise ConflictError for a row that is a conflict: it is settled, not promoted or rejected."""
    for row in rows:
        if row.kind is Kind.CONFLICT:
            raise ConflictError(
                f"#{row.id} is a conflict: settle it by superseding one side, keeping both, or "
                "dismissing it. Nothing was changed."
            )


def find_conflicts(act: Act, rows: Sequence[DecidedRow], now: str) -> None:
    """Entities that become active may contradict others."""
    entities = [row.id for row in rows if row.kind is Kind.ENTITY]
    if entities:
        # Imported late: most decisions are about memories and need no patterns of entities.
        from reviewer.promotion.conflict_rows import open_conflicts

        open_conflicts(act, entities, now)


def find_conflicts_again(clock: Clock) -> Callable[[Act, Sequence[int]], None]:
    """For an undo: entities whose status it restores may contradict others again."""

    def afterwards(act: Act, decided: Sequence[int]) -> None:
        rows = [
            DecidedRow(number, Kind.ENTITY, Status(status), None)
            for chunk in chunks(sorted(set(decided)))
            for number, status in act.query(
                "SELECT m.id, m.status FROM memory m JOIN entity e ON e.memory_id = m.id"
                " WHERE m.status IN ('candidate', 'active')"
                f" AND m.id IN ({','.join('?' * len(chunk))})",
                chunk,
            )
        ]
        find_conflicts(act, rows, iso(clock()))

    return afterwards


def dismiss_conflicts(act: Act, rows: Sequence[DecidedRow]) -> None:
    """Rejecting a conflict dismisses it."""
    _set_resolution(act, rows, "dismissed")


def reactivate_memories(act: Act, rows: Sequence[DecidedRow]) -> None:
    """A memory whose entity is rejected becomes active again."""
    for row in rows:
        if row.kind is Kind.ENTITY:
            for (memory,) in act.query(
                "SELECT m.id FROM entity e JOIN memory m ON m.id = e.graduated_from"
                " WHERE e.memory_id = ? AND m.status = 'graduated'",
                (row.id,),
            ):
                act.update("memory", memory, status="active")


def graduate_memories_again(act: Act, rows: Sequence[DecidedRow]) -> None:
    """A memory whose rejected entity is back in the queue is graduated again."""
    for row in rows:
        if row.kind is Kind.ENTITY and row.status is Status.INVALID:
            for (memory,) in act.query(
                "SELECT m.id FROM entity e JOIN memory m ON m.id = e.graduated_from"
                " WHERE e.memory_id = ? AND m.status = 'active'",
                (row.id,),
            ):
                act.update("memory", memory, status="graduated")


def reopen_conflicts(act: Act, rows: Sequence[DecidedRow]) -> None:
    """A conflict that is put back is open again."""
    _set_resolution(act, rows, None)


def _set_resolution(act: Act, rows: Sequence[DecidedRow], resolution: str | None) -> None:
    for row in rows:
        if row.kind is Kind.CONFLICT:
            (found,) = act.query("SELECT id FROM conflict WHERE memory_id = ?", (row.id,))
            act.update("conflict", found[0], resolution=resolution)
