"""The candidates that the cap of a wave left out: each statement once, until it is in the queue."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from msgspec import Struct

from reviewer.errors import StoreError
from reviewer.extraction.candidates import Candidate, MemoryType
from reviewer.extraction.entities.entity import EntityCandidate, EntityType
from reviewer.extraction.ranking import Ranking
from reviewer.promotion.enqueue import Known
from reviewer.promotion.entity_rows import Structure
from reviewer.promotion.report import OverCap, StatementBeyondCap, over_cap
from reviewer.promotion.views import Kind
from reviewer.sources.records import Record, Role
from reviewer.store.database import Database, failures_as_sentences
from reviewer.text.normalise import duplicate_key

_Key = tuple[str, str, str]


class LeftOut(Struct, frozen=True):
    """A candidate beyond the cap, with the wave that proposed it."""

    wave: int
    project_id: int
    candidate: OverCap | StatementBeyondCap
    key: _Key


class BeyondCap:
    """Reads what the waves' reports keep beyond the cap. Safe to call from several threads."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._keys: dict[Path, tuple[tuple[int, int], frozenset[_Key]]] = {}
        """The keys of a report by its folder, with size and time of the file they are from."""

    def waiting(self, project: str | None) -> tuple[list[LeftOut], list[str]]:
        """The candidates, statements before excerpts and the best first, and a sentence for each
        report that cannot be read.
        """
        found: list[LeftOut] = []
        failures: list[str] = []
        for wave, project_id, folder, _ in self._waves(project):
            try:
                for item in over_cap(folder):
                    found.append(LeftOut(wave, project_id, item, _key_of(item)))
            except StoreError as problem:
                failures.append(str(problem))
        found.sort(key=lambda item: (isinstance(item.candidate, OverCap), -item.candidate.rank))
        first = {(item.project_id, item.key): item for item in reversed(found)}
        known = self._known(set(first))
        return [
            item
            for item in found
            if first[item.project_id, item.key] is item and (item.project_id, item.key) not in known
        ], failures

    def count(self, project: str | None) -> int:
        """How many there are. A wave whose report cannot be read counts as it was left."""
        keys: set[tuple[int, _Key]] = set()
        unreadable = 0
        for _, project_id, folder, left in self._waves(project):
            try:
                keys.update((project_id, key) for key in self._keys_of(folder))
            except StoreError:
                unreadable += left  # `waiting` says why
        return len(keys) - len(self._known(keys)) + unreadable

    def _waves(self, project: str | None) -> list[tuple[int, int, Path, int]]:
        sql = (
            "SELECT w.id, w.project_id, w.report_folder,"
            " json_extract(w.counts, '$.over_cap_left') AS left_out FROM wave w"
            " JOIN project p ON p.id = w.project_id"
            " WHERE left_out > 0 AND (?1 IS NULL OR p.name = ?1)"
        )
        with failures_as_sentences(self._database.path):
            rows = self._database.reader().execute(sql, (project,)).fetchall()
        return [(row[0], row[1], Path(row[2]), row[3]) for row in rows]

    def _keys_of(self, folder: Path) -> frozenset[_Key]:
        try:
            stat = os.stat(folder / "dropped.ndjson")
        except OSError:
            self._keys.pop(folder, None)
            return frozenset(map(_key_of, over_cap(folder)))
        stamp = (stat.st_size, stat.st_mtime_ns)
        cached = self._keys.get(folder)
        if cached is None or cached[0] != stamp:
            keys = frozenset(map(_key_of, over_cap(folder)))
            cached = self._keys[folder] = (stamp, keys)
        return cached[1]

    def _known(self, keys: set[tuple[int, _Key]]) -> set[tuple[int, _Key]]:
        """Those that are rows, whatever their status, or were before they were reworded."""
        wanted: dict[int, list[_Key]] = {}
        for project_id, key in keys:
            wanted.setdefault(project_id, []).append(key)
        reader = self._database.reader()
        return {
            (project_id, key)
            for project_id, each in wanted.items()
            for key in Known(self._database, project_id, reader=reader).among(each)
        }


def _key_of(item: OverCap | StatementBeyondCap) -> _Key:
    if isinstance(item, StatementBeyondCap):
        return str(Kind.MEMORY), str(item.row["type"]), duplicate_key(item.content)
    return Known.key_of(as_ranking(item).candidate)


def as_ranking(item: OverCap) -> Ranking:
    """The candidate as it was ranked; of its record only the key matters here."""
    record = Record(
        key=item.record,
        line_start=item.line_start,
        line_end=item.line_end,
        byte_start=0,
        byte_end=0,
        sha256="",
        role=Role.NOTE,
        text="",
    )
    values: dict[str, Any] = {
        name: getattr(item, name)
        for name in (
            "content", "rule", "prior", "signal", "freshness", "confidence", "span_start",
            "span_end", "extractor_version", "flags",
        )
    }  # fmt: skip
    candidate: Candidate
    if item.structure is None:
        candidate = Candidate(type=MemoryType(item.type), weight=1.0, record=record, **values)
    else:
        candidate = EntityCandidate(
            type=EntityType(item.type),
            weight=1.0,
            record=record,
            **values,
            **{name: getattr(item.structure, name) for name in Structure.__struct_fields__},
        )
    return Ranking(candidate=candidate, score=item.rank, novelty=1.0, seen=item.seen)
