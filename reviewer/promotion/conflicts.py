"""Two entities that fill the same slot with different values: found, shown, settled by a person.

A conflict is a row of the queue (`memory.kind = 'conflict'`) with the evidence of both sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from reviewer.clock import Clock, iso
from reviewer.errors import ConflictError, UnknownIdError
from reviewer.extraction.candidates import Candidate
from reviewer.extraction.entities.conflicts import contradicts
from reviewer.extraction.entities.entity import Attribute, EntityCandidate
from reviewer.promotion.decided_rows import copy_evidence
from reviewer.promotion.entity_rows import memory_row
from reviewer.promotion.queue import Queue
from reviewer.promotion.triage import Done
from reviewer.promotion.views import ConflictView, Resolution
from reviewer.store.changes import Value
from reviewer.store.database import Database, failures_as_sentences
from reviewer.store.ledger import Act, Ledger
from reviewer.text.normalise import duplicate_key

FIRST = 2.0
"""Rank of a conflict: above every candidate, whose rank is at most 1."""

_FOUND = "conflict"
"""Rule of a conflict row."""


class _Claim(Struct, frozen=True):
    """An entity row as `contradicts` compares it."""

    id: int
    type: str
    slot: str
    attributes: tuple[Attribute, ...]
    status: str


class Conflicts:
    """Reads conflicts and settles them; nothing is ever settled silently."""

    def __init__(self, database: Database, ledger: Ledger, clock: Clock, queue: Queue) -> None:
        self._database = database
        self._ledger = ledger
        self._clock = clock
        self._queue = queue

    def get(self, number: int) -> ConflictView:
        """Both sides of a conflict. Raises UnknownIdError."""
        self._database.require_own("memory", [number])
        with failures_as_sentences(self._database.path):
            row = (
                self._database.reader()
                .execute(
                    "SELECT c.left_id, c.right_id, c.resolution, e.slot FROM conflict c"
                    " JOIN entity e ON e.memory_id = c.left_id WHERE c.memory_id = ?",
                    (number,),
                )
                .fetchone()
            )
        if row is None:
            raise UnknownIdError(f"#{number} is no conflict.")
        return ConflictView(
            id=number,
            left=self._queue.candidate(row["left_id"]),
            right=self._queue.candidate(row["right_id"]),
            slot=row["slot"],
            resolution=Resolution(row["resolution"]) if row["resolution"] else None,
        )

    def of(self, entity: int) -> list[int]:
        """Ids of the open conflicts that an entity is a side of."""
        with failures_as_sentences(self._database.path):
            rows = self._database.reader().execute(
                "SELECT memory_id FROM conflict WHERE resolution IS NULL"
                " AND ? IN (left_id, right_id) ORDER BY id",
                (entity,),
            )
            return [row[0] for row in rows]

    def supersede(self, number: int, winner: int) -> Done:
        """Settle a conflict: `winner` becomes or stays active, the other side is superseded by it.

        Raises UnknownIdError, or ConflictError when it is settled or `winner` is no side of it.
        """
        with self._ledger.act("resolve") as act:
            sides = self._open(act, number)
            if winner not in sides:
                raise ConflictError(
                    f"#{winner} is no side of conflict #{number}: #{sides[0]} and #{sides[1]} are."
                )
            (loser,) = [side for side in sides if side != winner]
            now = iso(self._clock())
            act.update("memory", winner, status="active", decided_at=now)
            act.update("memory", loser, status="superseded", superseded_by=winner, decided_at=now)
            self._settle(act, number, Resolution.SUPERSEDED)
            open_conflicts(act, [winner], now)
            act.title = f"Kept #{winner}, superseding #{loser}"
        return Done(act.id, act.title, (number, winner, loser))

    def keep_both(self, number: int) -> Done:
        """Settle a conflict by letting both sides stand as they are. Raises as `supersede`."""
        with self._ledger.act("resolve") as act:
            sides = self._open(act, number)
            self._settle(act, number, Resolution.KEPT_BOTH)
            act.title = f"Kept both #{sides[0]} and #{sides[1]}"
        return Done(act.id, act.title, (number,))

    def dismiss(self, number: int) -> Done:
        """Settle a conflict as none. Raises as `supersede`."""
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
            raise UnknownIdError(f"#{number} is no conflict.")
        if rows[0][2] is not None:
            raise ConflictError(f"Conflict #{number} is settled already: {rows[0][2]}.")
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


def open_conflicts(act: Act, entities: Sequence[int], now: str) -> list[int]:
    """Queue a conflict for each pair of those entities and others of their project that claim
    different values for one slot, at least one side being active.

    A pair is queued once. What was kept or dismissed stays so; what was settled by superseding one
    side is open again when that side is back. Returns the ids of the new rows.
    """
    found: list[int] = []
    for number in entities:
        claim = _claim(act, number)
        if claim is None:
            continue
        _note_agreement(act, claim)
        if not claim.slot:
            continue
        for other in _rivals(act, claim):
            contradiction = contradicts(other, claim)
            if contradiction is not None and "active" in (claim.status, other.status):
                found += _queue_conflict(act, other.id, number, str(contradiction), now)
    return found


def may_lead(act: Act, leader: int, candidate: Candidate) -> bool:
    """Whether a candidate may stand behind a row as its near duplicate, to be merged into it.

    Rows of another kind do not lead, nor do entities that it contradicts, however alike the words:
    promoting them would settle a conflict silently.
    """
    entity = isinstance(candidate, EntityCandidate)
    rows = act.query("SELECT kind FROM memory WHERE id = ?", (leader,))
    if not rows or rows[0][0] != ("entity" if entity else "memory"):
        return False
    claim = _claim(act, leader)
    return not (
        isinstance(candidate, EntityCandidate)
        and claim is not None
        and contradicts(claim, candidate) is not None
    )


def _claim(act: Act, number: int) -> _Claim | None:
    rows = act.query(
        "SELECT m.id, m.type, e.slot, e.attributes, m.status FROM memory m"
        " JOIN entity e ON e.memory_id = m.id WHERE m.id = ?",
        (number,),
    )
    return _as_claim(rows[0]) if rows else None


def _rivals(act: Act, claim: _Claim) -> list[_Claim]:
    rows = act.query(
        "SELECT m.id, m.type, e.slot, e.attributes, m.status FROM entity e"
        " JOIN memory m ON m.id = e.memory_id WHERE e.slot = ?1 AND m.id <> ?2"
        " AND m.status IN ('candidate', 'active')"
        " AND m.project_id = (SELECT project_id FROM memory WHERE id = ?2)",
        (claim.slot, claim.id),
    )
    return [_as_claim(row) for row in rows]


def _as_claim(row: tuple[Any, ...]) -> _Claim:
    attributes = msgspec.json.decode(row[3], type=tuple[Attribute, ...])
    return _Claim(row[0], row[1], row[2], attributes, row[4])


def _say_again(
    act: Act, row: int, number: int, left: int, right: int, resolution: str | None,
    *, words: str, turned: bool,
) -> None:  # fmt: skip
    """Bring the words of an open conflict up to date, and open one again whose loser is back."""
    if resolution in (Resolution.KEPT_BOTH, Resolution.DISMISSED):
        return
    if turned:
        attribute, _, values = words.partition(": ")
        words = f"{attribute}: {' or '.join(reversed(values.split(' or ')))}"
    content = f"#{left} and #{right} disagree on {words}"
    act.update("conflict", row, resolution=None)
    act.update(
        "memory",
        number,
        content=content,
        key=duplicate_key(content),
        status="candidate",
        decided_at=None,
    )


def _note_agreement(act: Act, claim: _Claim) -> None:
    """Say of open conflicts whose sides no longer differ that they agree; a person settles them."""
    for number, left, right in act.query(
        "SELECT memory_id, left_id, right_id FROM conflict WHERE resolution IS NULL"
        " AND ? IN (left_id, right_id)",
        (claim.id,),
    ):
        other = _claim(act, right if left == claim.id else left)
        if other is not None and contradicts(other, claim) is None:
            content = f"#{left} and #{right} agree by now"
            act.update("memory", number, content=content, key=duplicate_key(content))


def _queue_conflict(act: Act, left: int, right: int, words: str, now: str) -> list[int]:
    held = act.query(
        "SELECT id, memory_id, left_id, right_id, resolution FROM conflict"
        " WHERE (left_id, right_id) IN (VALUES (?1, ?2), (?2, ?1))",
        (left, right),
    )
    if held:
        _say_again(act, *held[0], words=words, turned=held[0][2] != left)
        return []
    row = memory_row(act, right)
    content = f"#{left} and #{right} disagree on {words}"
    values: dict[str, Value] = {
        **row,
        "kind": "conflict",
        "type": "conflict",
        "status": "candidate",
        "content": content,
        "key": duplicate_key(content),
        "rule": _FOUND,
        "rank": FIRST,
        "flags": "conflict",
        "seen": 1,
        "refs": 0,
        "first_seen": now,
        "last_seen": now,
        "pending_since": now,
    }
    number = act.insert("memory", **values)
    act.insert("conflict", memory_id=number, left_id=left, right_id=right)
    copy_evidence(act, left, number)
    copy_evidence(act, right, number)
    return [number]
