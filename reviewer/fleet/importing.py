"""The candidates of a job as one wave of the queue, written in one act."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

import msgspec
from msgspec import Struct

from reviewer.clock import Clock, iso
from reviewer.fleet.candidate_file import (
    CandidateFile,
    excerpt_key,
    memory_of,
    record_of,
    span_in_excerpt,
)
from reviewer.fleet.candidate_row import CandidateRow, CleanRow
from reviewer.fleet.values import FleetError
from reviewer.promotion import queue_order
from reviewer.promotion.rows.conflict_rows import open_conflicts
from reviewer.promotion.rows.evidence_rows import MAX_EVIDENCE
from reviewer.store.acts import Act, Scope, chunks
from reviewer.store.changes import Image
from reviewer.store.ledger import Ledger
from reviewer.store.project_rows import project_row
from reviewer.text.normalise import duplicate_key

KIND = "fleet import"

_Key: TypeAlias = tuple[str, str, str]
Place: TypeAlias = tuple[int, int, int]
"""A record, and a span of its text."""
_Records: TypeAlias = dict[str, tuple[int, int]]
"""Ids of records and their characters, by key."""


class ImportReport(Struct, frozen=True, kw_only=True):
    """What an import did."""

    wave: int = 0
    state: str = "done"
    """`done`, or `interrupted`: nothing was imported then."""
    project: str
    candidates: int = 0
    new: int = 0
    repeated: int = 0
    """Candidates that the project had already, whatever was decided on them; they count as seen."""
    near: int = 0
    masked: int = 0
    """Secrets that were masked, which whoever read the sessions had left."""
    acts: tuple[int, ...] = ()
    """The act of the import; none where the project had every candidate already."""
    seconds: float


class _InterruptedError(Exception):
    """The person has interrupted the import."""


class FleetImport:
    """Imports candidates; `reviewer undo ACT` takes an import back."""

    def __init__(self, ledger: Ledger, clock: Clock) -> None:
        self._ledger = ledger
        self._clock = clock

    def run(
        self,
        path: Path,
        *,
        project: str,
        top: int | None = None,
        progress: Callable[[int, int], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> ImportReport:
        """Queue the candidates of a file, the first `top` or all, in their order, as one act.

        Raises FleetError for a file that `collapse` did not write, StoreError when the store cannot
        be written.
        """
        began = time.monotonic()
        file = CandidateFile(path, top)
        if not file.count:
            raise FleetError(f"{path} has no candidates: there is nothing to import.")
        try:
            with self._ledger.act(KIND, scope=Scope.INTAKE) as act:
                wave = _Wave(act, path, project, file.count, iso(self._clock()))
                for rows in file.batches():
                    wave.write(rows)
                    if progress is not None:
                        progress(wave.done, file.count)
                    if cancelled is not None and cancelled():
                        raise _InterruptedError
                wave.end(iso(self._clock()))
        except _InterruptedError:
            seconds = round(time.monotonic() - began, 3)
            return ImportReport(state="interrupted", project=project, seconds=seconds)
        return ImportReport(
            wave=wave.number,
            project=project,
            candidates=wave.done,
            new=wave.new,
            repeated=wave.repeated,
            near=wave.near,
            masked=wave.masked,
            acts=(act.id,) if wave.changed else (),
            seconds=round(time.monotonic() - began, 3),
        )


class _Wave:
    """Writes the rows of one import, inside its act."""

    def __init__(self, act: Act, path: Path, project: str, total: int, now: str) -> None:
        self._act = act
        self._now = now
        self._total = max(1, total)
        self.new = self.repeated = self.near = self.masked = self.done = 0
        self.changed = False
        self._sources: dict[str, int] = {}
        self._leaders: dict[str, int] = {}
        """The rows of the wording that is being written, by their fact."""
        self._wording: int | None = None
        self._project_id = project_row(act, project)
        self.number = act.insert(
            "wave",
            project_id=self._project_id,
            started_at=now,
            state="done",
            roots=msgspec.json.encode([str(path.absolute())]).decode(),
        )
        self._reworded = self._changed_by_hand()
        self._active_slots = {
            slot
            for (slot,) in act.query(
                "SELECT DISTINCT e.slot FROM entity e JOIN memory m ON m.id = e.memory_id"
                " WHERE e.slot <> '' AND m.status = 'active' AND m.project_id = ?",
                (self._project_id,),
            )
        }

    def end(self, now: str) -> None:
        """End the wave."""
        counts = {
            "new": self.new,
            "repeated": self.repeated,
            "near": self.near,
            "over_cap_left": 0,
        }
        self._act.update(
            "wave", self.number, ended_at=now, counts=msgspec.json.encode(counts).decode()
        )
        self._act.title = (
            f"Imported into wave {self.number}: {self.new:,} new, {self.repeated:,} seen before"
        )

    def _changed_by_hand(self) -> dict[str, int]:
        """What a person has reworded or given another type, by its wordings."""
        found: dict[str, int] = dict(
            self._act.query(
                "SELECT key, id FROM memory WHERE project_id = ? AND edited = 1",
                (self._project_id,),
            )
        )
        for content, number in self._act.query(
            "SELECT h.content, m.id FROM content_history h JOIN memory m ON m.id = h.memory_id"
            " WHERE m.project_id = ?",
            (self._project_id,),
        ):
            found.setdefault(duplicate_key(content), number)
        return found

    def write(self, rows: Sequence[CleanRow]) -> None:
        """Write some rows."""
        keys = [(each.row.kind, each.row.type, duplicate_key(each.row.content)) for each in rows]
        known = self._known(keys)
        places = self._places(rows)
        self.masked += sum(each.masked for each in rows)
        again: dict[int, list[tuple[CandidateRow, Place]]] = defaultdict(list)
        fresh: dict[_Key, int] = {}  # the file may have one twice
        for at, key in enumerate(keys):
            number = known.get(key)
            if number is None:
                fresh.setdefault(key, at)
            else:
                again[number].append((rows[at].row, places[at]))
        self._insert(rows, list(fresh.values()), places)
        self._count_again(again)
        self.new += len(fresh)
        self.repeated += len(rows) - len(fresh)
        self.done += len(rows)
        self.changed |= bool(fresh)

    def _insert(
        self, rows: Sequence[CleanRow], fresh: Sequence[int], places: Sequence[Place]
    ) -> None:
        first = self._act.next_id("memory")
        found = [(number, rows[at].row) for number, at in enumerate(fresh, first)]
        self._act.insert_many(
            "memory",
            [
                {
                    **memory_of(row),
                    "project_id": self._project_id,
                    "wave_id": self.number,
                    "status": "candidate",
                    # Rounded, but not so much that some of a million have the same.
                    "rank": round(queue_order.OF_FLEET * (1 - (self.done + at) / self._total), 9),
                    "leader_id": self._leader_of(row, number),
                    "first_seen": self._now,
                    "last_seen": self._now,
                    "pending_since": self._now,
                }
                for at, (number, row) in zip(fresh, found, strict=True)
            ],
        )
        self._act.insert_many(
            "evidence",
            [
                _evidence(number, row, places[at])
                for at, (number, row) in zip(fresh, found, strict=True)
            ],
        )
        self._add_structure([each for each in found if each[1].kind == "entity"])

    def _leader_of(self, row: CandidateRow, number: int) -> int | None:
        """The row that is shown before this one, which gets this number."""
        if row.wording != self._wording:
            self._wording = row.wording
            self._leaders.clear()
        leader = self._leaders.get(row.leader)
        self._leaders[row.fact] = number
        self.near += leader is not None
        return leader

    def _add_structure(self, found: Sequence[tuple[int, CandidateRow]]) -> None:
        self._act.insert_many(
            "entity",
            [
                {
                    "memory_id": number,
                    "name": row.name or row.content,
                    "slot": row.slot or "",
                    "attributes": row.attributes or "[]",
                }
                for number, row in found
            ],
        )
        slots = self._active_slots
        open_conflicts(self._act, [number for number, row in found if row.slot in slots], self._now)

    def _count_again(self, again: dict[int, list[tuple[CandidateRow, Place]]]) -> None:
        """Candidates that the project has count as seen, with their place as evidence."""
        updates: list[tuple[int, Image]] = []
        evidence: list[Image] = []
        for chunk in chunks(sorted(again)):
            marks = ",".join("?" * len(chunk))
            there: dict[int, set[Place]] = defaultdict(set)
            for number, record, start, end in self._act.query(
                "SELECT memory_id, record_id, span_start, span_end FROM evidence"
                f" WHERE memory_id IN ({marks})",
                chunk,
            ):
                there[number].add((record, start, end))
            for number, status, seen, refs, sessions, authors in self._act.query(
                "SELECT id, status, seen, refs, sessions, authors FROM memory"
                f" WHERE id IN ({marks})",
                chunk,
            ):
                fresh = [each for each in again[number] if each[1] not in there[number]]
                times = sum(row.seen for row, _ in fresh)
                if not times:
                    continue  # this very import was made before
                counted: Image = {
                    "last_seen": self._now,
                    "sessions": max(sessions, *(row.sessions for row, _ in fresh)),
                    "authors": max(authors, *(row.authors for row, _ in fresh)),
                }
                if status == "active":
                    counted["refs"] = refs + times
                else:
                    counted["seen"] = seen + times
                updates.append((number, counted))
                for row, place in fresh[: max(0, MAX_EVIDENCE - len(there[number]))]:
                    if place not in there[number]:
                        there[number].add(place)
                        evidence.append(_evidence(number, row, place))
        self.changed |= bool(updates)
        self._act.update_each("memory", updates)
        self._act.insert_many("evidence", evidence)

    def _known(self, keys: Sequence[_Key]) -> dict[_Key, int]:
        """The rows of the project that say what these say, by kind, type and key."""
        found: dict[_Key, int] = {}
        if self._reworded:
            for each in keys:
                if (changed := self._reworded.get(each[-1])) is not None:
                    found[each] = changed
        by_type: dict[tuple[str, str], list[str]] = defaultdict(list)
        for kind, type_, key in keys:
            by_type[kind, type_].append(key)
        for (kind, type_), some in by_type.items():
            for chunk in chunks(sorted(some)):  # in the order of the index, page by page
                for key, number in self._act.query(
                    "SELECT key, id FROM memory WHERE project_id = ? AND kind = ? AND type = ?"
                    f" AND key IN ({','.join('?' * len(chunk))})",
                    (self._project_id, kind, type_, *chunk),
                ):
                    found[kind, type_, key] = number
        return found

    def _places(self, rows: Sequence[CleanRow]) -> list[Place]:
        """The record of each row, and its span there; records that the store lacks are written."""
        keys = [excerpt_key(each.row) for each in rows]
        whole = self._records([each.row.record for each in rows])
        parts = self._records(keys)
        sources = self._sources_of(rows)
        first = self._act.next_id("record")
        numbers = {key: number for key, (number, _) in parts.items()}
        new: list[Image] = []
        places: list[Place] = []
        for key, each in zip(keys, rows, strict=True):
            row = each.row
            found = whole.get(row.record)
            if found is not None and row.span_end <= found[1]:
                places.append((found[0], row.span_start, row.span_end))
                continue
            start, end = span_in_excerpt(each)
            if key not in numbers:
                numbers[key] = first + len(new)
                new.append(
                    {
                        **record_of(row, key, start),
                        "project_id": self._project_id,
                        "source_id": sources[row.path],
                        "wave_id": self.number,
                    }
                )
            places.append((numbers[key], start, end))
        self._act.insert_many("record", new)
        return places

    def _records(self, keys: Sequence[str]) -> _Records:
        """Those of the records that the project has."""
        found: _Records = {}
        for chunk in chunks(sorted(set(keys))):  # in the order of the index, page by page
            for key, number, size in self._act.query(
                "SELECT key, id, length(text) FROM record WHERE project_id = ? AND key IN"
                f" ({','.join('?' * len(chunk))})",
                (self._project_id, *chunk),
            ):
                found[key] = (number, size)
        return found

    def _sources_of(self, rows: Sequence[CleanRow]) -> dict[str, int]:
        """The sources of these rows; those that the project lacks are written."""
        missing = {
            each.row.path: each.row.format for each in rows if each.row.path not in self._sources
        }
        for chunk in chunks(list(missing)):
            for path, number in self._act.query(
                "SELECT path, id FROM source WHERE project_id = ? AND path IN"
                f" ({','.join('?' * len(chunk))})",
                (self._project_id, *chunk),
            ):
                self._sources[path] = number
                del missing[path]
        unread = -1  # its size and its time: it was not read into this store
        new = self._act.insert_many(
            "source",
            [
                {
                    "project_id": self._project_id,
                    "path": path,
                    "format": format_,
                    "bytes": unread,
                    "modified_ns": unread,
                    "wave_id": self.number,
                    "tally": "{}",
                }
                for path, format_ in missing.items()
            ],
        )
        self._sources.update(zip(missing, new, strict=True))
        return self._sources


def _evidence(number: int, row: CandidateRow, place: Place) -> Image:
    record, start, end = place
    return {
        "memory_id": number,
        "record_id": record,
        "span_start": start,
        "span_end": end,
        "rule": row.rule,
        "extractor_version": row.extractor_version,
    }
