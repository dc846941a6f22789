"""Finds contradicting entities, and writes conflict rows, inside an act."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from reviewer.extraction.entities.conflicts import Claim, contradiction
from reviewer.extraction.entities.entity import Attribute, Structure
from reviewer.promotion import queue_order
from reviewer.promotion.rows.entity_rows import memory_row
from reviewer.promotion.rows.evidence_rows import copy_evidence
from reviewer.promotion.views import Resolution, proposed_by
from reviewer.proposing.values import Proposer
from reviewer.store.acts import Act
from reviewer.store.changes import Image, Value
from reviewer.text.normalise import duplicate_key

CONFLICT_RULE = "conflict"
"""Rule of a conflict row."""
ONLY_ONE = "Only one of these can be true: “{left}” / “{right}”"
UNTRUE = "“{right}” makes untrue: “{left}”"
UNTRUE_IN_PART = "“{right}” makes a part of this untrue: “{left}”"


def open_conflicts(act: Act, entities: Sequence[int], now: str) -> list[int]:
    """Queue a conflict for each pair of these entities and others of their project with different
    values for the same slot, if at least one side is active.

    A pair is queued once. A conflict that was dismissed, or whose sides were both kept, stays
    settled; one that was settled by superseding a side opens again when that side is back. Returns
    the ids of the new rows.
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
            if "active" in (claim.status, other.status):
                found += _queue_conflict(act, other, claim, now)
    return found


def queue_contradiction(
    act: Act, left: int, right: int, now: str, wording: str = ONLY_ONE
) -> list[int]:
    """Queue one row for two contradicting memories, unless they have one. `wording`: one of the
    above. Returns the new row.
    """
    known = act.query(
        "SELECT 1 FROM conflict WHERE (left_id, right_id) IN (VALUES (?1, ?2), (?2, ?1))",
        (left, right),
    )
    contents = dict(act.query("SELECT id, content FROM memory WHERE id IN (?, ?)", (left, right)))
    if known or len(contents) < 2:  # one may have been forgotten meanwhile
        return []
    words = wording.format(left=contents[left], right=contents[right])
    return [_insert(act, left, right, words, now)]


def may_lead(act: Act, leader: int, row: Image, structure: Structure | None) -> bool:
    """Whether a new row may be queued behind another one as its near duplicate.

    Not behind rows of another kind, nor behind entities that it contradicts, however similar the
    words: promoting them would settle a conflict silently.
    """
    rows = act.query("SELECT kind FROM memory WHERE id = ?", (leader,))
    if not rows or rows[0][0] != row["kind"]:
        return False
    claim = None if structure is None else _claim(act, leader)
    if structure is None or claim is None:
        return True
    own = Claim(0, str(row["type"]), structure.slot, structure.attributes, "candidate")
    return not contradiction(claim, own)


def _claim(act: Act, number: int) -> Claim | None:
    rows = act.query(
        "SELECT m.id, m.type, e.slot, e.attributes, m.status FROM memory m"
        " JOIN entity e ON e.memory_id = m.id WHERE m.id = ?",
        (number,),
    )
    return _as_claim(rows[0]) if rows else None


def _rivals(act: Act, claim: Claim) -> list[Claim]:
    rows = act.query(
        "SELECT m.id, m.type, e.slot, e.attributes, m.status FROM entity e"
        " JOIN memory m ON m.id = e.memory_id WHERE e.slot = ?1 AND m.id <> ?2"
        " AND m.status IN ('candidate', 'active')"
        " AND m.project_id = (SELECT project_id FROM memory WHERE id = ?2)",
        (claim.slot, claim.id),
    )
    return [_as_claim(row) for row in rows]


def _as_claim(row: tuple[Any, ...]) -> Claim:
    attributes = msgspec.json.decode(row[3], type=tuple[Attribute, ...])
    return Claim(row[0], row[1], row[2], attributes, row[4])


def _note_agreement(act: Act, claim: Claim) -> None:
    """Mark open conflicts whose sides now agree; a person settles them."""
    for number, left, right in act.query(
        "SELECT memory_id, left_id, right_id FROM conflict WHERE resolution IS NULL"
        " AND ? IN (left_id, right_id)",
        (claim.id,),
    ):
        other = _claim(act, right if left == claim.id else left)
        if other is not None and not contradiction(other, claim):
            content = f"#{left} and #{right} now agree"
            act.update("memory", number, content=content, key=duplicate_key(content))


def _queue_conflict(act: Act, left: Claim, right: Claim, now: str) -> list[int]:
    """The new row of a contradiction, if any. A waiting row gets the current words; one whose loser
    is back is opened again.
    """
    known = act.query(
        "SELECT id, memory_id, left_id, resolution FROM conflict"
        " WHERE (left_id, right_id) IN (VALUES (?1, ?2), (?2, ?1))",
        (left.id, right.id),
    )
    if known and known[0][2] == right.id:
        left, right = right, left
    values = contradiction(left, right)
    if not values:
        return []
    content = f"#{left.id} and #{right.id} disagree on {values}"
    if not known:
        return [_insert(act, left.id, right.id, content, now)]
    ((number, memory, _, resolution),) = known
    if resolution not in (Resolution.KEPT_BOTH, Resolution.DISMISSED):
        act.update("conflict", number, resolution=None)
        act.update(
            "memory",
            memory,
            content=content,
            key=duplicate_key(content),
            status="candidate",
            decided_at=None,
        )
    return []


def _insert(act: Act, left: int, right: int, content: str, now: str) -> int:
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
        "rank": queue_order.CONFLICT,
        "flags": "conflict",
        **proposed_by(Proposer.PROGRAM),
        "proof": "{}",
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
