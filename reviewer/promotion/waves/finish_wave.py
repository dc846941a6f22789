"""Finishes a wave: queues its best candidates, reports the rest, and closes it."""

from __future__ import annotations

from collections import defaultdict

from reviewer.clock import Clock, iso
from reviewer.extraction.candidates import Candidate
from reviewer.extraction.ranking import CAP, best_first
from reviewer.promotion.rows.enqueue import NewRow, count_again, key_of, queue_row
from reviewer.promotion.rows.known_rows import Known, KnownRows, known_keys
from reviewer.promotion.rows.statement_rows import write
from reviewer.promotion.waves.candidate_collector import CandidateCollector
from reviewer.promotion.waves.findings import propose
from reviewer.promotion.waves.report import ReportFolder, WaveReport
from reviewer.store.acts import Act, Scope
from reviewer.store.ledger import Ledger
from reviewer.text.numerals import count


def finish_wave(
    ledger: Ledger,
    clock: Clock,
    project_id: int,
    collector: CandidateCollector,
    folder: ReportFolder,
    report: WaveReport,
    first_finding: int,
) -> None:
    """Queue the best candidates, complete the report and its folder, and end the wave.

    `first_finding`: the findings from this id on are new. Raises StoreError if the store or the
    report cannot be written; then nothing is queued.
    """
    with ledger.act("ingest", scope=Scope.INTAKE) as act:
        now = iso(clock())
        ids = _queue(act, project_id, collector, folder, report, now)
        recurring, again = propose(act, project_id, report.wave, first_finding, now=now)
        ids += recurring
        report.rules["finding"] = len(recurring)
        report.again = tuple(again)
        report.new = len(ids)
        report.skipped = report.skipped_by.total() + report.passed_over.total()
        report.dropped = collector.dropped
        folder.finish(act, report, ids, now)
        act.title = f"Ingested {count(report.files, 'file')}: {count(len(ids), 'candidate')}"


def _queue(
    act: Act,
    project_id: int,
    collector: CandidateCollector,
    folder: ReportFolder,
    report: WaveReport,
    now: str,
) -> list[int]:
    """Write new statements first, then candidates, up to the cap, and count the known ones again;
    returns the new rows.
    """
    existing = known_keys(act.query, project_id, map(key_of, collector.candidates))
    new: list[Candidate] = []
    again: dict[int, list[Candidate]] = defaultdict(list)
    for candidate in collector.candidates:
        number = existing.get(key_of(candidate))
        (new if number is None else again[number]).append(candidate)
    report.repeated = len(collector.candidates) - len(new)
    rows = KnownRows(act, project_id)
    written = write(act, project_id, lambda: report.wave, collector.statements, now=now, rows=rows)
    ids = list(written.new)
    report.rules.update(each.proved.proposal.rule for each in written.new.values())
    beyond_cap = [*written.over_cap]

    def known(candidate: Candidate) -> Known:
        kind, _, _ = key_of(candidate)
        return rows.look_up(kind, candidate.content)

    def novelty(candidate: Candidate) -> float:
        return known(candidate).novelty if len(ids) < CAP else 1.0  # the rest is not looked up

    for ranking in best_first(new, novelty):
        report.repeated += len(ranking.also)
        row = NewRow.of(ranking)
        if len(ids) >= CAP:
            beyond_cap.append(row)
        elif (number := known(ranking.candidate).row) is not None:
            again[number] += [ranking.candidate, *ranking.also]
            report.near += 1
        else:
            written_ids = queue_row(act, row, project_id=project_id, wave_id=report.wave, now=now)
            for number in written_ids[:1]:  # the others are conflicts
                rows.add(number, str(row.columns["kind"]), ranking.candidate.content)
            ids += written_ids
            report.rules[ranking.candidate.rule] += 1
    count_again(act, again, project_id=project_id, now=now)
    for row in beyond_cap:
        folder.drop(row)
    report.over_cap = report.over_cap_left = len(beyond_cap) + collector.overflowed
    report.repeated += len(written.seen)
    return ids
