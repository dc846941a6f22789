"""Writing evidence inside an act: the places in records that a memory or entity comes from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from reviewer.store.acts import Act, chunks
from reviewer.store.changes import Image

if TYPE_CHECKING:
    from reviewer.extraction.candidates import Candidate

JOINED = "joined"
"""Flag of a row behind another one, of which a reader said that it says the same."""
MOST_EVIDENCE = 50
"""Places kept of one memory; a phrase that occurs everywhere would fill the store."""


class Place(NamedTuple):
    """Where a memory comes from: a span of a record, and the rule that found it."""

    record: int
    start: int
    end: int
    rule: str
    extractor_version: str


def add_evidence(
    act: Act, number: int, candidates: Iterable[Candidate], records: dict[str, int]
) -> None:
    """Add the places of a memory's candidates, up to MOST_EVIDENCE in all."""
    add_places(
        act,
        number,
        [
            Place(record, each.span_start, each.span_end, each.rule, each.extractor_version)
            for each in candidates
            if (record := records.get(each.record.key)) is not None
        ],
    )


def add_places(act: Act, number: int, places: Iterable[Place]) -> None:
    """Add places of a memory that it does not have yet, up to MOST_EVIDENCE in all."""
    columns = ("record_id", "span_start", "span_end", "rule", "extractor_version")
    existing = places_of(act, number)
    rows: list[Image] = []
    for place in places:
        if place[:3] in existing or len(existing) >= MOST_EVIDENCE:
            continue
        existing.add(place[:3])
        rows.append({"memory_id": number, **dict(zip(columns, place, strict=True))})
    act.insert_many("evidence", rows)


def places_of(act: Act, number: int) -> set[tuple[int, int, int]]:
    """The places of a memory as (record, start, end)."""
    rows = act.query(
        "SELECT record_id, span_start, span_end FROM evidence WHERE memory_id = ?", (number,)
    )
    return {(row[0], row[1], row[2]) for row in rows}


def record_ids(act: Act, project_id: int, candidates: Iterable[Candidate]) -> dict[str, int]:
    """Ids of the records of candidates, by record key."""
    found: dict[str, int] = {}
    for chunk in chunks(sorted({candidate.record.key for candidate in candidates})):
        sql = (
            "SELECT key, id FROM record WHERE project_id = ? AND key IN"
            f" ({','.join('?' * len(chunk))})"
        )
        found.update((row[0], row[1]) for row in act.query(sql, (project_id, *chunk)))
    return found


def copy_evidence(act: Act, source: int, target: int) -> None:
    """Give a row the evidence of another, each place once."""
    columns = ("record_id", "span_start", "span_end", "rule", "extractor_version")
    rows = act.query(
        f"SELECT {', '.join(columns)} FROM evidence e WHERE memory_id = ?1 AND NOT EXISTS ("
        "SELECT 1 FROM evidence f WHERE f.memory_id = ?2 AND f.record_id = e.record_id"
        " AND f.span_start = e.span_start AND f.span_end = e.span_end) ORDER BY id",
        (source, target),
    )
    act.insert_many(
        "evidence",
        [{"memory_id": target, **dict(zip(columns, row, strict=True))} for row in rows],
    )
