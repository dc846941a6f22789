"""Finishes a wave: queues its best candidates, reports the rest, and closes it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct, structs

from reviewer.clock import Clock, iso
from reviewer.extraction.ranking import CAP
from reviewer.promotion.rows.enqueue import KnownRows, NewRow, count_again, queue_rows
from reviewer.promotion.rows.finding_rows import came_up_again, keep
from reviewer.promotion.rows.statement_rows import write
from reviewer.promotion.waves.candidate_collector import CandidateCollector
from reviewer.promotion.waves.faults import is_of_a_file
from reviewer.promotion.waves.findings import in_a_line, propose
from reviewer.promotion.waves.report import ReportFolder, WaveReport
from reviewer.sessions.findings import Finding
from reviewer.store.acts import AMONG, Act, Scope, listed
from reviewer.store.database import Database
from reviewer.store.ledger import Ledger
from reviewer.text.numerals import count

MAX_RECURRING = 20
"""Recurring findings listed in the report."""


class WaveEnd(Struct, frozen=True):
    """The collected results of a wave, to be queued as one act."""

    database: Database
    ledger: Ledger
    clock: Clock
    wave: int
    project_id: int

    def queue(
        self,
        collector: CandidateCollector,
        report: ReportFolder,
        summary: WaveReport,
        *,
        began: float,
        verb: str = "Ingested",
        findings: Iterable[tuple[Path, Sequence[Finding]]] = (),
        only: Mapping[Path, frozenset[str]] = MappingProxyType({}),
    ) -> WaveReport:
        """Queue the best candidates, write the report folder, and end the wave.

        `summary`: counts from reading. `began`: by the monotonic clock. `findings`: by file;
        `only`: sessions of a file that were read, by default all. `verb` begins the act's title.
        Raises StoreError if the store or the report cannot be written; then nothing is queued.
        """
        with self.ledger.act("ingest", scope=Scope.INTAKE) as act:
            rows = self._rows(act, collector)
            found = keep(act, self.project_id, findings, only)
            now = iso(self.clock())
            recurring = propose(act, self.project_id, self.wave, found, now=now)
            again = came_up_again(act, self.project_id, found, MAX_RECURRING)
            ids = [*rows.ids, *recurring]
            for row in rows.beyond_cap:
                report.drop(row)
            over_cap = len(rows.beyond_cap) + collector.overflowed
            summary = structs.replace(
                summary,
                new=len(ids),
                repeated=rows.repeated,
                near=_count_near(act, ids),
                over_cap=over_cap,
                over_cap_left=over_cap,
                rules=dict(rows.rules + Counter(finding=len(recurring))),
                findings=len(found),
                again=tuple(map(in_a_line, again)),
                dropped=dict(collector.dropped),
                errors=report.errors,
                report_folder=str(report.path),
                seconds=round(time.monotonic() - began, 3),
            )
            report.candidates(_queued(act, ids))
            act.update(
                "wave",
                self.wave,
                state=summary.state,
                ended_at=now,
                report_folder=summary.report_folder,
                counts=msgspec.json.encode(summary.to_json()).decode(),
            )
            report.close(summary)
            act.title = f"{verb} {count(summary.files, 'file')}: {count(len(ids), 'candidate')}"
        return summary

    def faults(self, collector: CandidateCollector) -> dict[Path, Exception]:
        """The files that cannot be queued, each with its error; nothing is kept."""
        found: dict[Path, Exception] = {}
        for path in collector.sources():
            try:
                with (
                    suppress(_RehearsedError),
                    self.ledger.act("ingest", scope=Scope.INTAKE) as act,
                ):
                    self._rows(act, collector.of(str(path)))
                    raise _RehearsedError
            except Exception as problem:
                if not is_of_a_file(problem):
                    raise
                found[path] = problem
        return found

    def _rows(self, act: Act, collector: CandidateCollector) -> _Rows:
        """Write the waiting rows: new statements first, then candidates, up to the cap."""
        known, now = KnownRows(act, self.project_id), iso(self.clock())
        ranked = collector.ranked(known)
        statements = collector.statements
        written = write(act, self.project_id, lambda: self.wave, statements, now=now)
        kept = ranked.kept[: CAP - len(written.new)]
        ids = queue_rows(
            act,
            list(map(NewRow.of, kept)),
            project_id=self.project_id,
            wave_id=self.wave,
            now=now,
            known=known,
            leaders=[each.leader for each in kept],
        )
        count_again(act, collector.sightings, project_id=self.project_id, now=now)
        left_out = (*ranked.kept[len(kept) :], *ranked.over_cap)
        return _Rows(
            [*(number for number, _ in written.new), *ids],
            [*written.over_cap, *map(NewRow.of, left_out)],
            len(collector.sightings) + ranked.repeated + len(written.seen),
            Counter(each.proved.proposal.rule for _, each in written.new)
            + Counter(each.candidate.rule for each in kept),
        )


class _RehearsedError(Exception):
    """Ends a trial act."""


class _Rows(NamedTuple):
    """The ids of written rows, the rows beyond the cap, and counts for the report."""

    ids: list[int]
    beyond_cap: list[NewRow]
    repeated: int
    rules: Counter[str]


def _count_near(act: Act, ids: Sequence[int]) -> int:
    return int(
        act.query(f"SELECT count(leader_id) FROM memory WHERE id {AMONG}", (listed(ids),))[0][0]
    )


def _queued(act: Act, ids: Sequence[int]) -> list[dict[str, Any]]:
    """The lines of `candidates.ndjson`."""
    columns = (
        "id", "kind", "type", "content", "rule", "extractor_version", "confidence", "rank", "seen",
        "leader_id", "path", "line_start", "line_end", "record_id",
    )  # fmt: skip
    sql = (
        "SELECT m.id, m.kind, m.type, m.content, m.rule, m.extractor_version, m.confidence,"
        " m.rank, m.seen, m.leader_id, s.path, r.line_start, r.line_end, r.key FROM memory m"
        " JOIN evidence e ON e.id = (SELECT min(id) FROM evidence WHERE memory_id = m.id)"
        " JOIN record r ON r.id = e.record_id JOIN source s ON s.id = r.source_id"
        f" WHERE m.id {AMONG} ORDER BY m.id"
    )
    return [dict(zip(columns, row, strict=True)) for row in act.query(sql, (listed(ids),))]
