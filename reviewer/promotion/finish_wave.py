"""Finishes a wave: queues its best candidates, reports the rest, and closes it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct, structs

from reviewer.clock import Clock, iso
from reviewer.extraction.ranking import CAP, Ranked, Ranking
from reviewer.promotion.candidate_collector import CandidateCollector
from reviewer.promotion.enqueue import Known, count_again, queue_new
from reviewer.promotion.findings import came_up_again, in_a_line, keep, propose
from reviewer.promotion.report import OverCap, ReportFolder, WaveReport
from reviewer.promotion.statement_rows import (
    Plan,
    Prepared,
    Written,
    beyond_cap,
    plan,
    write,
)
from reviewer.sessions.findings import Finding
from reviewer.store.acts import Act, Scope, chunks
from reviewer.store.database import Database
from reviewer.store.ledger import Ledger
from reviewer.text.numerals import count

AGAIN = 20
"""Findings that came up again, of which the report has a line."""


class Queued(Struct, frozen=True):
    """How many candidates were queued, by outcome (see `WaveReport`)."""

    new: int
    repeated: int
    near: int
    over_cap: int
    rules: dict[str, int]
    findings: int
    again: tuple[str, ...]


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
    statements: Sequence[Prepared] = (),
    findings: Mapping[Path, Sequence[Finding]] = MappingProxyType({}),
) -> WaveReport:
    """Queue the best candidates as one act, write the report folder, and end the wave.

    Statements take the places under the cap first. `findings`: what each file shows.
    `verb` begins the act's title.

    Raises StoreError when the store or the report cannot be written; then nothing is queued.
    """
    known = Known(database, project_id)
    ranked = collector.ranked(known)
    now = iso(clock())
    with ledger.act("ingest", scope=Scope.INTAKE) as act:
        planned, written, kept, too_many, ids = _queue(
            act, known, ranked, collector, statements, wave=wave, project_id=project_id, now=now
        )
        keep(act, project_id, findings)
        recurring = propose(act, project_id, wave, findings, now=now)
        again = came_up_again(act, project_id, findings)
        ids += recurring
        for fact in planned.over_cap:
            report.drop(beyond_cap(fact))
        for ranking in (*too_many, *ranked.over_cap):
            report.drop(OverCap.of(ranking))
        left = len(planned.over_cap) + len(too_many) + len(ranked.over_cap) + collector.overflowed
        rows = (row for each in kept for row in (each, *each.members))
        summary = sum_up(
            Queued(
                new=len(ids),
                repeated=len(collector.sightings) + ranked.repeated + len(written.seen),
                near=_count_near(act, ids),
                over_cap=left,
                rules=dict(
                    Counter(fact.best.proved.proposal.rule for fact in planned.new)
                    + Counter(row.candidate.rule for row in rows)
                    + Counter(finding=len(recurring))
                ),
                findings=sum(map(len, findings.values())),
                again=tuple(map(in_a_line, again[:AGAIN])),
            )
        )
        report.candidates(_queued(act, ids))
        act.update(
            "wave",
            wave,
            state=summary.state,
            ended_at=now,
            report_folder=summary.report_folder,
            counts=msgspec.json.encode(summary.to_json()).decode(),
        )
        report.close(summary)
        act.title = f"{verb} {count(summary.files, 'file')}: {count(len(ids), 'candidate')}"
    return summary


class _RehearsedError(Exception):
    """Ends an act that is only tried."""


def rehearse_queueing(
    database: Database,
    ledger: Ledger,
    clock: Clock,
    *,
    collector: CandidateCollector,
    wave: int,
    project_id: int,
    statements: Sequence[Prepared],
) -> None:
    """Rank and queue everything as `finish_wave` does, raise what that raises, and keep nothing."""
    known = Known(database, project_id)
    ranked = collector.ranked(known)
    now = iso(clock())
    with suppress(_RehearsedError), ledger.act("ingest", scope=Scope.INTAKE) as act:
        _queue(act, known, ranked, collector, statements, wave=wave, project_id=project_id, now=now)
        raise _RehearsedError


class _Rows(NamedTuple):
    planned: Plan
    written: Written
    kept: list[Ranking]
    too_many: list[Ranking]
    ids: list[int]


def _queue(
    act: Act,
    known: Known,
    ranked: Ranked,
    collector: CandidateCollector,
    statements: Sequence[Prepared],
    *,
    wave: int,
    project_id: int,
    now: str,
) -> _Rows:
    """Write the rows of the best candidates."""
    planned = plan(act, project_id, statements)
    written = write(act, project_id, wave, planned, now=now)
    kept, too_many = _within(ranked.kept, CAP - len(written.new))
    ids = [
        *written.new,
        *queue_new(act, known, kept, project_id=project_id, wave_id=wave, now=now),
    ]
    count_again(act, collector.sightings, project_id=project_id, now=now)
    return _Rows(planned, written, kept, too_many, ids)


def _within(rankings: Sequence[Ranking], room: int) -> tuple[list[Ranking], list[Ranking]]:
    """The rankings that fit with their near duplicates, and the candidates of the others."""
    for number, ranking in enumerate(rankings):
        room -= 1 + len(ranking.members)
        if room < 0:
            beyond = rankings[number:]
            apart = [
                single
                for each in beyond
                for single in (structs.replace(each, members=()), *each.members)
            ]
            return list(rankings[:number]), apart
    return list(rankings), []


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
