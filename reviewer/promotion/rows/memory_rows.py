"""Rows of `memory`: their columns, and how they are inserted."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from reviewer.errors import ConflictError, UnknownIdError
from reviewer.extraction.confidence import confidence
from reviewer.extraction.entities.entity import Structure
from reviewer.promotion import queue_order
from reviewer.promotion.rows.entity_rows import add_structure
from reviewer.promotion.rows.known_rows import row_with_key
from reviewer.promotion.views import Status, proposed_by
from reviewer.proposing.values import Proposer
from reviewer.store.acts import Act
from reviewer.store.changes import Image, Value
from reviewer.text.normalise import duplicate_key

_COPIED = (
    "project_id", "wave_id", "type", "content", "key", "rule", "extractor_version", "prior",
    "signal", "freshness", "confidence", "rank", "flags", "seen", "refs", "first_seen",
    "last_seen", "proposer", "excerpt", "need", "proof", "moments",
)  # fmt: skip


def memory_row(act: Act, number: int) -> dict[str, Value]:
    """A row's status, and the columns inherited by a successor. Raises UnknownIdError."""
    act.require_own("memory", [number])
    columns = ("kind", "status", *_COPIED)
    rows = act.query(f"SELECT {', '.join(columns)} FROM memory WHERE id = ?", (number,))
    if not rows:
        raise UnknownIdError(f"There is no candidate or memory #{number}.")
    return dict(zip(columns, rows[0], strict=True))


def new_columns(
    type_: StrEnum | str,
    content: str,
    *,
    rule: str,
    version: str,
    proposer: Proposer,
    rank: float,
    prior: float = 0.5,
    signal: float = 1.0,
    freshness: float = 1.0,
    kind: str = "memory",
) -> Image:
    """The columns of a new row: its content, proposer and scores."""
    return {
        "kind": kind,
        "type": str(type_),
        "content": content,
        "key": duplicate_key(content),
        "rule": rule,
        "extractor_version": version,
        "prior": prior,
        "signal": signal,
        "freshness": freshness,
        "confidence": confidence(prior, signal, freshness),
        "rank": rank,
        **proposed_by(proposer),
    }


def row_without_rules(
    project_id: int, type_: str, content: str, *, rule: str, version: str
) -> Image:
    """The columns of a row proposed by neither a rule nor a reader."""
    columns = new_columns(
        type_, content, rule=rule, version=version, proposer=Proposer.PERSON,
        rank=queue_order.BY_HAND,
    )  # fmt: skip
    return {**columns, "project_id": project_id}


def insert_row(
    act: Act,
    row: Image,
    now: str,
    structure: Structure | None = None,
    *,
    graduated_from: int | None = None,
) -> int:
    """Insert a row that waits from now on, as an entity if it has a structure. Raises ConflictError
    if a row already says the same.
    """
    kind = "memory" if structure is None else "entity"
    same = row_with_key(act, row["project_id"], (kind, row["type"], row["key"]))
    if same is not None:
        raise ConflictError(f"#{same[0]} ({row['type']}) already says the same.")
    seen: Image = {"first_seen": now, "last_seen": now}
    waits: Image = {"kind": kind, "status": "candidate", "pending_since": now}
    number = act.insert("memory", **{**seen, **row, **waits})
    if structure is not None:
        add_structure(act, number, structure, graduated_from=graduated_from)
    return number


def counted_again(status: str, seen: int, refs: int, times: Sequence[str], count: int = 1) -> Image:
    """A row found again: an active one gains references, any other is `seen` more often. `times`:
    when it was seen, in any order.
    """
    counted = {"refs": refs + count} if status == Status.ACTIVE else {"seen": seen + count}
    return {**counted, "first_seen": min(times), "last_seen": max(times)}
