"""Finishes a wave: queues its best candidates, reports the rest, and closes it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from reviewer.clock import Clock, iso
from reviewer.promotion.candidate_collector import CandidateCollector
from reviewer.promotion.enqueue import Known, count_again, queue_new
from reviewer.promotion.report import OverCap, ReportFolder, WaveReport
from reviewer.store.database import Database
from reviewer.store.ledger import Act, Ledger, Scope, chunks


class Queued(Struct, frozen=True):
    """How many candidates were queued, by outcome (see `WaveReport`)."""

    new: int
    repeated: int
    near: int
    over_cap: int
    rules: dict[str, int]


def finish_wave(
    database: Database,
    ledger: Ledger,
    clock: Clock,
    *,
    collector: CandidateCollector,
    report: ReportFolder,
    wave: int,
    project_id: int,
    sum_up: Callable[[Queued], WaveReport],
    verb: str = "Ingested",
) -> WaveReport:
    """Queue the best candidates as one act, write the report folder, and end the wave.

    `verb` begins the act's title.

    Raises StoreError when the store or the report cannot be written; then nothing is queued.
    """
    known = Known(database, project_id)
    ranked = collector.ranked(known)
    now = iso(clock())
    with ledger.act("ingest", scope=Scope.INTAKE) as act:
        ids = queue_new(act, known, ranked.kept, project_id=project_id, wave_id=wave, now=now)
        count_again(act, collector.sightings, project_id=project_id, now=now)
        for ranking in ranked.over_cap:
            report.drop(OverCap.of(ranking))
        rows = (row for kept in ranked.kept for row in (kept, *kept.members))
        summary = sum_up(
            Queued(
                new=len(ids),
                repeated=len(collector.sightings) + ranked.repeated,
                near=_count_near(act, ids),
                over_cap=len(ranked.over_cap) + collector.overflowed,
                rules=dict(Counter(row.candidate.rule for row in rows)),
            )
        )
        report.candidates(_queued(act, ids))
        report.close(summary)
        act.update(
            "wave",
            wave,
            state=summary.state,
            ended_at=now,
            report_folder=summary.report_folder,
            counts=msgspec.json.encode(summary.to_json()).decode(),
        )
        files = "1 file" if summary.files == 1 else f"{summary.files:,} files"
        found = "1 candidate" if len(ids) == 1 else f"{len(ids):,} candidates"
        act.title = f"{verb} {files}: {found}"
    return summary


def _count_near(act: Act, ids: Sequence[int]) -> int:
    return sum(
        act.query(
            f"SELECT count(leader_id) FROM memory WHERE id IN ({','.join('?' * len(chunk))})",
            chunk,
        )[0][0]
        for chunk in chunks(ids)
    )


def _queued(act: Act, ids: Sequence[int]) -> list[dict[str, Any]]:
    """The lines of `candidates.ndjson`."""
    columns = (
        "id", "kind", "type", "content", "rule", "extractor_version", "confidence", "rank", "seen",
        "leader_id", "path", "line_start", "line_end", "record_id",
    )  # fmt: skip
    rows: list[dict[str, Any]] = []
    for chunk in chunks(ids):
        sql = (
            "SELECT m.id, m.kind, m.type, m.content, m.rule, m.extractor_version, m.confidence,"
            " m.rank, m.seen, m.leader_id, s.path, r.line_start, r.line_end, r.key FROM memory m"
            " JOIN evidence e ON e.id = (SELECT min(id) FROM evidence WHERE memory_id = m.id)"
            " JOIN record r ON r.id = e.record_id JOIN source s ON s.id = r.source_id"
            f" WHERE m.id IN ({','.join('?' * len(chunk))}) ORDER BY m.id"
        )
        rows += (dict(zip(columns, row, strict=True)) for row in act.query(sql, chunk))
    return rows
