"""The candidates of a job as one wave of the queue, written in acts of limited size."""

from __future__ import annotations

import gc
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec import Struct

from reviewer.clock import Clock, iso
from reviewer.errors import UnknownIdError
from reviewer.fleet.candidate_file import MEMORY, RECORD, RULE, Candidate, CandidateFile
from reviewer.fleet.values import FleetError
from reviewer.promotion.conflict_rows import open_conflicts
from reviewer.promotion.decided_rows import find_conflicts_again
from reviewer.promotion.evidence_rows import MOST_EVIDENCE
from reviewer.store.acts import Act, Scope, chunks
from reviewer.store.changes import Image
from reviewer.store.database import Database, failures_as_sentences
from reviewer.store.ledger import Ledger
from reviewer.store.project_rows import project_row
from reviewer.store.stored_text import Stored, StoredText
from reviewer.store.undo import Undo
from reviewer.text.normalise import duplicate_key

MOST_ROWS = 50_000
"""Rows that one act changes at most."""
KIND = "fleet import"
CACHE_KILOBYTES = 64_000
PAGES_BETWEEN_CHECKPOINTS = 50_000
MOST_SOURCES = 100_000
HIGHEST_RANK = 0.8085
"""The highest confidence that the formula can give: what a fleet said most often comes first."""

Place = tuple[int, int, int]
"""A record, and a span of its text."""

_MEMORY = (
    *MEMORY, "project_id", "wave_id", "status", "rank", "leader_id", "first_seen", "last_seen",
    "pending_since",
)  # fmt: skip
_RECORD = (*RECORD, "project_id", "source_id", "wave_id")
_EVIDENCE = (
    "memory_id", "record_id", "span_start", "span_end", "rule", "extractor_version",
)  # fmt: skip


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
        wave = _Wave(self._database, self._ledger, self._clock, project, file.count)
        wave.start(path)
        try:
            # Not each act is on the disk before the next one: the last one of the wave waits for
            # all of them, and if the power fails before, the import is made again. What is written
            # was checked when the file was read.
            with (
                self._many_writes(synchronous=1, ignore_check_constraints=1),
                _without_collections(),
            ):
                for done in wave.write(file.rows()):
                    if progress is not None:
                        progress(done, file.count)
                    if cancelled is not None and cancelled():
                        wave.interrupted = True
                        break
        except FleetError:
            wave.interrupted = True
            wave.finish(began)
            raise
        return wave.finish(began)

    def acts_of(self, wave: int) -> list[int]:
        """The acts of an import that are not undone, the latest first.

        Raises UnknownIdError when the wave is no import.
        """
        self._database.require_own("wave", [wave])
        with failures_as_sentences(self._database.path):
            rows = self._database.writer.execute(
                "SELECT id, EXISTS (SELECT 1 FROM ledger u WHERE u.target = l.id AND u.kind ="
                " 'undo' AND NOT EXISTS (SELECT 1 FROM ledger r WHERE r.target = u.id AND r.kind ="
                " 'redo')) FROM ledger l WHERE l.kind = ? AND l.title LIKE ? ORDER BY id DESC",
                (KIND, f"{_title(wave)}%"),
            ).fetchall()
        if not rows:
            raise UnknownIdError(f"Wave {wave} is not an import of `reviewer fleet import`.")
        return [number for number, undone in rows if not undone]

    def undo(self, wave: int, progress: Callable[[int, int], None] | None = None) -> list[int]:
        """Take back every act of an import, the latest first; returns the acts that did it.

        Raises ConflictError when something of it was decided on since: what was taken back until
        then stays so, and the message names the act in the way.
        """
        acts = self.acts_of(wave)
        undo = Undo(self._database, self._ledger, find_conflicts_again(self._clock))
        done: list[int] = []
        with self._many_writes(), _without_collections():
            for number in acts:
                done.append(undo.undo_act(number).act)
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
        title = f"Started importing for {self._project}"
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

    def write(self, rows: Iterable[Candidate]) -> Iterator[int]:
        """Write all rows; yields after each act how many are done."""
        for part in _acts(rows):
            with self._ledger.act(KIND, scope=Scope.INTAKE) as act:
                new, repeated = self._write(act, part)
                act.title = f"{_title(self._number)} {len(new):,} new, {repeated:,} seen before"
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
            seconds=round(time.monotonic() - began, 3),
        )

    def _write(self, act: Act, rows: Sequence[Candidate]) -> tuple[range, int]:
        now = StoredText(iso(self._clock()))
        known = self._known(act, rows)
        places = self._places(act, rows)
        fresh: list[tuple[Candidate, Place, float]] = []
        again: dict[int, list[tuple[Candidate, Place]]] = defaultdict(list)
        in_this_act: set[tuple[str, str, str]] = set()
        for row, place in zip(rows, places, strict=True):
            self._masked += row.masked
            rank = HIGHEST_RANK * (1 - self._position / self._total)
            self._position += 1
            key = (row.kind, row.type, row.key)
            number = known.get(key)
            if number is not None:
                again[number].append((row, place))
            elif key not in in_this_act:  # else the file has it twice
                in_this_act.add(key)
                fresh.append((row, place, rank))
        new = self._insert(act, fresh, now)
        self._count_again(act, again, now)
        return new, len(rows) - len(fresh)

    def _insert(
        self, act: Act, fresh: list[tuple[Candidate, Place, float]], now: StoredText
    ) -> range:
        first = act.next_id("memory")
        rows: list[tuple[Stored, ...]] = []
        status = StoredText("candidate")
        for number, (row, _, rank) in enumerate(fresh, first):
            if row.wording != self._wording:
                self._wording = row.wording
                self._leaders.clear()
            leader = self._leaders.get(row.leader) if row.leader else None
            self._near += leader is not None
            self._leaders[row.fact] = number
            rows.append(
                (
                    *row.memory,
                    self._project_id,
                    self._number,
                    status,
                    round(rank, 9),  # else some of a million have the same
                    leader,
                    now,
                    now,
                    now,
                )
            )
        new = act.insert_rows("memory", _MEMORY, rows)
        ids = list(zip(new, fresh, strict=True))
        act.insert_rows("evidence", _EVIDENCE, [_evidence(to, row, at) for to, (row, at, _) in ids])
        self._add_structure(act, [(to, row) for to, (row, _, _) in ids if row.entity], now)
        return new

    def _add_structure(self, act: Act, entities: Sequence[tuple[int, Candidate]], now: str) -> None:
        found = [(number, row.entity) for number, row in entities if row.entity is not None]
        act.insert_rows(
            "entity",
            ("memory_id", "name", "slot", "attributes"),
            [(number, each.name, each.slot, each.attributes) for number, each in found],
        )
        act.insert_rows(
            "relation",
            ("memory_id", "kind", "target"),
            [(number, *relation) for number, each in found for relation in each.relations],
        )
        slots = self._active_slots
        open_conflicts(act, [number for number, each in found if each.slot in slots], now)

    def _count_again(
        self, act: Act, again: dict[int, list[tuple[Candidate, Place]]], now: str
    ) -> None:
        """Candidates that the project has count as seen, with their place as evidence."""
        updates: list[tuple[int, Image]] = []
        evidence: list[tuple[Stored, ...]] = []
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
        act.insert_rows("evidence", _EVIDENCE, evidence)

    def _known(self, act: Act, rows: Sequence[Candidate]) -> dict[tuple[str, str, str], int]:
        """The rows of the project that say what these say, by kind, type and key."""
        found: dict[tuple[str, str, str], int] = {}
        by_type: dict[tuple[str, str], list[str]] = defaultdict(list)
        for row in rows:
            by_type[row.kind, row.type].append(row.key)
            if (changed := self._reworded.get(row.key)) is not None:
                found[row.kind, row.type, row.key] = changed
        for (kind, type_), keys in by_type.items():
            for chunk in chunks(sorted(keys)):  # in the order of the index, page by page
                for key, number in act.query(
                    "SELECT key, id FROM memory WHERE project_id = ? AND kind = ? AND type = ?"
                    f" AND key IN ({','.join('?' * len(chunk))})",
                    (self._project_id, kind, type_, *chunk),
                ):
                    found[kind, type_, key] = number
        return found

    def _places(self, act: Act, rows: Sequence[Candidate]) -> list[Place]:
        """The record of each row, and its span there; records that the store lacks are written."""
        whole = self._records(act, [row.record for row in rows])
        parts = self._records(act, [row.excerpt for row in rows])
        sources = self._sources_of(act, rows)
        first = act.next_id("record")
        fresh: dict[str, int] = {}
        texts: list[tuple[Stored, ...]] = []
        places: list[Place] = []
        for row in rows:
            found = whole.get(row.record)
            if found is not None and row.span_end <= found[1]:
                places.append((found[0], row.span_start, row.span_end))
                continue
            if (there := parts.get(row.excerpt)) is not None:
                number = there[0]
            elif (number := fresh.get(row.excerpt, 0)) == 0:
                number = fresh[row.excerpt] = first + len(texts)
                texts.append((*row.text, self._project_id, sources[row.path], self._number))
            places.append((number, row.start, row.end))
        act.insert_rows("record", _RECORD, texts)
        return places

    def _records(self, act: Act, keys: Sequence[str]) -> dict[str, tuple[int, int]]:
        """The records that the project has, by key: id and characters."""
        found: dict[str, tuple[int, int]] = {}
        for chunk in chunks(sorted(set(keys))):  # in the order of the index, page by page
            for key, number, size in act.query(
                "SELECT key, id, length(text) FROM record WHERE project_id = ? AND key IN"
                f" ({','.join('?' * len(chunk))})",
                (self._project_id, *chunk),
            ):
                found[key] = (number, size)
        return found

    def _sources_of(self, act: Act, rows: Sequence[Candidate]) -> dict[str, int]:
        """The sources of these rows; those that the project lacks are written."""
        if len(self._sources) > MOST_SOURCES:
            self._sources.clear()
        missing = {row.path: row.format for row in rows if row.path not in self._sources}
        none = StoredText("{}")
        for chunk in chunks(list(missing)):
            for path, number in act.query(
                "SELECT path, id FROM source WHERE project_id = ? AND path IN"
                f" ({','.join('?' * len(chunk))})",
                (self._project_id, *chunk),
            ):
                self._sources[path] = number
                del missing[path]
        unread = -1  # its size and its time: it was not read into this store
        new = act.insert_rows(
            "source",
            ("project_id", "path", "format", "bytes", "modified_ns", "wave_id", "tally"),
            [
                (
                    self._project_id,
                    StoredText(path),
                    StoredText(format_),
                    unread,
                    unread,
                    self._number,
                    none,
                )
                for path, format_ in missing.items()
            ],
        )
        self._sources.update(zip(missing, new, strict=True))
        return self._sources


@contextmanager
def _without_collections() -> Iterator[None]:
    """Python looks for objects that refer to themselves, which takes long and finds none here."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _acts(rows: Iterable[Candidate]) -> Iterator[list[Candidate]]:
    """The rows in lists, each for one act."""
    part: list[Candidate] = []
    size = 0
    for row in rows:
        # A memory, its evidence, its record and its source; of an entity, its structure.
        changes = 4 if row.entity is None else 6 + len(row.entity.relations)
        if part and size + changes > MOST_ROWS:
            yield part
            part, size = [], 0
        part.append(row)
        size += changes
    if part:
        yield part


def _evidence(number: int, row: Candidate, place: Place) -> tuple[Stored, ...]:
    return (number, *place, *row.memory[RULE])


def _title(wave: int) -> str:
    """What the titles of an import's acts begin with."""
    return f"Imported into wave {wave}:"
