"""Finds contradicting entities, and writes conflict rows, inside an act."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from reviewer.extraction.entities.conflicts import Claim, contradiction
from reviewer.extraction.entities.entity import Attribute
from reviewer.promotion import queue_order
from reviewer.promotion.rows.evidence_rows import copy_evidence
from reviewer.promotion.rows.memory_rows import memory_row
from reviewer.promotion.views import Resolution, proposed_by
from reviewer.proposing.values import Proposer
from reviewer.store.acts import AMONG, Act, listed
from reviewer.store.changes import Value
from reviewer.text.normalise import duplicate_key

IN_FORCE = ("candidate", "active")
CONFLICT_RULE = "conflict"
"""Rule of a conflict row."""
ONLY_ONE = "Only one of these can be true: “{left}” / “{right}”"
MAKES_UNTRUE = "“{right}” makes untrue: “{left}”"
MAKES_UNTRUE_IN_PART = "“{right}” makes a part of this untrue: “{left}”"
JUST_BEFORE = 1e-9
"""The fields that decide the order of the queue."""


def follow_conflicts(act: Act, ids: Sequence[int], now: str) -> tuple[list[int], list[int]]:
    """Update the conflicts of new, decided or changed rows; returns those opened and those settled.

    Two entities of a project with different values for one slot, at least one of them active, have
    one conflict. It is settled when a side is rejected or superseded, and reopened when that side
    is back; one that a person dismissed, or of which both sides were kept, stays settled.
    """
    status = dict(act.query(f"SELECT id, status FROM memory WHERE id {AMONG}", (listed(ids),)))
    for number, conflict in act.query(
        f"SELECT memory_id, id FROM conflict WHERE memory_id {AMONG}", (listed(ids),)
    ):
        if status[number] != "active":
            dismissed = status[number] == "invalid"
            act.update("conflict", conflict, resolution="dismissed" if dismissed else None)
    gone = [number for number in ids if status[number] not in IN_FORCE]
    settled = settle_conflicts(act, gone, now)
    opened: list[int] = []
    for claim in _claims(act, f"m.id {AMONG}", listed(ids)):
        for other in _rivals(act, claim):
            opened += _compare(act, other, claim, now)
    return opened, settled


def settle_conflicts(act: Act, ids: Sequence[int], now: str) -> list[int]:
    """Settle the open conflicts of rows that no longer take part in one; returns their ids."""
    found = dict(
        act.query(
            "SELECT id, memory_id FROM conflict WHERE resolution IS NULL"
            f" AND (left_id {AMONG} OR right_id {AMONG})",
            (listed(ids), listed(ids)),
        )
    )
    act.update_many("conflict", list(found), resolution=str(Resolution.SUPERSEDED))
    act.update_many("memory", list(found.values()), status="active", decided_at=now)
    return sorted(found.values())


def queue_contradiction(
    act: Act, left: int, right: int, now: str, wording: str = ONLY_ONE
) -> list[int]:
    """Queue one row for two contradicting memories, unless they have one: first of all, or before
    the one that is untrue in part. `wording`: one of the above. Returns the new row.
    """
    known = act.query(
        "SELECT 1 FROM conflict WHERE (left_id, right_id) IN (VALUES (?1, ?2), (?2, ?1))",
        (left, right),
    )
    sides = {
        number: (content, rank)
        for number, content, rank in act.query(
            "SELECT id, content, rank FROM memory WHERE id IN (?, ?)"
            " AND status IN ('candidate', 'active')",
            (left, right),
        )
    }
    if known or len(sides) < 2:  # one was rejected, or forgotten meanwhile
        return []
    (old, beside), (new, _) = sides[left], sides[right]
    rank = beside + JUST_BEFORE if wording == MAKES_UNTRUE_IN_PART else queue_order.CONFLICT
    return [_insert(act, left, right, wording.format(left=old, right=new), now, rank)]


def _claims(act: Act, condition: str, *parameters: Value) -> list[Claim]:
    rows = act.query(
        "SELECT m.id, m.type, e.slot, e.attributes, m.status FROM memory m"
        " JOIN entity e ON e.memory_id = m.id WHERE m.status IN ('candidate', 'active')"
        f" AND {condition} ORDER BY m.id",
        parameters,
    )
    return [
        Claim(number, type_, slot, msgspec.json.decode(text, type=tuple[Attribute, ...]), status)
        for number, type_, slot, text, status in rows
    ]


def _rivals(act: Act, claim: Claim) -> list[Claim]:
    """The entities of the project that have, or had, a value for the same slot."""
    return _claims(
        act,
        # With a plus, so that the ids are looked up and not all rows of the project.
        "m.id <> ?2 AND +m.project_id = (SELECT project_id FROM memory WHERE id = ?2)"
        " AND m.id IN (SELECT memory_id FROM entity WHERE slot = ?1 AND slot <> ''"
        " UNION SELECT left_id + right_id - ?2 FROM conflict WHERE resolution IS NULL"
        " AND ?2 IN (left_id, right_id))",
        claim.slot,
        claim.id,
    )


def _compare(act: Act, left: Claim, right: Claim, now: str) -> list[int]:
    """Open the conflict of two claims if they contradict each other, and keep its words current;
    returns it if it is opened.
    """
    known = act.query(
        "SELECT id, memory_id, left_id, resolution FROM conflict"
        " WHERE (left_id, right_id) IN (VALUES (?1, ?2), (?2, ?1))",
        (left.id, right.id),
    )
    if known and known[0][2] == right.id:
        left, right = right, left
    values = contradiction(left, right)
    said = f"disagree on {values}" if values else "now agree"
    content = f"#{left.id} and #{right.id} {said}"
    opens = bool(values) and "active" in (left.status, right.status)
    if not known:
        rank = queue_order.CONFLICT
        return [_insert(act, left.id, right.id, content, now, rank)] if opens else []
    ((number, memory, _, resolution),) = known
    if resolution is None:
        act.update("memory", memory, content=content, key=duplicate_key(content))
    if resolution != Resolution.SUPERSEDED or not opens:
        return []
    act.update("conflict", number, resolution=None)
    act.update(
        "memory", memory, content=content, key=duplicate_key(content), status="candidate",
        decided_at=None,
    )  # fmt: skip
    return [memory]


def _insert(act: Act, left: int, right: int, content: str, now: str, rank: float) -> int:
    """A conflict row with the evidence of both sides."""
    row = memory_row(act, right)
    values: dict[str, Value] = {
        **row,
        "kind": "conflict",
        "type": "conflict",
        "status": "candidate",
        "content": content,
        "key": duplicate_key(content),
        "rule": CONFLICT_RULE,
        "rank": rank,
        "flags": "conflict",
        **proposed_by(Proposer.PROGRAM),
        "proof": "{}",
        "moments": "",
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
    return number
