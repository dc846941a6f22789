"""The candidates of a job as one wave of the queue, written in acts of limited size."""

from __future__ import annotations

import hashlib
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct, structs

from reviewer.clock import Clock, iso, written_moment
from reviewer.errors import UnknownIdError
from reviewer.extraction.candidates import MemoryType
from reviewer.extraction.entities.entity import Attribute, EntityType, Relation
from reviewer.extraction.flags import flags_of
from reviewer.extraction.rejections import LONGEST, SHORTEST
from reviewer.files import open_file, reason_of
from reviewer.fleet.collapse import CANDIDATE
from reviewer.fleet.values import LAYOUT, FleetError, Settings, extra
from reviewer.promotion.conflict_rows import open_conflicts
from reviewer.promotion.decided_rows import find_conflicts_again
from reviewer.promotion.evidence_rows import MOST_EVIDENCE
from reviewer.proposing.values import Proof, Proposer
from reviewer.sources.elsewhere import EXCERPT_AT, RECORD_LINE
from reviewer.sources.records import Role, Shape, Use
from reviewer.store.acts import Act, Scope, chunks
from reviewer.store.changes import Image
from reviewer.store.database import Database, failures_as_sentences
from reviewer.store.ledger import Ledger
from reviewer.store.project_rows import project_row
from reviewer.store.stored_text import masked_text
from reviewer.store.undo import Undo
from reviewer.text.normalise import duplicate_key

MOST_ROWS = 50_000
"""Rows that one act changes at most."""
ROWS_AT_ONCE = 2_000
KIND = "fleet import"
CACHE_KILOBYTES = 64_000
PAGES_BETWEEN_CHECKPOINTS = 50_000
MOST_SOURCES = 100_000
HIGHEST_RANK = 0.8085
"""The highest confidence that the formula can give: what a fleet said most often comes first."""

Place = tuple[int, int, int]
"""A record, and a span of its text."""

Share = Annotated[float, Meta(ge=0, le=2)]
Count = Annotated[int, Meta(ge=0, le=2**62)]


class _Candidate(Struct, frozen=True, array_like=True, gc=False):
    """A row of the file, checked."""

    path: Annotated[str, Meta(min_length=1, max_length=4_096)]
    format: str
    kind: Literal["memory", "entity"]
    type: str
    content: Annotated[str, Meta(min_length=SHORTEST, max_length=LONGEST)]
    key: Annotated[str, Meta(min_length=1, max_length=2 * LONGEST)]
    fact: str
    leader: str
    wording: int
    proposer: Proposer
    rule: str
    extractor_version: str
    prior: Share
    signal: Share
    freshness: Share
    confidence: Share
    flags: str
    need: str
    scope: Literal["project", "person"]
    proof: str
    name: str | None
    slot: str | None
    attributes: str | None
    relations: str | None
    record_line: Count
    line_start: Count
    line_end: Count
    byte_start: Count
    byte_end: Count
    record: Annotated[str, Meta(min_length=1, max_length=2_000)]
    sha256: Annotated[str, Meta(max_length=64)]
    session: str | None
    at: str | None
    role: Role
    use: Use
    shape: Shape
    sidechain: bool
    span_start: Count
    span_end: Count
    excerpt: Annotated[str, Meta(max_length=20_000)]
    excerpt_start: Count
    seen: Annotated[int, Meta(ge=1, le=2**62)]


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
        file = _CandidateFile(path, top)
        with self._many_writes():
            wave = _Wave(self._database, self._ledger, self._clock, project, file.count)
            wave.start(path)
            try:
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
        with self._many_writes():
            for number in acts:
                done.append(undo.undo_act(number).act)
                if progress is not None:
                    progress(len(done), len(acts))
        return done

    @contextmanager
    def _many_writes(self) -> Iterator[None]:
        """More pages in memory, and fewer of them written twice, because keys come in no order."""
        writer = self._database.writer
        settings = {"cache_size": -CACHE_KILOBYTES, "wal_autocheckpoint": PAGES_BETWEEN_CHECKPOINTS}
        before = {name: writer.execute(f"PRAGMA {name}").fetchone()[0] for name in settings}
        for name, value in settings.items():
            writer.execute(f"PRAGMA {name} = {value}")
        try:
            yield
        finally:
            for name, value in before.items():
                writer.execute(f"PRAGMA {name} = {value}")


class _CandidateFile:
    """A file of `collapse`, checked as it is read."""

    def __init__(self, path: Path, top: int | None) -> None:
        pq = extra("pyarrow.parquet")
        self._path = path
        try:
            with open_file(path):
                pass
            # One thread and no pre-buffering: a whole group of rows ahead is a lot of memory.
            self._file = pq.ParquetFile(path, pre_buffer=False)
            meta = self._file.schema_arrow.metadata or {}
            settings = msgspec.json.decode(meta[b"reviewer"], type=Settings)
        except OSError as problem:
            raise FleetError(f"{path} cannot be read: {reason_of(problem)}.") from problem
        except (ValueError, KeyError, msgspec.DecodeError) as problem:
            raise FleetError(
                f"{path} is not a file of candidates: write one with `reviewer fleet collapse`."
            ) from problem
        names = set(self._file.schema_arrow.names)
        if settings.layout != LAYOUT or not names >= CANDIDATE.keys():
            raise FleetError(
                f"{path} was written by another version of reviewer. Collapse the parts again."
            )
        total = int(self._file.metadata.num_rows)
        self.count = total if top is None else min(top, total)

    def rows(self) -> Iterator[_Candidate]:
        """The rows in their order. Raises FleetError naming the first one that is not right."""
        pa = extra("pyarrow")
        number = 0
        names = _Candidate.__struct_fields__
        batches = self._file.iter_batches(ROWS_AT_ONCE, columns=list(names), use_threads=False)
        try:
            for batch in batches:
                columns = [batch.column(name).to_pylist() for name in names]
                for values in zip(*columns, strict=True):
                    if number == self.count:
                        return
                    number += 1
                    yield _checked(_clean(msgspec.convert(values, _Candidate)))
        except (pa.ArrowException, msgspec.ValidationError, ValueError, OSError) as problem:
            raise FleetError(
                f"Candidate {number} of {self._path} cannot be imported: {problem}. What was "
                "imported before it stays; `reviewer history` lists it."
            ) from problem


_EMPTY_PROOF = "{}"


def _checked(row: _Candidate) -> _Candidate:
    """The row, if what is text in it is what it should be. Raises ValueError."""
    (MemoryType if row.kind == "memory" else EntityType)(row.type)
    if row.proof != _EMPTY_PROOF:
        msgspec.json.decode(row.proof, type=Proof)
    if row.kind == "entity":
        msgspec.json.decode(row.attributes or "[]", type=tuple[Attribute, ...])
        _relations(row)
    if not row.span_start <= row.span_end:
        raise ValueError("its span ends before it begins")
    return row


def _clean(row: _Candidate) -> _Candidate:
    """The row without secrets, and flagged by what it says: anybody may have written the file."""
    content = masked_text(row.content)
    said = flags_of(content, row.role)
    flags = " ".join(dict.fromkeys((*row.flags.split(), *said)))
    key = row.key if content == row.content else duplicate_key(content)
    return structs.replace(
        row,
        content=content,
        key=key,
        flags=flags,
        name=row.name and masked_text(row.name),
        slot=row.slot and masked_text(row.slot),
        record=_clean_key(row.record),
        session=row.session and masked_text(row.session),
        excerpt=masked_text(row.excerpt),
    )


def _clean_key(key: str) -> str:
    """Two different keys must not become one."""
    if masked_text(key) == key:
        return key
    return f"sha256:{hashlib.sha256(key.encode()).hexdigest()}"


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
        self._new = self._repeated = self._near = 0
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

    def write(self, rows: Iterable[_Candidate]) -> Iterator[int]:
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
            acts=tuple(self._acts),
            seconds=round(time.monotonic() - began, 3),
        )

    def _write(self, act: Act, rows: Sequence[_Candidate]) -> tuple[range, int]:
        now = iso(self._clock())
        known = self._known(act, rows)
        places = self._places(act, rows)
        fresh: list[tuple[_Candidate, Place, float]] = []
        again: dict[int, list[tuple[_Candidate, Place]]] = defaultdict(list)
        in_this_act: set[tuple[str, str, str]] = set()
        for row, place in zip(rows, places, strict=True):
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

    def _insert(self, act: Act, fresh: list[tuple[_Candidate, Place, float]], now: str) -> range:
        first = act.next_id("memory")
        images: list[Image] = []
        for number, (row, _, rank) in enumerate(fresh, first):
            if row.wording != self._wording:
                self._wording = row.wording
                self._leaders.clear()
            leader = self._leaders.get(row.leader) if row.leader else None
            self._near += leader is not None
            self._leaders[row.fact] = number
            images.append(
                {
                    "project_id": self._project_id,
                    "wave_id": self._number,
                    "kind": row.kind,
                    "type": row.type,
                    "content": row.content,
                    "key": row.key,
                    "status": "candidate",
                    "rule": row.rule,
                    "extractor_version": row.extractor_version,
                    "prior": row.prior,
                    "signal": row.signal,
                    "freshness": row.freshness,
                    "confidence": round(row.confidence, 4),
                    "rank": round(rank, 6),
                    "flags": row.flags,
                    "leader_id": leader,
                    "seen": row.seen,
                    "first_seen": now,
                    "last_seen": now,
                    "pending_since": now,
                    "proposer": str(row.proposer),
                    "excerpt": int(row.proposer is Proposer.EXCERPT),
                    "scope": row.scope,
                    "need": row.need,
                    "proof": row.proof,
                }
            )
        new = act.insert_many("memory", images)
        rows = list(zip(new, fresh, strict=True))
        act.insert_many("evidence", [_evidence(to, row, place) for to, (row, place, _) in rows])
        entities = [(number, row) for number, (row, _, _) in rows if row.kind == "entity"]
        self._add_structure(act, entities, now)
        return new

    def _add_structure(
        self, act: Act, entities: Sequence[tuple[int, _Candidate]], now: str
    ) -> None:
        act.insert_many(
            "entity",
            [
                {
                    "memory_id": number,
                    "name": row.name or row.content,
                    "slot": row.slot or "",
                    "attributes": row.attributes or "[]",
                }
                for number, row in entities
            ],
        )
        relations: dict[tuple[int, str, str], Image] = {}
        for number, row in entities:
            for each in _relations(row):
                kind, target = str(each.kind), each.target_name
                relations[number, kind, target] = {
                    "memory_id": number,
                    "kind": kind,
                    "target": target,
                }
        act.insert_many("relation", list(relations.values()))
        open_conflicts(act, [n for n, row in entities if row.slot in self._active_slots], now)

    def _count_again(
        self, act: Act, again: dict[int, list[tuple[_Candidate, Place]]], now: str
    ) -> None:
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
            for number, status, seen, refs in act.query(
                f"SELECT id, status, seen, refs FROM memory WHERE id IN ({marks})", chunk
            ):
                fresh = [each for each in again[number] if each[1] not in there[number]]
                times = sum(row.seen for row, _ in fresh)
                if not times:
                    continue  # this very import was made before
                counted = {"refs": refs + times} if status == "active" else {"seen": seen + times}
                updates.append((number, {**counted, "last_seen": now}))
                for row, place in fresh[: max(0, MOST_EVIDENCE - len(there[number]))]:
                    if place not in there[number]:
                        there[number].add(place)
                        evidence.append(_evidence(number, row, place))
        act.update_each("memory", updates)
        act.insert_many("evidence", evidence)

    def _known(self, act: Act, rows: Sequence[_Candidate]) -> dict[tuple[str, str, str], int]:
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

    def _places(self, act: Act, rows: Sequence[_Candidate]) -> list[Place]:
        """The record of each row, and its span there; records that the store lacks are written."""
        whole = self._records(act, [row.record for row in rows])
        keys = [_key_of_excerpt(row) for row in rows]
        parts = self._records(act, keys)
        places: list[Place | None] = []
        images: dict[str, Image] = {}
        waiting: list[tuple[int, str]] = []
        sources = self._sources_of(act, rows)
        for row, key in zip(rows, keys, strict=True):
            found = whole.get(row.record)
            if found is not None and row.span_end <= found[1]:
                places.append((found[0], row.span_start, row.span_end))
                continue
            start = max(0, row.span_start - row.excerpt_start)
            end = min(len(row.excerpt), row.span_end - row.excerpt_start)
            there = parts.get(key)
            if there is None:
                images.setdefault(key, self._record(row, key, sources[row.path]))
                waiting.append((len(places), key))
            places.append((there[0] if there else 0, start, max(start, end)))
        ids = dict(zip(images, act.insert_many("record", list(images.values())), strict=True))
        for at, key in waiting:
            place = places[at]
            assert place is not None
            places[at] = (ids[key], place[1], place[2])
        return [place for place in places if place is not None]

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

    def _record(self, row: _Candidate, key: str, source: int) -> Image:
        start = row.line_start
        if row.shape is not Shape.TURN:  # its text is its lines, so the first of the excerpt counts
            start -= row.excerpt.count("\n", 0, max(0, row.span_start - row.excerpt_start))
        return {
            "project_id": self._project_id,
            "source_id": source,
            "wave_id": self._number,
            "key": key,
            "line_start": max(0, start),
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
            "meta": f'{{"{EXCERPT_AT}":"{row.excerpt_start}","{RECORD_LINE}":"{row.record_line}"}}',
            "text": row.excerpt,
        }

    def _sources_of(self, act: Act, rows: Sequence[_Candidate]) -> dict[str, int]:
        """The sources of these rows; those that the project lacks are written."""
        if len(self._sources) > MOST_SOURCES:
            self._sources.clear()
        missing = {row.path: row.format for row in rows if row.path not in self._sources}
        for chunk in chunks(list(missing)):
            for path, number in act.query(
                "SELECT path, id FROM source WHERE project_id = ? AND path IN"
                f" ({','.join('?' * len(chunk))})",
                (self._project_id, *chunk),
            ):
                self._sources[path] = number
                del missing[path]
        new = act.insert_many(
            "source",
            [
                {
                    "project_id": self._project_id,
                    "path": path,
                    "format": format_,
                    "bytes": -1,  # it was not read into this store
                    "modified_ns": -1,
                    "wave_id": self._number,
                    "tally": "{}",
                }
                for path, format_ in missing.items()
            ],
        )
        self._sources.update(zip(missing, new, strict=True))
        return self._sources


def _acts(rows: Iterable[_Candidate]) -> Iterator[list[_Candidate]]:
    """The rows in lists, each for one act."""
    part: list[_Candidate] = []
    size = 0
    for row in rows:
        # A memory, its evidence, its record and its source; of an entity, its structure.
        changes = 4 if row.kind == "memory" else 6 + len(_relations(row))
        if part and size + changes > MOST_ROWS:
            yield part
            part, size = [], 0
        part.append(row)
        size += changes
    if part:
        yield part


def _relations(row: _Candidate) -> tuple[Relation, ...]:
    if not row.relations or row.relations == "[]":
        return ()
    return msgspec.json.decode(row.relations, type=tuple[Relation, ...])


def _key_of_excerpt(row: _Candidate) -> str:
    """A record of its own: the whole one may be read into this project later."""
    return f"{row.record}@{row.excerpt_start}+{len(row.excerpt)}"


def _evidence(number: int, row: _Candidate, place: Place) -> Image:
    return {
        "memory_id": number,
        "record_id": place[0],
        "span_start": place[1],
        "span_end": place[2],
        "rule": row.rule,
        "extractor_version": row.extractor_version,
    }


def _title(wave: int) -> str:
    """What the titles of an import's acts begin with."""
    return f"Imported into wave {wave}:"
