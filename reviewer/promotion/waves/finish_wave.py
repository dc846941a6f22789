"""Finishes a wave: queues its best candidates, reports the rest, and closes it."""

from __future__ import annotations

from reviewer.clock import Clock, iso
from reviewer.extraction.candidates import Candidate
from reviewer.extraction.ranking import CAP, best_first
from reviewer.promotion.rows.enqueue import NewRow, QueueWriter, key_of, keys_of, place_of
from reviewer.promotion.rows.known_rows import known_keys
from reviewer.promotion.rows.statement_rows import queue_statements
from reviewer.promotion.waves.candidate_collector import CandidateCollector
from reviewer.promotion.waves.findings import propose
from reviewer.promotion.waves.record_writer import RecordWriter
from reviewer.promotion.waves.report import ReportFolder, WaveReport
from reviewer.store.acts import Scope
from reviewer.store.ledger import Ledger
from reviewer.text.numerals import count


def finish_wave(
    ledger: Ledger,
    clock: Clock,
    records: RecordWriter,
    collector: CandidateCollector,
    folder: ReportFolder,
    report: WaveReport,
) -> None:
    """Queue the best candidates, complete the report and its folder, and end the wave.

    Raises StoreError if the store or the report cannot be written; then nothing is queued.
    """
    with ledger.act("ingest", scope=Scope.INTAKE) as act:
        writer = QueueWriter(act, records.project_id, iso(clock()))
        _queue(writer, collector, folder, report)
        queued = len(writer.new)
        report.again = tuple(propose(writer, report.wave, records.first_finding))
        report.new = len(writer.new)
        report.rules["finding"] = report.new - queued
        report.skipped = report.skipped_by.total() + report.passed_over.total()
        report.dropped = collector.dropped
        folder.finish(act, report, writer.new, writer.now)
        act.title = f"Ingested {count(report.files, 'file')}: {count(report.new, 'candidate')}"


def _queue(
    writer: QueueWriter, collector: CandidateCollector, folder: ReportFolder, report: WaveReport
) -> None:
    """Write statements first, then candidates, up to the cap; known ones are counted again."""
    keys = (key for each in collector.candidates for key in keys_of(each))
    existing = known_keys(writer.act.query, writer.project_id, keys)
    new: list[Candidate] = []
    for candidate in collector.candidates:
        number = next((existing[key] for key in keys_of(candidate) if key in existing), None)
        if number is None:
            new.append(candidate)
        else:
            writer.again[number].append(place_of(candidate))
    report.repeated = len(collector.candidates) - len(new)
    written = queue_statements(writer, lambda: report.wave, collector.statements)
    report.rules.update(each.proved.proposal.rule for each in written.new.values())
    beyond_cap = [*written.over_cap]

    def novelty(candidate: Candidate) -> float:
        if len(writer.new) >= CAP:
            return 1.0  # the rest is not looked up
        kind, _, _ = key_of(candidate)
        return writer.stored.look_up(kind, candidate.content).novelty

    for ranking in best_first(new, novelty):
        report.repeated += len(ranking.also)
        row = NewRow.of(ranking)
        if len(writer.new) >= CAP:
            beyond_cap.append(row)
        elif writer.add(row, report.wave):
            report.rules[ranking.candidate.rule] += 1
        else:
            report.near += 1
    writer.count_again()
    for row in beyond_cap:
        folder.drop(row)
    report.over_cap = report.over_cap_left = len(beyond_cap) + collector.overflowed
    report.repeated += len(written.seen)
