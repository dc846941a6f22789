"""Extraction on request, from records that the store holds: one record, a source, or a wave."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import msgspec

from reviewer.clock import Clock, iso
from reviewer.errors import UnknownIdError
from reviewer.extraction.candidates import Setting
from reviewer.promotion.candidate_collector import CandidateCollector
from reviewer.promotion.finish_wave import Queued, finish_wave
from reviewer.promotion.report import ReportFolder
from reviewer.promotion.wave_report import WaveReport
from reviewer.sources.records import Record, Role, Shape, Use
from reviewer.store.changes import Value
from reviewer.store.database import Database, failures_as_sentences
from reviewer.store.ledger import Ledger, Scope

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

    What a newer extractor words differently becomes a new candidate beside the old one, which is
    never rewritten (`promotion-rules.md`, Extractor versioning); the same wording is seen again.
    """

    def __init__(self, database: Database, ledger: Ledger, clock: Clock) -> None:
        self._database = database
        self._ledger = ledger
        self._clock = clock

    def run(self, project: str, scope: str, value: Value) -> WaveReport:
        """Extract from one `record` (by its id), `source` (by its path) or `wave` (by its number).

        Raises UnknownIdError when it holds no record, StoreError when the store cannot be written.
        """
        began = time.monotonic()
        records = list(self._records(project, scope, value))
        if not records:
            if scope == "wave" and isinstance(value, int):
                self._database.require_own("wave", [value])
            raise UnknownIdError(f"{project} has no record of {scope} {value}.")
        wave, project_id = self._start(project, scope, value)
        report = ReportFolder(self._database.path, wave)
        collector = CandidateCollector(report.drop, report.overflow)
        try:
            for (path, updated), of_source in groupby(records, key=itemgetter(0)):
                setting = Setting(path=path, now=self._clock(), updated=updated)
                collector.take((record for _, record in of_source), setting)
            return finish_wave(
                self._database,
                self._ledger,
                self._clock,
                collector=collector,
                report=report,
                wave=wave,
                project_id=project_id,
                sum_up=lambda queued: _summary(
                    wave, project, records, collector, queued, report.path, began
                ),
                verb="Extracted again from",
            )
        except BaseException:
            report.abandon()
            raise

    def _start(self, project: str, scope: str, value: Value) -> tuple[int, int]:
        with self._ledger.act(
            "wave", f"Started extracting {scope} {value}", scope=Scope.INTAKE
        ) as act:
            project_id = act.query("SELECT id FROM project WHERE name = ?", (project,))[0][0]
            wave = act.insert(
                "wave",
                project_id=project_id,
                started_at=iso(self._clock()),
                state="reading",
                roots=msgspec.json.encode([f"{scope} {value}"]).decode(),
            )
        return wave, project_id

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
                    Record(
                        key=row["key"],
                        line_start=row["line_start"],
                        line_end=row["line_end"],
                        byte_start=row["byte_start"],
                        byte_end=row["byte_end"],
                        sha256=row["sha256"],
                        role=Role(row["role"]),
                        text=row["text"],
                        use=Use(row["use"]),
                        shape=Shape(row["shape"]),
                        at=row["at"],
                        session=row["session"],
                        sidechain=bool(row["sidechain"]),
                        headings=msgspec.json.decode(row["headings"], type=tuple[str, ...]),
                        meta=msgspec.json.decode(row["meta"], type=dict[str, str]),
                    ),
                )


def _summary(
    wave: int,
    project: str,
    records: list[tuple[_Origin, Record]],
    collector: CandidateCollector,
    queued: Queued,
    folder: Path,
    began: float,
) -> WaveReport:
    return WaveReport(
        wave=wave,
        project=project,
        state="done",
        files=len({origin.path for origin, _ in records}),
        unchanged=0,
        bytes=0,
        records=len(records),
        fresh=0,
        skipped=0,
        new=queued.new,
        repeated=queued.repeated,
        near=queued.near,
        over_cap=queued.over_cap,
        over_cap_left=queued.over_cap,
        masked=0,
        kept_out={},
        skipped_by={},
        passed_over={},
        dropped=dict(collector.dropped),
        rules=queued.rules,
        errors=0,
        report_folder=str(folder),
        seconds=round(time.monotonic() - began, 3),
    )
