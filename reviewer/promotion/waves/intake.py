"""Fills the queue: ingestion waves, extraction from stored records, candidates beyond the cap, and
generated candidates.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from reviewer.clock import Clock, iso
from reviewer.errors import Breakable, ConflictError, UnknownIdError
from reviewer.extraction.candidates import Setting
from reviewer.extraction.ranking import CAP
from reviewer.promotion.lists.beyond_cap import BeyondCap
from reviewer.promotion.rows.enqueue import queue_rows
from reviewer.promotion.rows.evidence_rows import record_of, wave_row
from reviewer.promotion.rows.known_facts import KnownFacts
from reviewer.promotion.rows.known_rows import look_up
from reviewer.promotion.views import Done
from reviewer.promotion.waves.candidate_collector import CandidateCollector
from reviewer.promotion.waves.expiry import propose_retirements
from reviewer.promotion.waves.faults import is_of_a_file, reason_of_fault
from reviewer.promotion.waves.finish_wave import finish_wave
from reviewer.promotion.waves.report import (
    ReportFolder,
    WaveProgress,
    WaveReport,
)
from reviewer.promotion.waves.seed import Seeder
from reviewer.promotion.waves.wave import Wave
from reviewer.sources.records import Record
from reviewer.store.acts import Act, Scope
from reviewer.store.changes import Value
from reviewer.store.database import Database, failures_as_sentences
from reviewer.store.ledger import Ledger


class Intake:
    """Fills the queue; decides nothing."""

    def __init__(self, database: Database, ledger: Ledger, clock: Clock) -> None:
        self._database = database
        self._ledger = ledger
        self._clock = clock

    def ingest(
        self,
        paths: Sequence[Path],
        *,
        project: str,
        progress: Callable[[WaveProgress], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
        breakable: Breakable | None = None,
        extract: bool = True,
        sessions: Mapping[Path, frozenset[str]] | None = None,
    ) -> WaveReport:
        """Read files and folders as one wave and queue the best candidates.

        Without `extract`, only the records are stored (L0), for `extract_stored`. `cancelled` is
        called between batches; if true, everything read so far is stored and queued, and the wave
        is `interrupted`. Long steps in between are `breakable` blocks. `sessions`: the only ones to
        read from files with sessions of several projects.

        Raises SourceError for a path that does not exist, StoreError if the store or the report
        cannot be written.
        """
        wave = Wave(
            self._database,
            self._ledger,
            self._clock,
            progress=progress or (lambda _: None),
            cancelled=cancelled or (lambda: False),
            breakable=breakable or nullcontext,
            extract=extract,
            sessions=sessions,
        )
        report = wave.run(paths, project)
        if report.state == "done":
            report.retiring = propose_retirements(self._ledger, self._clock, project)
        return report

    def extract_stored(
        self,
        *,
        project: str,
        record: str | None = None,
        source: Path | None = None,
        wave: int | None = None,
    ) -> WaveReport:
        """Propose from stored records: those of exactly one of `record`, `source` and `wave`.

        Raises UnknownIdError if there are none.
        """
        stored = StoredPass(self._database, self._ledger, self._clock)
        if record is not None:
            return stored.run(project, "record", record)
        if source is not None:
            return stored.run(project, "source", os.path.abspath(source))
        return stored.run(project, "wave", wave)

    def more(self, *, project: str | None = None, limit: int = CAP) -> Done:
        """Queue the best candidates beyond the cap of earlier waves.

        Raises ConflictError if there are none, StoreError if a report is missing.
        """
        waiting, waves, failures = BeyondCap(self._database).waiting(project)
        if not waves:
            raise ConflictError(" ".join(["Nothing waits beyond the cap.", *failures]))
        left = Counter(item.wave for item in waiting)
        ids: list[int] = []
        with self._ledger.act("queue more") as act:
            for item in waiting:
                if len(ids) >= limit:
                    break
                left[item.wave] -= 1
                kind, _, _ = item.key[1]
                if look_up(act, item.project_id, kind, str(item.row.columns["content"])).row:
                    continue
                ids += queue_rows(
                    act,
                    [item.row],
                    project_id=item.project_id,
                    wave_id=item.wave,
                    now=iso(self._clock()),
                )
            for number in waves:
                _count_down(act, number, left[number])
            act.title = f"Queued {len(ids)} more from beyond the cap"
        return Done(act.id, ". ".join([act.title, *failures]), tuple(ids))

    def seed(self, count: int, *, project: str = "seed") -> Done:
        """Queue generated candidates."""
        return Seeder(self._ledger, self._clock).seed(count, project=project)


def _count_down(act: Act, wave: int, left: int) -> None:
    (counts,) = act.query("SELECT counts FROM wave WHERE id = ?", (wave,))[0]
    values = msgspec.json.decode(counts, type=dict[str, Any])
    values["over_cap_left"] = left
    act.update("wave", wave, counts=msgspec.json.encode(values).decode())


_SCOPES = {
    "record": "r.key = ?",
    "source": "s.path = ?",
    "wave": "r.wave_id = ?",
}


class _Origin(NamedTuple):
    """The source of a record, and when it was last changed."""

    path: str
    updated: datetime | None


class StoredPass:
    """Runs the extractors over stored records again.

    A different wording by a newer extractor becomes a new candidate beside the old one, which is
    never rewritten (`docs/design.md`, Promotion); the same wording is seen again.
    """

    def __init__(self, database: Database, ledger: Ledger, clock: Clock) -> None:
        self._database = database
        self._ledger = ledger
        self._clock = clock

    def run(self, project: str, scope: str, value: Value) -> WaveReport:
        """Extract from one `record` (by its id), `source` (by its path) or `wave` (by its number).

        Raises UnknownIdError if it has no record, StoreError if the store cannot be written.
        """
        records = list(self._records(project, scope, value))
        if not records:
            if scope == "wave" and isinstance(value, int):
                self._database.require_own("wave", [value])
            raise UnknownIdError(f"{project} has no record of {scope} {value}.")
        wave, project_id = self._start(project, scope, value)
        known = KnownFacts(self._database, project)
        report = WaveReport(wave=wave, project=project, records=len(records))
        with ReportFolder(self._database.path, wave) as folder:
            collector = CandidateCollector(folder.drop)
            for (path, updated), of_source in groupby(records, key=itemgetter(0)):
                report.files += 1
                setting = Setting(path=path, now=self._clock(), updated=updated)
                found = collector.of_a_file()
                try:
                    found.take((record for _, record in of_source), setting)
                    if scope != "record" and os.path.exists(path):
                        found.propose(setting, known)
                except Exception as problem:  # the other sources are still extracted
                    if not is_of_a_file(problem):
                        raise
                    folder.error(f"{path}: {reason_of_fault(problem)}")
                else:
                    collector.add(found)
            verb = "Extracted again from"
            finish_wave(self._ledger, self._clock, project_id, collector, folder, report, verb=verb)
        return report

    def _start(self, project: str, scope: str, value: Value) -> tuple[int, int]:
        with self._ledger.act(
            "wave", f"Started extracting {scope} {value}", scope=Scope.INTAKE
        ) as act:
            project_id = act.query("SELECT id FROM project WHERE name = ?", (project,))[0][0]
            now = iso(self._clock())
            return wave_row(act, project_id, [f"{scope} {value}"], now, reading=True), project_id

    def _records(self, project: str, scope: str, value: Value) -> Iterator[tuple[_Origin, Record]]:
        sql = (
            "SELECT r.*, s.path, s.modified_ns FROM record r JOIN source s ON s.id = r.source_id"
            " JOIN project p ON p.id = r.project_id"
            f" WHERE p.name = ? AND {_SCOPES[scope]} ORDER BY r.source_id, r.line_start, r.id"
        )
        with failures_as_sentences(self._database.path):
            for row in self._database.reader().execute(sql, (project, value)):
                changed = row["modified_ns"]
                updated = datetime.fromtimestamp(changed / 1e9, UTC) if changed > 0 else None
                yield (
                    _Origin(row["path"], updated),
                    record_of(row, Record),
                )
