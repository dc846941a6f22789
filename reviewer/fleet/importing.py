"""The best candidates of a job as one wave of the queue, written in one act."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor

import msgspec
from msgspec import Struct, structs

from reviewer.clock import Clock, iso, written_moment
from reviewer.fleet.best import best
from reviewer.fleet.rows import CandidateRow, masked_page, texts_for_keys
from reviewer.fleet.values import FleetError
from reviewer.fleet.workers import processes
from reviewer.promotion import queue_order
from reviewer.promotion.rows.conflict_rows import follow_conflicts
from reviewer.promotion.rows.evidence_rows import (
    SourcePlace,
    add_places,
    places_of,
    record_ids,
    wave_row,
)
from reviewer.promotion.rows.known_rows import Key, known_keys
from reviewer.promotion.rows.memory_rows import new_columns
from reviewer.sources.elsewhere import EXCERPT_AT
from reviewer.sources.records import Shape
from reviewer.store.acts import Act, Scope, chunks
from reviewer.store.changes import Image
from reviewer.store.ledger import Ledger
from reviewer.store.project_rows import project_row
from reviewer.text.normalise import duplicate_key
from reviewer.text.secrets import remember_clean

KIND = "fleet import"
UNREAD = -1
"""The size and time of a source that was not read into this store."""


class ImportReport(Struct, frozen=True, kw_only=True):
    """The result of an import. `found`: places in all parts; `facts`: distinct statements."""

    wave: int = 0
    state: str = "done"
    """`done`, or `interrupted` if nothing was imported."""
    project: str
    found: int
    facts: int
    candidates: int = 0
    new: int = 0
    repeated: int = 0
    """Candidates that the project already had, whatever their status; they count as seen."""
    near: int = 0
    masked: int = 0
    """Secrets masked by the import, which the run had missed."""
    acts: tuple[int, ...] = ()
    """The act of the import; empty if the project already had every candidate."""
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
        parts: str,
        *,
        project: str,
        top: int,
        from_project: str | None = None,
        progress: Callable[[int, int], None],
        cancelled: Callable[[], bool],
    ) -> ImportReport:
        """Queue the `top` candidates of the parts of a job, the best first, as one act.

        `from_project`: only statements from working folders of that name. Raises FleetError for
        parts that cannot be read, StoreError when the store cannot be written.
        """
        began = time.monotonic()
        with best(parts, top=top, project=from_project) as found:
            if not found.count:
                raise FleetError(f"{parts} says nothing that may be remembered.")
            try:
                with self._ledger.act(KIND, scope=Scope.INTAKE) as act:
                    wave = _Wave(act, parts, project, found.count, iso(self._clock()))
                    with act.in_bulk(found.count):
                        for rows, masked in _masked(found.batches()):
                            wave.write(rows, masked)
                            progress(wave.done, found.count)
                            if cancelled():
                                raise _InterruptedError
                    act.title = (
                        f"Imported into wave {wave.number}: {wave.new:,} new, {wave.repeated:,}"
                        " seen before"
                    )
                    wave.end()
                state = "done"
            except _InterruptedError:
                state = "interrupted"
        report = ImportReport(
            project=project,
            state=state,
            found=found.found,
            facts=found.facts,
            seconds=round(time.monotonic() - began, 3),
        )
        if state == "interrupted":
            return report
        return structs.replace(
            report,
            wave=wave.number,
            candidates=wave.done,
            new=wave.new,
            repeated=wave.repeated,
            near=wave.near,
            masked=wave.masked,
            acts=(act.id,) if wave.changed else (),
        )


def _masked(
    batches: Iterable[list[CandidateRow]],
) -> Iterator[tuple[list[CandidateRow], int]]:
    """Each batch with its flags and without secrets, and their number: another process searches the
    next batch while one is written. Raises FleetError if that process is ended.
    """
    with processes(1) as workers:
        searches = (
            (rows, workers.executor.submit(masked_page, msgspec.msgpack.encode(rows)))
            for rows in batches
        )
        search = next(searches, None)
        while search is not None:
            rows, searched = search
            try:
                search = next(searches, None)
                changed, masked = searched.result()
            except BrokenExecutor as problem:
                raise FleetError(
                    "The process that looks for secrets was ended, perhaps for want of memory."
                    " Nothing was imported; run the same command again."
                ) from problem
            for at, row in changed.items():
                rows[at] = row
            remember_clean(text for row in rows for text in texts_for_keys(row))
            yield rows, masked


class _Wave:
    """Writes the rows of one import, inside its act."""

    def __init__(self, act: Act, parts: str, project: str, total: int, now: str) -> None:
        self._act = act
        self._now = now
        self._total = total
        self.new = self.repeated = self.near = self.masked = self.done = 0
        self.changed = False
        self._sources: dict[str, int] = {}
        self._leaders: dict[str, int] = {}
        """fact -> the first of the rows that differ only in function words and endings."""
        self._project_id = project_row(act, project)
        self.number = wave_row(act, self._project_id, [parts], now)
        self._slots = self._promoted_slots()

    def end(self) -> None:
        """Store the counts of the wave."""
        counts = {"new": self.new, "repeated": self.repeated, "near": self.near, "over_cap_left": 0}
        self._act.update("wave", self.number, counts=msgspec.json.encode(counts).decode())

    def write(self, rows: Sequence[CandidateRow], masked: int) -> None:
        keys = [(each.kind, each.type, duplicate_key(each.content)) for each in rows]
        known = known_keys(self._act.query, self._project_id, keys)
        places = self._places(rows)
        again: dict[int, list[tuple[CandidateRow, SourcePlace]]] = defaultdict(list)
        fresh: dict[Key, int] = {}  # masking may have made two the same
        for at, key in enumerate(keys):
            if key in known:
                again[known[key]].append((rows[at], places[at]))
            else:
                fresh.setdefault(key, at)
        self._insert([(rows[at], places[at]) for at in fresh.values()])
        self._count_again(again)
        self.masked += masked
        self.new += len(fresh)
        self.repeated += len(rows) - len(fresh)
        self.done += len(rows)
        self.changed |= bool(fresh)

    def _insert(self, fresh: Sequence[tuple[CandidateRow, SourcePlace]]) -> None:
        first = self._act.next_id("memory")
        images = [self._memory(number, row) for number, (row, _) in enumerate(fresh, first)]
        ids = self._act.insert_many("memory", images)
        self._act.insert_many(
            "evidence", [place.image(number) for number, (_, place) in zip(ids, fresh, strict=True)]
        )
        self._add_structure([(number, row) for number, (row, _) in zip(ids, fresh, strict=True)])

    def _add_structure(self, rows: Iterable[tuple[int, CandidateRow]]) -> None:
        entities = [(number, row) for number, row in rows if row.kind == "entity"]
        self._act.insert_many(
            "entity",
            [
                {
                    "memory_id": number,
                    "name": row.name or row.content,
                    "slot": row.slot,
                    "attributes": row.attributes,
                }
                for number, row in entities
            ],
        )
        follow_conflicts(
            self._act, [number for number, row in entities if row.slot in self._slots], self._now
        )

    def _memory(self, number: int, row: CandidateRow) -> Image:
        leader = self._leaders.get(row.leader)
        if row.fact == row.leader:
            self._leaders[row.fact] = number
        self.near += leader is not None
        columns = new_columns(
            row.type,
            row.content,
            kind=row.kind,
            rule=row.rule,
            version=row.extractor_version,
            proposer=row.proposer,
            # Rounded, but not so much that some of a million have the same.
            rank=round(queue_order.OF_FLEET * (1 - (row.position - 1) / self._total), 9),
            prior=row.prior,
            signal=row.signal,
            freshness=row.freshness,
        )
        return {
            **columns,
            "project_id": self._project_id,
            "wave_id": self.number,
            "status": "candidate",
            "flags": row.flags,
            "leader_id": leader,
            "seen": row.seen,
            "first_seen": self._now,
            "last_seen": self._now,
            "pending_since": self._now,
            "need": row.need,
            "proof": row.proof,
            "sessions": row.sessions,
            "authors": row.authors,
        }

    def _promoted_slots(self) -> set[str]:
        """The slots in which a promoted entity has a value."""
        rows = self._act.query(
            "SELECT DISTINCT e.slot FROM entity e JOIN memory m ON m.id = e.memory_id"
            " WHERE e.slot <> '' AND m.status = 'active' AND +m.project_id = ?",
            (self._project_id,),
        )
        return {slot for (slot,) in rows}

    def _count_again(self, again: dict[int, list[tuple[CandidateRow, SourcePlace]]]) -> None:
        """Count candidates that the project already has as seen again, with their place as
        evidence."""
        updates: list[tuple[int, Image]] = []
        for number, found in sorted(again.items()):
            there = places_of(self._act, number)
            fresh = [(row, place) for row, place in found if place[:3] not in there]
            times = sum(row.seen for row, _ in fresh)
            if not times:
                continue  # this very import was made before
            status, seen, refs, sessions, authors = self._act.query(
                "SELECT status, seen, refs, sessions, authors FROM memory WHERE id = ?", (number,)
            )[0]
            counted = {"refs": refs + times} if status == "active" else {"seen": seen + times}
            most = {
                "sessions": max(sessions, *(row.sessions for row, _ in fresh)),
                "authors": max(authors, *(row.authors for row, _ in fresh)),
            }
            updates.append((number, {**counted, **most, "last_seen": self._now}))
            add_places(self._act, number, [place for _, place in fresh])
        self.changed |= bool(updates)
        self._act.update_each("memory", updates)

    def _places(self, rows: Sequence[CandidateRow]) -> list[SourcePlace]:
        """The record of each row, and its span there; records that the store lacks are written.

        The text around a statement is a record of its own: the whole one may be read into the same
        project later.
        """
        keys = [f"{row.record}@{row.excerpt_start}+{len(row.excerpt)}" for row in rows]
        numbers = record_ids(self._act, self._project_id, (*keys, *(row.record for row in rows)))
        sources = self._sources_of(rows)
        new: dict[str, Image] = {}
        spans: list[tuple[str, int, int]] = []
        for key, row in zip(keys, rows, strict=True):
            if row.record in numbers:
                spans.append((row.record, row.span_start, row.span_end))
                continue
            spans.append((key, *_span_in_excerpt(row)))
            if key in new:  # up to the last of the statements that cite it
                new[key]["line_end"] = max(int(str(new[key]["line_end"])), row.line_end)
            elif key not in numbers:
                new[key] = {
                    **_record(row, key, spans[-1][1]),
                    "project_id": self._project_id,
                    "source_id": sources[row.path],
                    "wave_id": self.number,
                }
        numbers.update(zip(new, self._act.insert_many("record", [*new.values()]), strict=True))
        return [
            SourcePlace(numbers[key], start, end, row.rule, row.extractor_version)
            for row, (key, start, end) in zip(rows, spans, strict=True)
        ]

    def _sources_of(self, rows: Sequence[CandidateRow]) -> dict[str, int]:
        """The sources of these rows; those that the project lacks are written."""
        missing = {row.path: row.format for row in rows if row.path not in self._sources}
        for chunk in chunks(list(missing)):
            for path, number in self._act.query(
                "SELECT path, id FROM source WHERE project_id = ? AND path IN"
                f" ({','.join('?' * len(chunk))})",
                (self._project_id, *chunk),
            ):
                self._sources[path] = number
                del missing[path]
        new: list[Image] = [
            {
                "project_id": self._project_id,
                "path": path,
                "format": format_,
                "bytes": UNREAD,
                "modified_ns": UNREAD,
                "wave_id": self.number,
                "tally": "{}",
            }
            for path, format_ in missing.items()
        ]
        self._sources.update(zip(missing, self._act.insert_many("source", new), strict=True))
        return self._sources


def _span_in_excerpt(row: CandidateRow) -> tuple[int, int]:
    """Where the excerpt has the statement."""
    start = max(0, row.span_start - row.excerpt_start)
    return start, max(start, min(len(row.excerpt), row.span_end - row.excerpt_start))


def _record(row: CandidateRow, key: str, start: int) -> Image:
    """The excerpt of a candidate as a record, in which its statement begins at `start`."""
    # The text of a record that is not a turn is its lines.
    before = 0 if row.shape is Shape.TURN else row.excerpt.count("\n", 0, start)
    return {
        "key": key,
        "line_start": max(0, row.line_start - before),
        "line_end": row.line_end,
        "byte_start": row.byte_start,
        "byte_end": row.byte_end,
        "sha256": row.sha256,
        "role": str(row.role),
        "use": str(row.use),
        "shape": str(row.shape),
        "at": written_moment(row.at),
        "session": row.session,
        "sidechain": int(row.sidechain),
        "meta": f'{{"{EXCERPT_AT}":"{row.excerpt_start}"}}',
        "text": row.excerpt,
    }
