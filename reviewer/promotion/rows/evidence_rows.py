"""Writing evidence inside an act: records, their files, and the places that rows cite."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec
from msgspec import Struct, structs

from reviewer.sources.records import Record
from reviewer.store.acts import AMONG, Act, chunks, listed
from reviewer.store.changes import Image

UNTRUE = "taken-back"
"""Flag of a row that a later session makes untrue; its evidence does not count for the row in front
of it."""
JOINED = "joined"
"""Flag of a row hidden behind another one because a reader said that they say the same."""
MAX_EVIDENCE = 50
"""Places kept per memory; a phrase that occurs everywhere would fill the store."""


_Record = TypeVar("_Record", bound=Struct)


class SourcePlace(NamedTuple):
    """The source of a memory: a span of a record, and the rule that found it."""

    record_id: int
    span_start: int
    span_end: int
    rule: str
    extractor_version: str

    def image(self, number: int) -> Image:
        """The row of `evidence` for a memory."""
        return {"memory_id": number, **self._asdict()}


def add_places(act: Act, number: int, places: Iterable[SourcePlace]) -> None:
    """Add new places to a memory, up to MAX_EVIDENCE in all."""
    existing = places_of(act, number)
    rows: list[Image] = []
    for place in places:
        if place[:3] in existing or len(existing) >= MAX_EVIDENCE:
            continue
        existing.add(place[:3])
        rows.append(place.image(number))
    act.insert_many("evidence", rows)


def places_of(act: Act, number: int) -> set[tuple[int, int, int]]:
    """The places of a memory as (record, start, end)."""
    rows = act.query(
        "SELECT record_id, span_start, span_end FROM evidence WHERE memory_id = ?", (number,)
    )
    return {(row[0], row[1], row[2]) for row in rows}


def sessions_of(act: Act, rows: Iterable[int]) -> int:
    """The number of sessions or files in the evidence of some rows and of those behind them, or in
    the finding behind one of them.
    """
    ids = listed(rows)
    found = act.query(
        "SELECT max(count(DISTINCT coalesce(r.session, 's' || r.source_id)),"
        " coalesce(max(m.sessions), 0)) FROM memory m LEFT JOIN evidence e ON e.memory_id = m.id"
        f" LEFT JOIN record r ON r.id = e.record_id WHERE m.id {AMONG}"
        f" OR (m.leader_id {AMONG} AND m.flags NOT LIKE '%{UNTRUE}%')",
        (ids, ids),
    )
    return int(found[0][0])


def record_ids(act: Act, project_id: int, keys: Iterable[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for chunk in chunks(sorted(set(keys))):
        marks = ",".join("?" * len(chunk))
        sql = f"SELECT key, id FROM record WHERE project_id = ? AND key IN ({marks})"
        found.update((row[0], row[1]) for row in act.query(sql, (project_id, *chunk)))
    return found


def record_row(act: Act, record: Record, *, project_id: int, source_id: int, wave_id: int) -> int:
    """The row of a record, written if the project does not have it."""
    known = record_ids(act, project_id, [record.key])
    image = record_image(record, project_id=project_id, source_id=source_id, wave_id=wave_id)
    return known.get(record.key) or act.insert("record", **image)


def record_image(record: Record, *, project_id: int, source_id: int, wave_id: int) -> Image:
    return {
        **structs.asdict(record),
        "project_id": project_id,
        "source_id": source_id,
        "wave_id": wave_id,
        "role": str(record.role),
        "use": str(record.use),
        "shape": str(record.shape),
        "sidechain": int(record.sidechain),
        "headings": msgspec.json.encode(record.headings).decode(),
        "meta": msgspec.json.encode(record.meta).decode(),
    }


def record_of(row: sqlite3.Row, type_: type[_Record]) -> _Record:
    """A row of `record` as a value with the same names."""
    lists = {name: msgspec.json.decode(row[name]) for name in ("headings", "meta")}
    return msgspec.convert({**dict(row), **lists}, type_, strict=False)


def wave_row(
    act: Act, project_id: int, roots: Sequence[str], now: str, *, reading: bool = False
) -> int:
    """A new wave, done unless it is still `reading`."""
    state: Image = {"state": "reading"} if reading else {"state": "done", "ended_at": now}
    encoded = msgspec.json.encode(roots).decode()
    return act.insert("wave", project_id=project_id, started_at=now, roots=encoded, **state)


def source_row(
    act: Act,
    path: Path,
    format_: str,
    *,
    project_id: int,
    wave_id: int,
    size: int = -1,
    modified_ns: int = -1,
) -> int:
    """The row of a file, written if the project does not have it: without a size, because it was
    not read to its end.
    """
    place = os.path.abspath(path)
    known = act.query(
        "SELECT id FROM source WHERE project_id = ? AND path = ?", (project_id, place)
    )
    if known:
        return int(known[0][0])
    return act.insert(
        "source",
        project_id=project_id,
        path=place,
        format=format_,
        bytes=size,
        modified_ns=modified_ns,
        wave_id=wave_id,
        tally="{}",
    )


def copy_evidence(act: Act, source: int, target: int) -> None:
    """Give a row the evidence of another, without duplicates."""
    rows = act.query(
        f"SELECT {', '.join(SourcePlace._fields)} FROM evidence e WHERE memory_id = ?1"
        " AND NOT EXISTS (SELECT 1 FROM evidence f WHERE f.memory_id = ?2"
        " AND f.record_id = e.record_id AND f.span_start = e.span_start"
        " AND f.span_end = e.span_end) ORDER BY id",
        (source, target),
    )
    act.insert_many("evidence", [SourcePlace(*row).image(target) for row in rows])
