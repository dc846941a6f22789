"""The candidates of a job as one wave of the queue, written in acts of limited size."""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

import msgspec
from msgspec import Struct, structs

from reviewer.clock import Clock, iso
from reviewer.errors import ConflictError, ReviewerError, UnknownIdError
from reviewer.fleet.candidate_file import (
    CandidateFile,
    excerpt_key,
    memory_of,
    record_of,
    relations_of,
    span_in_excerpt,
)
from reviewer.fleet.candidate_row import CleanRow, Row
from reviewer.fleet.values import FleetError
from reviewer.promotion.conflict_rows import open_conflicts
from reviewer.promotion.decided_rows import find_conflicts_again
from reviewer.promotion.evidence_rows import MOST_EVIDENCE
from reviewer.store.acts import Act, Scope, chunks
from reviewer.store.changes import Image, unpack
from reviewer.store.database import Database, failures_as_sentences
from reviewer.store.ledger import Ledger
from reviewer.store.project_rows import project_row
from reviewer.store.undo import Undo
from reviewer.system import lock
from reviewer.text.normalise import duplicate_key

KIND = "fleet import"
STARTED = "Started importing for "
"""What the title of the act begins with that begins an import."""
CACHE_KILOBYTES = 64_000
PAGES_BETWEEN_CHECKPOINTS = 200_000
"""Of 4,096 bytes each: the log beside the store grows to 900 MB. Keys come in no order, so that a
page changes in many acts and is written to the store once for all of them.
"""
MOST_SOURCES = 100_000
HIGHEST_RANK = 0.8085
"""The highest confidence that the formula can give: what a fleet said most often comes first."""

_Key: TypeAlias = tuple[str, str, str]
Place: TypeAlias = tuple[int, int, int]
"""A record, and a span of its text."""
_Records: TypeAlias = dict[str, tuple[int, int]]
"""Ids of records and their characters, by key."""

_READING = (
    "SELECT w.id FROM wave w JOIN project p ON p.id = w.project_id"
    " WHERE p.name = ? AND w.state = 'reading'"
)
_INTERRUPTED = "SELECT id FROM wave WHERE state = 'interrupted' ORDER BY id"


class ImportReport(Struct, frozen=True, kw_only=True):
    """What an import did. `wave`: by its number `reviewer fleet undo` takes all of it back."""

    wave: int
    state: str
    project: str
    candidates: int
    new: int
    repeated: int
    """Candidates that the project had already, whatever was decided on them; they count as seen."""
    near: int
    masked: int
    """Secrets that were masked, which whoever read the sessions had left."""
    acts: tuple[int, ...]
    """None where the project had every candidate already."""
    unfinished: tuple[int, ...]
    """Earlier imports of the same file that were interrupted, of which something is left."""
    seconds: float


class FleetImport:
    """Imports candidates, and takes an import back."""

    def __init__(self, database: Database, ledger: Ledger, clock: Clock) -> None:
        self._database = database
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
        """Queue the candidates of a file, the first `top` or all, in their order.

        Raises FleetError for a file that `collapse` did not write, StoreError when the store cannot
        be written; the acts before are kept and can be taken back.
        """
        began = time.monotonic()
        file = CandidateFile(path, top)
        if not file.count:
            raise FleetError(f"{path} has no candidates: there is nothing to import.")
        wave = _Wave(self._database, self._ledger, self._clock, project, file.count)
        with self._alone() as alone:
            if alone:
                self._end_waves_of_killed_imports(project)
            wave.start(path)
            return self._write(wave, file, began, progress, cancelled)

    def _write(
        self,
        wave: _Wave,
        file: CandidateFile,
        began: float,
        progress: Callable[[int, int], None] | None,
        cancelled: Callable[[], bool] | None,
    ) -> ImportReport:
        try:
            # Not each act is on the disk before the next one: the last one of the wave waits for
            # all of them, and if the power fails before, the import is made again.
            with self._many_writes(synchronous=1):
                for done in wave.write(file.batches()):
                    if progress is not None:
                        progress(done, file.count)
                    if cancelled is not None and cancelled():
                        wave.interrupted = True
                        break
        except FleetError as problem:
            wave.interrupted = True
            if not (report := wave.finish(began)).acts:
                raise
            raise FleetError(
                f"{problem} What was imported before ({report.new:,} new) stays: reviewer fleet"
                f" undo {report.wave} takes it back."
            ) from problem
        report = wave.finish(began)
        return structs.replace(report, unfinished=self.unfinished(report.wave))

    @contextmanager
    def _alone(self) -> Iterator[bool]:
        """Whether no other import that ran when this one began is running still."""
        try:
            folder = os.open(self._database.path.parent, os.O_RDONLY)
        except OSError:  # a system on which folders cannot be opened
            yield False
            return
        try:
            try:
                lock(folder)
            except BlockingIOError:
                yield False
            else:
                yield True
        finally:
            os.close(folder)

    def _end_waves_of_killed_imports(self, project: str) -> None:
        """Imports that were killed have left their waves open; nobody else ends them."""
        with self._ledger.act(
            "wave", "Ended the waves of imports that were killed", scope=Scope.INTAKE
        ) as act:
            reading = {number for (number,) in act.query(_READING, (project,))}
            for number in sorted(reading & self._imports().keys() if reading else reading):
                act.update("wave", number, state="interrupted", ended_at=iso(self._clock()))

    def _imports(self) -> dict[int, tuple[str, str]]:
        """All waves of imports, with their project's number and their file."""
        found = {}
        with failures_as_sentences(self._database.path):
            for (blob,) in self._database.writer.execute(
                "SELECT changes FROM ledger WHERE kind = 'wave' AND title LIKE ?", (f"{STARTED}%",)
            ):
                for change in unpack(blob):
                    if change.table == "wave" and change.after is not None:
                        image = change.after
                        found[change.row] = (str(image["project_id"]), str(image["roots"]))
        return found

    def unfinished(self, wave: int) -> tuple[int, ...]:
        """Other imports of the same file into the same project that were interrupted and are not
        taken back.
        """
        imports = self._imports()
        with failures_as_sentences(self._database.path):
            rows = self._database.writer.execute(_INTERRUPTED).fetchall()
        return tuple(
            number
            for (number,) in rows
            if number != wave and imports.get(number) == imports[wave] and self._acts(number)[0]
        )

    def _acts(self, wave: int) -> tuple[list[int], int]:
        """The acts of an import that are not undone, the latest first, and how many it had."""
        with failures_as_sentences(self._database.path):
            rows = self._database.writer.execute(
                "SELECT id, EXISTS (SELECT 1 FROM ledger u WHERE u.target = l.id AND u.kind ="
                " 'undo' AND NOT EXISTS (SELECT 1 FROM ledger r WHERE r.target = u.id AND r.kind ="
                " 'redo')) FROM ledger l WHERE l.kind = ? AND l.title LIKE ? ORDER BY id DESC",
                (KIND, f"{_title(wave)}%"),
            ).fetchall()
        return [number for number, undone in rows if not undone], len(rows)

    def acts_of(self, wave: int) -> list[int]:
        """The acts of an import that are not undone, the latest first.

        Raises UnknownIdError when the wave is no import, ConflictError when it has changed nothing.
        """
        self._database.require_own("wave", [wave])
        acts, number = self._acts(wave)
        if number:
            return acts
        if wave in self._imports():
            raise ConflictError(
                f"Wave {wave} has changed nothing, so there is nothing to take back: the project"
                " had all of its candidates already, or the import was stopped at once."
            )
        with failures_as_sentences(self._database.path):
            there = self._database.writer.execute(
                "SELECT 1 FROM wave WHERE id = ?", (wave,)
            ).fetchone()
        if there is None:
            raise UnknownIdError(f"There is no wave {wave}. See: reviewer history")
        raise UnknownIdError(
            f"Wave {wave} is not an import of `reviewer fleet import`. Its act is undone by its"
            " number: reviewer history, then reviewer undo NUMBER"
        )

    def undo(
        self,
        wave: int,
        progress: Callable[[int, int], None] | None = None,
        *,
        anyone: bool = False,
    ) -> list[int]:
        """Take back every act of an import, the latest first; returns the acts that did it. With
        `anyone` also an import that another person made.

        Raises ConflictError when something of it was changed since: before anything is taken back,
        unless somebody changes it meanwhile.
        """
        acts = self.acts_of(wave)
        undo = Undo(self._database, self._ledger, find_conflicts_again(self._clock))
        others = "" if anyone or not acts else undo.done_by_another(acts[0])
        if others:
            raise ConflictError(
                f"Wave {wave} is an import of {others}. To take it back all the same: "
                f"reviewer fleet undo {wave} --anyone"
            )
        done: list[int] = []
        with self._many_writes():
            if len(acts) > 1:
                undo.require_reversible(acts, f"Wave {wave}")
            for number in acts:
                try:
                    done.append(undo.undo_act(number).act)
                except ReviewerError as problem:
                    if not done:
                        raise
                    raise type(problem)(
                        f"{len(done):,} of {len(acts):,} acts of wave {wave} were taken back; the"
                        f" same command takes back the rest. Act {number}: {problem}"
                    ) from problem
                if progress is not None:
                    progress(len(done), len(acts))
        return done

    @contextmanager
    def _many_writes(self, **more: int) -> Iterator[None]:
        """More pages in memory, and fewer of them written twice, because keys come in no order.

        `more`: settings of SQLite besides.
        """
        writer = self._database.writer
        settings = {
            "cache_size": -CACHE_KILOBYTES,
            "wal_autocheckpoint": PAGES_BETWEEN_CHECKPOINTS,
            **more,
        }
        before = {name: writer.execute(f"PRAGMA {name}").fetchone()[0] for name in settings}
        for name, value in settings.items():
            writer.execute(f"PRAGMA {name} = {value}")
        try:
            yield
        finally:
            for name, value in before.items():
                writer.execute(f"PRAGMA {name} = {value}")


class _Wave:
    """Writes the rows of one import."""

    def __init__(
        self, database: Database, ledger: Ledger, clock: Clock, project: str, total: int
    ) -> None:
        self._database = database
        self._ledger = ledger
        self._clock = clock
        self._project = project
        self._total = max(1, total)
        self._project_id = self._number = self._position = 0
        self._new = self._repeated = self._near = self._masked = 0
        self._acts: list[int] = []
        self._sources: dict[str, int] = {}
        self._leaders: dict[str, int] = {}
        """The rows of the wording that is being written, by their fact."""
        self._wording: int | None = None
        self.interrupted = False

    def start(self, path: Path) -> None:
        """Begin the wave."""
        title = f"{STARTED}{self._project}"
        with self._ledger.act("wave", title, scope=Scope.INTAKE) as act:
            self._project_id = project_row(act, self._project)
            self._number = act.insert(
                "wave",
                project_id=self._project_id,
                started_at=iso(self._clock()),
                state="reading",
                roots=msgspec.json.encode([str(path.absolute())]).decode(),
            )
            self._reworded = self._changed_by_hand(act)
            self._active_slots = {
                slot
                for (slot,) in act.query(
                    "SELECT DISTINCT e.slot FROM entity e JOIN memory m ON m.id = e.memory_id"
                    " WHERE e.slot <> '' AND m.status = 'active' AND m.project_id = ?",
                    (self._project_id,),
                )
            }

    def _changed_by_hand(self, act: Act) -> dict[str, int]:
        """What a person has reworded or given another type, by its wordings."""
        found: dict[str, int] = dict(
            act.query(
                "SELECT key, id FROM memory WHERE project_id = ? AND edited = 1",
                (self._project_id,),
            )
        )
        for content, number in act.query(
            "SELECT h.content, m.id FROM content_history h JOIN memory m ON m.id = h.memory_id"
            " WHERE m.project_id = ?",
            (self._project_id,),
        ):
            found.setdefault(duplicate_key(content), number)
        return found

    def write(self, batches: Iterable[list[CleanRow]]) -> Iterator[int]:
        """Write all rows, an act for each batch; yields after each how many are done."""
        for rows in batches:
            with self._ledger.act(KIND, scope=Scope.INTAKE) as act:
                new, repeated = self._write(act, rows)
                act.title = f"{_title(self._number)} {len(new):,} new, {repeated:,} seen before"
            if act.changed:
                self._acts.append(act.id)
            self._new += len(new)
            self._repeated += repeated
            yield self._position

    def finish(self, began: float) -> ImportReport:
        """End the wave."""
        state = "interrupted" if self.interrupted else "done"
        counts = {
            "new": self._new,
            "repeated": self._repeated,
            "near": self._near,
            "over_cap_left": 0,
        }
        with self._ledger.act("wave", f"Imported wave {self._number}", scope=Scope.INTAKE) as act:
            act.update(
                "wave",
                self._number,
                state=state,
                ended_at=iso(self._clock()),
                counts=msgspec.json.encode(counts).decode(),
            )
        return ImportReport(
            wave=self._number,
            state=state,
            project=self._project,
            candidates=self._position,
            new=self._new,
            repeated=self._repeated,
            near=self._near,
            masked=self._masked,
            acts=tuple(self._acts),
            unfinished=(),
            seconds=round(time.monotonic() - began, 3),
        )

    def _write(self, act: Act, rows: Sequence[CleanRow]) -> tuple[range, int]:
        now = iso(self._clock())
        keys = [(each.row.kind, each.row.type, each.row.key) for each in rows]
        known = self._known(act, keys)
        places = self._places(act, rows)
        self._masked += sum(each.masked for each in rows)
        again: dict[int, list[tuple[Row, Place]]] = defaultdict(list)
        fresh: dict[_Key, int] = {}  # the file may have one twice
        for at, key in enumerate(keys):
            number = known.get(key)
            if number is None:
                fresh.setdefault(key, at)
            else:
                again[number].append((rows[at].row, places[at]))
        new = self._insert(act, rows, list(fresh.values()), places, now)
        self._position += len(rows)
        self._count_again(act, again, now)
        return new, len(rows) - len(fresh)

    def _insert(
        self,
        act: Act,
        rows: Sequence[CleanRow],
        fresh: Sequence[int],
        places: Sequence[Place],
        now: str,
    ) -> range:
        first = act.next_id("memory")
        found = [(number, rows[at].row) for number, at in enumerate(fresh, first)]
        new = act.insert_many(
            "memory",
            [
                {
                    **memory_of(row),
                    "project_id": self._project_id,
                    "wave_id": self._number,
                    "status": "candidate",
                    # Rounded, but not so much that some of a million have the same.
                    "rank": round(HIGHEST_RANK * (1 - (self._position + at) / self._total), 9),
                    "leader_id": self._leader_of(row, number),
                    "first_seen": now,
                    "last_seen": now,
                    "pending_since": now,
                }
                for at, (number, row) in zip(fresh, found, strict=True)
            ],
        )
        act.insert_many(
            "evidence",
            [
                _evidence(number, row, places[at])
                for at, (number, row) in zip(fresh, found, strict=True)
            ],
        )
        self._add_structure(act, [each for each in found if each[1].kind == "entity"], now)
        return new

    def _leader_of(self, row: Row, number: int) -> int | None:
        """The row that is shown before this one, which gets this number."""
        if row.wording != self._wording:
            self._wording = row.wording
            self._leaders.clear()
        leader = self._leaders.get(row.leader)
        self._leaders[row.fact] = number
        self._near += leader is not None
        return leader

    def _add_structure(self, act: Act, found: Sequence[tuple[int, Row]], now: str) -> None:
        act.insert_many(
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
        act.insert_many(
            "relation",
            [
                {"memory_id": number, "kind": kind, "target": target}
                for number, row in found
                for kind, target in relations_of(row)
            ],
        )
        slots = self._active_slots
        open_conflicts(act, [number for number, row in found if row.slot in slots], now)

    def _count_again(self, act: Act, again: dict[int, list[tuple[Row, Place]]], now: str) -> None:
        """Candidates that the project has count as seen, with their place as evidence."""
        updates: list[tuple[int, Image]] = []
        evidence: list[Image] = []
        for chunk in chunks(sorted(again)):
            marks = ",".join("?" * len(chunk))
            there: dict[int, set[Place]] = defaultdict(set)
            for number, record, start, end in act.query(
                "SELECT memory_id, record_id, span_start, span_end FROM evidence"
                f" WHERE memory_id IN ({marks})",
                chunk,
            ):
                there[number].add((record, start, end))
            for number, status, seen, refs, sessions, authors in act.query(
                "SELECT id, status, seen, refs, sessions, authors FROM memory"
                f" WHERE id IN ({marks})",
                chunk,
            ):
                fresh = [each for each in again[number] if each[1] not in there[number]]
                times = sum(row.seen for row, _ in fresh)
                if not times:
                    continue  # this very import was made before
                counted: Image = {
                    "last_seen": now,
                    "sessions": max(sessions, *(row.sessions for row, _ in fresh)),
                    "authors": max(authors, *(row.authors for row, _ in fresh)),
                }
                if status == "active":
                    counted["refs"] = refs + times
                else:
                    counted["seen"] = seen + times
                updates.append((number, counted))
                for row, place in fresh[: max(0, MOST_EVIDENCE - len(there[number]))]:
                    if place not in there[number]:
                        there[number].add(place)
                        evidence.append(_evidence(number, row, place))
        act.update_each("memory", updates)
        act.insert_many("evidence", evidence)

    def _known(self, act: Act, keys: Sequence[_Key]) -> dict[_Key, int]:
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
                for key, number in act.query(
                    "SELECT key, id FROM memory WHERE project_id = ? AND kind = ? AND type = ?"
                    f" AND key IN ({','.join('?' * len(chunk))})",
                    (self._project_id, kind, type_, *chunk),
                ):
                    found[kind, type_, key] = number
        return found

    def _places(self, act: Act, rows: Sequence[CleanRow]) -> list[Place]:
        """The record of each row, and its span there; records that the store lacks are written."""
        whole = self._records(act, [each.row.record for each in rows])
        parts = self._records(act, [excerpt_key(each.row) for each in rows])
        sources = self._sources_of(act, rows)
        first = act.next_id("record")
        numbers = {key: number for key, (number, _) in parts.items()}
        new: list[Image] = []
        places: list[Place] = []
        for each in rows:
            row = each.row
            found = whole.get(row.record)
            if found is not None and row.span_end <= found[1]:
                places.append((found[0], row.span_start, row.span_end))
                continue
            start, end = span_in_excerpt(each)
            if (key := excerpt_key(row)) not in numbers:
                numbers[key] = first + len(new)
                new.append(
                    {
                        **record_of(row, start),
                        "project_id": self._project_id,
                        "source_id": sources[row.path],
                        "wave_id": self._number,
                    }
                )
            places.append((numbers[key], start, end))
        act.insert_many("record", new)
        return places

    def _records(self, act: Act, keys: Sequence[str]) -> _Records:
        """Those of the records that the project has."""
        found: _Records = {}
        for chunk in chunks(sorted(set(keys))):  # in the order of the index, page by page
            for key, number, size in act.query(
                "SELECT key, id, length(text) FROM record WHERE project_id = ? AND key IN"
                f" ({','.join('?' * len(chunk))})",
                (self._project_id, *chunk),
            ):
                found[key] = (number, size)
        return found

    def _sources_of(self, act: Act, rows: Sequence[CleanRow]) -> dict[str, int]:
        """The sources of these rows; those that the project lacks are written."""
        if len(self._sources) > MOST_SOURCES:
            self._sources.clear()
        missing = {
            each.row.path: each.row.format for each in rows if each.row.path not in self._sources
        }
        for chunk in chunks(list(missing)):
            for path, number in act.query(
                "SELECT path, id FROM source WHERE project_id = ? AND path IN"
                f" ({','.join('?' * len(chunk))})",
                (self._project_id, *chunk),
            ):
                self._sources[path] = number
                del missing[path]
        unread = -1  # its size and its time: it was not read into this store
        new = act.insert_many(
            "source",
            [
                {
                    "project_id": self._project_id,
                    "path": path,
                    "format": format_,
                    "bytes": unread,
                    "modified_ns": unread,
                    "wave_id": self._number,
                    "tally": "{}",
                }
                for path, format_ in missing.items()
            ],
        )
        self._sources.update(zip(missing, new, strict=True))
        return self._sources


def _evidence(number: int, row: Row, place: Place) -> Image:
    record, start, end = place
    return {
        "memory_id": number,
        "record_id": record,
        "span_start": start,
        "span_end": end,
        "rule": row.rule,
        "extractor_version": row.extractor_version,
    }


def _title(wave: int) -> str:
    """What the titles of an import's acts begin with."""
    return f"Imported into wave {wave}:"
