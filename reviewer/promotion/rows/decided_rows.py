"""The rows of a decision: reading and checking them, and its effects on other rows."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec import Struct

from reviewer.errors import ConflictError, ReviewerError, UnknownIdError
from reviewer.promotion import queue_order
from reviewer.promotion.views import RowKind, Status
from reviewer.store.acts import AMONG, Act, listed
from reviewer.text.numerals import some_of

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
        named = some_of([f"#{number}" for number in missing])
        raise UnknownIdError(f"There is no candidate or memory {named}. Nothing was changed.")
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


def members_of(
    act: Act, rows: Sequence[DecidedRow], alone: Collection[int] = ()
) -> dict[int, list[int]]:
    """Waiting near duplicates by leader, except those that are rows themselves, and those of the
    rows `alone`.
    """
    chosen = {row.id for row in rows}
    leaders = listed(chosen - set(alone))
    found: dict[int, list[int]] = {}
    sql = (
        f"SELECT leader_id, id FROM memory WHERE status = 'candidate' AND leader_id {AMONG}"
        " ORDER BY rank DESC, id"
    )
    for leader, member in act.query(sql, (leaders,)):
        if member not in chosen:
            found.setdefault(leader, []).append(member)
    return found


def require_status(act: Act, row: DecidedRow, *allowed: Status) -> None:
    """Raise ConflictError for a row with another status."""
    if row.status not in allowed:
        raise ConflictError(f"#{row.id} is {state_of(act, row)}. Nothing was changed.")


def require_alike(first: DecidedRow, second: DecidedRow) -> None:
    """Raise ConflictError unless one row can take the place of another."""
    require_facts([first, second])
    if first.id == second.id:
        raise ConflictError(f"#{first.id} cannot be replaced by itself.")
    unlike = ""
    if first.project != second.project:
        unlike = f"projects ({first.project}, {second.project})"
    elif first.kind is not second.kind:
        unlike = f"kinds ({first.kind}, {second.kind})"
    if unlike:
        raise ConflictError(
            f"#{first.id} and #{second.id} are of different {unlike}. Nothing was changed."
        )


def require_facts(rows: Sequence[DecidedRow]) -> None:
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
                f"#{row.id} is a conflict: settle it by keeping one side, or by dismissing it. "
                "Nothing was changed."
            )


def retire(act: Act, proposals: Sequence[DecidedRow], now: str) -> list[int]:
    """Make invalid the active memories that these rows propose to retire; returns them."""
    retired: list[int] = []
    for row in proposals:
        ((signature,),) = act.query("SELECT signature FROM memory WHERE id = ?", (row.id,))
        target = int(signature.rpartition("#")[2])
        act.update("memory", row.id, status="superseded", superseded_by=target, decided_at=now)
        if act.query("SELECT 1 FROM memory WHERE id = ? AND status = 'active'", (target,)):
            act.update("memory", target, status="invalid", decided_at=now)
            retired.append(target)
    return retired


def update_dependents(act: Act, ids: Sequence[int], now: str) -> str:
    """Update what depends on decided or changed rows: the near duplicates left behind them, the
    memories graduated to them, and their conflicts. Returns the changes of conflicts in words, for
    the title of the act.
    """
    near = (
        "SELECT m.leader_id, m.id FROM memory m JOIN memory l ON l.id = m.leader_id"
        f" WHERE m.leader_id {AMONG} AND m.status = 'candidate' AND l.status <> 'candidate'"
        " ORDER BY m.rank DESC, m.id"
    )
    waiting: dict[int, list[int]] = {}
    for leader, member in act.query(near, (listed(ids),)):
        waiting.setdefault(leader, []).append(member)
    for members in waiting.values():
        make_first_leader(act, members)
    graduated = (
        "SELECT m.id, e.status FROM entity s JOIN memory e ON e.id = s.memory_id"
        f" JOIN memory m ON m.id = s.graduated_from WHERE s.memory_id {AMONG}"
        " AND m.status IN ('active', 'graduated')"
    )
    for memory, status in act.query(graduated, (listed(ids),)):
        act.update("memory", memory, status="active" if status == "invalid" else "graduated")
    sides = (
        f"SELECT 1 FROM entity WHERE memory_id {AMONG} UNION ALL SELECT 1 FROM conflict"
        f" WHERE memory_id {AMONG} OR left_id {AMONG} OR right_id {AMONG} LIMIT 1"
    )
    if not act.query(sides, (listed(ids),) * 4):
        return ""
    # Late: most decisions are about memories and need no patterns of entities.
    from reviewer.promotion.rows.conflict_rows import follow_conflicts

    opened, settled = follow_conflicts(act, ids, now)
    both = (
        "SELECT c.memory_id FROM conflict c JOIN memory l ON l.id = c.left_id"
        " JOIN memory r ON r.id = c.right_id WHERE c.resolution IS NULL"
        f" AND l.status = 'active' AND r.status = 'active' AND (l.id {AMONG} OR r.id {AMONG})"
    )
    held = some_of([f"#{number}" for (number,) in act.query(both, (listed(ids),) * 2)])
    return (
        _about_conflicts("settled", settled)
        + _about_conflicts("opened", opened)
        + (f"; agents get neither side of {held} until you settle it" if held else "")
    )


def hide_behind(act: Act, numbers: Sequence[int], leader: int, *flags: str) -> None:
    """Hide candidates, and those behind them, behind another row; `flags` say why. One that waited
    does not leave the queue: the other row then waits.
    """
    found = act.query(
        "SELECT id, flags, deferred + excerpt = 0 AND leader_id IS NULL FROM memory"
        " WHERE status = 'candidate'"
        f" AND (id {AMONG} OR leader_id {AMONG}) AND id <> ?",
        (listed(numbers), listed(numbers), leader),
    )
    for number, known, _ in found:
        more = set(flags) if number in numbers else set()
        act.update(
            "memory", number, leader_id=leader, flags=" ".join(sorted(more.union(known.split())))
        )
    if any(waited for _, _, waited in found):
        no_longer_doubted(act, [leader])


def no_longer_doubted(act: Act, numbers: Collection[int]) -> None:
    """Let rows wait that were deferred because their proposers doubted them."""
    deferred = f"SELECT id, prior, flags FROM memory WHERE deferred = 1 AND id {AMONG}"
    for number, prior, flags in act.query(deferred, (listed(numbers),)):
        if queue_order.doubt(prior, flags.split()):
            act.update("memory", number, deferred=0)


def make_first_leader(act: Act, members: Sequence[int]) -> None:
    """Hide near duplicates behind the first of them."""
    act.update("memory", members[0], leader_id=None)
    act.update_many("memory", members[1:], leader_id=members[0])


def _about_conflicts(verb: str, conflicts: Sequence[int]) -> str:
    which = f"conflict #{conflicts[0]}" if len(conflicts) == 1 else f"{len(conflicts)} conflicts"
    return f", {verb} {which}" if conflicts else ""
