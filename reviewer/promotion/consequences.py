"""What a decision entails for conflicts, and for memories that entities carry on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from reviewer.clock import Clock, iso
from reviewer.errors import ConflictError
from reviewer.promotion.decided_rows import DecidedRow
from reviewer.promotion.views import Kind, Status
from reviewer.store.ledger import Act, chunks


def refuse_conflicts(rows: Sequence[DecidedRow]) -> None:
    """Raise ConflictError for a row that is a conflict: it is settled, not decided."""
    for row in rows:
        if row.kind is Kind.CONFLICT:
            raise ConflictError(
                f"#{row.id} is a conflict: settle it by superseding one side, keeping both, or "
                "dismissing it. Nothing was changed."
            )


def look_for_conflicts(act: Act, rows: Sequence[DecidedRow], now: str) -> None:
    """Entities that become active may contradict others."""
    entities = [row.id for row in rows if row.kind is Kind.ENTITY]
    if entities:
        # Imported late: most decisions are about memories and need no patterns of entities.
        from reviewer.promotion.conflicts import open_conflicts

        open_conflicts(act, entities, now)


def look_again(clock: Clock) -> Callable[[Act, Sequence[int]], None]:
    """What an undo must not forget: entities that contradict each other as they are again."""

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
        look_for_conflicts(act, rows, iso(clock()))

    return afterwards


def dismiss_conflicts(act: Act, rows: Sequence[DecidedRow]) -> None:
    """Rejecting a conflict dismisses it."""
    _set_resolution(act, rows, "dismissed")


def thaw(act: Act, rows: Sequence[DecidedRow]) -> None:
    """A memory whose entity is rejected holds again by itself."""
    for row in rows:
        if row.kind is Kind.ENTITY:
            for (memory,) in act.query(
                "SELECT m.id FROM entity e JOIN memory m ON m.id = e.graduated_from"
                " WHERE e.memory_id = ? AND m.status = 'graduated'",
                (row.id,),
            ):
                act.update("memory", memory, status="active")


def freeze(act: Act, rows: Sequence[DecidedRow]) -> None:
    """A memory whose entity is back in the queue is its frozen pointer again."""
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
