"""Bringing things in: ingestion waves, what waits beyond the cap, and made-up candidates."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from reviewer.clock import Clock, iso
from reviewer.errors import Breakable, ConflictError, StoreError
from reviewer.extraction.candidates import Candidate, MemoryType
from reviewer.extraction.entities.entity import EntityCandidate, EntityType
from reviewer.extraction.ranking import CAP, Ranking
from reviewer.promotion.enqueue import Known, queue_new
from reviewer.promotion.report import OverCap, over_cap
from reviewer.promotion.seed import Seeder
from reviewer.promotion.stored_pass import StoredPass
from reviewer.promotion.structure import Structure
from reviewer.promotion.triage import Done
from reviewer.promotion.wave import Wave
from reviewer.promotion.wave_report import Progress, WaveReport
from reviewer.sources.records import Record, Role
from reviewer.store.database import Database, failures_as_sentences
from reviewer.store.ledger import Act, Ledger, Scope


class _Waiting(Struct, frozen=True):
    """A candidate beyond the cap, with the wave that proposed it."""

    wave: int
    project_id: int
    candidate: OverCap


class Intake:
    """What fills the queue. Nothing here decides anything."""

    def __init__(self, database: Database, ledger: Ledger, clock: Clock) -> None:
        self._database = database
        self._ledger = ledger
        self._clock = clock

    def ingest(
        self,
        paths: Sequence[Path],
        *,
        project: str,
        progress: Callable[[Progress], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
        breakable: Breakable | None = None,
        extract: bool = True,
    ) -> WaveReport:
        """Read files and folders as one wave and queue the best of what they propose.

        Without `extract` only the records are kept (L0); `extract_stored` proposes from them later.
        `cancelled` is asked between batches; what was read until then is kept and queued, and the
        wave is `interrupted`. What takes long in between happens in `breakable` blocks.

        Raises SourceError for a path that does not exist, StoreError when the store or the report
        cannot be written.
        """
        wave = Wave(self._database, self._ledger, self._clock)
        return wave.run(
            paths,
            project,
            progress or _no_progress,
            cancelled or _never,
            breakable=breakable or nullcontext,
            extract=extract,
        )

    def extract_stored(
        self,
        *,
        project: str,
        record: str | None = None,
        source: Path | None = None,
        wave: int | None = None,
    ) -> WaveReport:
        """Propose from stored records: those of just one of `record`, `source` and `wave`.

        Raises UnknownIdError when it holds none.
        """
        stored = StoredPass(self._database, self._ledger, self._clock)
        if record is not None:
            return stored.run(project, "record", record)
        if source is not None:
            return stored.run(project, "source", os.path.abspath(source))
        return stored.run(project, "wave", wave)

    def more(self, *, project: str | None = None, limit: int = CAP) -> Done:
        """Queue the best of what waits beyond the cap of earlier waves.

        Raises ConflictError when nothing waits there, StoreError when a report is gone.
        """
        waiting, failures = self._beyond_cap(project)
        now = iso(self._clock())
        ids: list[int] = []
        left = Counter(item.wave for item in waiting)
        with self._ledger.act("queue more", scope=Scope.INTAKE) as act:
            for item in waiting:
                if len(ids) >= limit:
                    break
                left[item.wave] -= 1
                ids += queue_new(
                    act,
                    Known(self._database, item.project_id),
                    [_as_ranking(item.candidate)],
                    project_id=item.project_id,
                    wave_id=item.wave,
                    now=now,
                )
            if not ids:
                raise ConflictError(" ".join(["Nothing waits beyond the cap.", *failures]))
            for wave, count in left.items():
                _count_down(act, wave, count)
            act.title = f"Queued {len(ids)} more from beyond the cap"
        title = f"{act.title}. {' '.join(failures)}" if failures else act.title
        return Done(act.id, title, tuple(ids))

    def seed(self, count: int, *, project: str = "seed") -> Done:
        """Queue made-up candidates."""
        return Seeder(self._ledger, self._clock).seed(count, project=project)

    def _beyond_cap(self, project: str | None) -> tuple[list[_Waiting], list[str]]:
        """What waits, best first, and what could not be read."""
        sql = (
            "SELECT w.id, w.project_id, w.report_folder FROM wave w"
            " JOIN project p ON p.id = w.project_id"
            " WHERE json_extract(w.counts, '$.over_cap_left') > 0 AND (?1 IS NULL OR p.name = ?1)"
        )
        with failures_as_sentences(self._database.path):
            waves = self._database.reader().execute(sql, (project,)).fetchall()
        waiting: list[_Waiting] = []
        failures: list[str] = []
        for row in waves:
            try:
                found = list(over_cap(Path(row["report_folder"])))
            except StoreError as problem:
                failures.append(str(problem))
                continue
            waiting += [_Waiting(row["id"], row["project_id"], item) for item in found]
        waiting.sort(key=lambda item: -item.candidate.rank)
        return waiting, failures


def _count_down(act: Act, wave: int, left: int) -> None:
    (counts,) = act.query("SELECT counts FROM wave WHERE id = ?", (wave,))[0]
    values = msgspec.json.decode(counts, type=dict[str, Any])
    values["over_cap_left"] = left
    act.update("wave", wave, counts=msgspec.json.encode(values).decode())


def _as_ranking(item: OverCap) -> Ranking:
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


def _no_progress(_: Progress) -> None:
    """Nobody looks."""


def _never() -> bool:
    return False
