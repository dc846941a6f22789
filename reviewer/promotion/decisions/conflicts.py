"""Conflicts: two entities with different values for the same slot, settled by a person.

A conflict is a row of the queue (`memory.kind = 'conflict'`) with the evidence of both sides.
"""

from __future__ import annotations

from reviewer.clock import Clock, iso
from reviewer.errors import ConflictError, UnknownIdError
from reviewer.promotion.lists.queue import Queue
from reviewer.promotion.rows.conflict_rows import IN_FORCE
from reviewer.promotion.rows.decided_rows import rows_of, state_of, update_dependents
from reviewer.promotion.views import ConflictView, Done, Resolution
from reviewer.store.acts import Act
from reviewer.store.database import Database
from reviewer.store.ledger import Ledger


class Conflicts:
    """Reads conflicts and settles them; only a person settles one."""

    def __init__(self, database: Database, ledger: Ledger, clock: Clock, queue: Queue) -> None:
        self._database = database
        self._ledger = ledger
        self._clock = clock
        self._queue = queue

    def get(self, number: int) -> ConflictView:
        """Both sides of a conflict. Raises UnknownIdError."""
        self._database.require_own("memory", [number])
        row = self._database.first(
            "SELECT c.left_id, c.right_id, c.resolution, coalesce(e.slot, '') AS slot"
            " FROM conflict c LEFT JOIN entity e ON e.memory_id = c.left_id"
            " WHERE c.memory_id = ?",
            (number,),
        )
        if row is None:
            raise UnknownIdError(f"#{number} is not a conflict.")
        return ConflictView(
            id=number,
            left=self._queue.candidate(row["left_id"]),
            right=self._queue.candidate(row["right_id"]),
            slot=row["slot"],
            resolution=Resolution(row["resolution"]) if row["resolution"] else None,
        )

    def of(self, entity: int) -> list[int]:
        """Ids of an entity's open conflicts."""
        rows = self._database.query(
            "SELECT memory_id FROM conflict WHERE resolution IS NULL"
            " AND ? IN (left_id, right_id) ORDER BY id",
            (entity,),
        )
        return [row[0] for row in rows]

    def supersede(self, number: int, winner: int) -> Done:
        """Settle a conflict: `winner` becomes or stays active, the other side is superseded by it.

        Raises UnknownIdError, or ConflictError if it is settled or `winner` is not a side of it.
        """
        with self._ledger.act("resolve") as act:
            sides = self._open(act, number)
            if winner not in sides:
                raise ConflictError(
                    f"#{winner} is not a side of conflict #{number}: its sides are #{sides[0]} and"
                    f" #{sides[1]}."
                )
            (loser,) = [side for side in sides if side != winner]
            kept, lost = rows_of(act, [winner, loser])
            if kept.status not in IN_FORCE:
                raise ConflictError(
                    f"#{winner} is {state_of(act, kept)} and cannot be kept. To settle it as "
                    f"none: reviewer conflict {number} --dismiss"
                )
            now = iso(self._clock())
            act.update("memory", winner, status="active", decided_at=now, leader_id=None)
            if lost.status in IN_FORCE:
                act.update(
                    "memory", loser, status="superseded", superseded_by=winner, decided_at=now
                )
            self._settle(act, number, Resolution.SUPERSEDED)
            followed = update_dependents(act, [loser, winner], now)
            act.title = f"Kept #{winner}, superseding #{loser}{followed}"
        return Done(act.id, act.title, (number, winner, loser))

    def dismiss(self, number: int) -> Done:
        """Keep both sides, which do not contradict each other. Raises as `supersede`."""
        with self._ledger.act("resolve") as act:
            self._open(act, number)
            self._settle(act, number, Resolution.DISMISSED)
            act.title = f"Dismissed conflict #{number}"
        return Done(act.id, act.title, (number,))

    def _open(self, act: Act, number: int) -> tuple[int, int]:
        act.require_own("memory", [number])
        rows = act.query(
            "SELECT left_id, right_id, resolution FROM conflict WHERE memory_id = ?", (number,)
        )
        if not rows:
            raise UnknownIdError(f"#{number} is not a conflict.")
        if rows[0][2] is not None:
            raise ConflictError(f"Conflict #{number} is already settled: {rows[0][2]}.")
        return rows[0][0], rows[0][1]

    def _settle(self, act: Act, number: int, resolution: Resolution) -> None:
        (row,) = act.query("SELECT id FROM conflict WHERE memory_id = ?", (number,))
        act.update("conflict", row[0], resolution=str(resolution))
        dismissed = resolution is Resolution.DISMISSED
        act.update(
            "memory",
            number,
            status="invalid" if dismissed else "active",
            decided_at=iso(self._clock()),
        )
