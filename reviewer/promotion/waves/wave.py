"""One ingestion: read, mask, store L0, extract, rank, queue, report."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from reviewer.clock import Clock
from reviewer.errors import (
    Breakable,
    BrokenOff,
    OtherKindError,
    ReviewerError,
    SourceError,
    StoreError,
)
from reviewer.extraction.confidence import setting_of
from reviewer.promotion.rows.known_facts import KnownFacts
from reviewer.promotion.waves.candidate_collector import CandidateCollector
from reviewer.promotion.waves.finish_wave import finish_wave
from reviewer.promotion.waves.record_writer import FileRecords, RecordWriter, Stamp
from reviewer.promotion.waves.report import ReportFolder, WaveProgress, WaveReport
from reviewer.promotion.waves.source_reader import Batch, SourcePass, reason_of_fault
from reviewer.sources.events import Rewind
from reviewer.sources.open import NOTE_FORMATS, is_of_subagent
from reviewer.sources.records import RecordUse
from reviewer.sources.walk import LINK_OUTSIDE, FoundPath, is_unreadable, walk
from reviewer.store.database import Database
from reviewer.store.ledger import Ledger

CACHE_KIB = 2_000
"""The page cache of the store meanwhile: a larger one fills up, and makes nothing faster."""
PROBLEMS_NAMED = 5
"""Unreadable files listed in the report with names and reasons."""


_Step = TypeVar("_Step")


@dataclass
class Wave:
    """One ingestion; `run` is called once and returns the counts as a report. For the fields see
    `Intake.ingest`.

    A file's candidates are collected separately, and count only if the whole file was read.
    """

    database: Database
    ledger: Ledger
    clock: Clock
    progress: Callable[[WaveProgress], None]
    cancelled: Callable[[], bool]
    breakable: Breakable
    again: bool
    sessions: Mapping[Path, frozenset[str]]
    named: bool
    files_done: int = 0
    files_total: int = 0
    bytes_total: int = 0

    # set by `run`, once the wave has a number
    _writer: RecordWriter = field(init=False)
    _named: frozenset[Path] = field(init=False)
    _report: WaveReport = field(init=False)
    _folder: ReportFolder = field(init=False)
    _collector: CandidateCollector = field(init=False)
    _known: KnownFacts = field(init=False)

    def run(self, paths: Sequence[Path], project: str) -> WaveReport:
        """See `Intake.ingest`."""
        self.database.writer.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        absolute = [Path(os.path.abspath(path)) for path in paths]
        items = walk(absolute, store=self.database.path)  # raises for a missing path
        roots = [str(path).encode("utf-8", "backslashreplace").decode() for path in paths]
        self._writer = RecordWriter(self.database, self.ledger, self.clock)
        wave = self._writer.start(project, roots)
        self._report = WaveReport(wave=wave, project=project)
        self._named = frozenset(absolute if self.named else ())
        self._known = KnownFacts(self.database, project)
        with ReportFolder(self.database.path, wave) as self._folder, _going_on_later():
            self._collector = CandidateCollector(self._folder.drop)
            try:
                self._read_all(self._to_read(items))
            except BrokenOff:
                self._report.state = "interrupted"
            self._writer.flush()
            self._report.fresh = self._writer.fresh
            finish_wave(
                self.ledger, self.clock, self._writer, self._collector, self._folder, self._report
            )
        return self._report

    def _to_read(self, items: Iterator[FoundPath]) -> list[tuple[str, int]]:
        found: list[tuple[str, int]] = []
        for item in self._breakably(items):
            if item.reason:
                self._pass_over(item.path, item.reason)
            elif not _is_text(item.path):
                self._pass_over(item.path, "a name that is not text")
            else:
                try:
                    found.append((str(item.path), item.path.stat().st_size))
                except OSError as problem:
                    self._pass_over(item.path, f"file cannot be read: {problem.strerror}")
        return found

    def _pass_over(self, path: Path, reason: str) -> None:
        """Count a file that is not read, and log it if a person may have wanted it read."""
        self._report.passed_over[reason] += 1
        if is_unreadable(reason):
            self._report_unread(path, f"{path}: {reason}")
        elif reason == LINK_OUTSIDE:
            self._folder.note(f"{path}: {reason}")

    def _read_all(self, files: Sequence[tuple[str, int]]) -> None:
        self.files_total, self.bytes_total = len(files), sum(size for _, size in files)
        for name, size in files:
            path = Path(name)
            self._go_on()
            try:
                self._read(path)
            except Exception as problem:  # one bad file must not stop the others
                if isinstance(problem, ReviewerError) and not isinstance(problem, SourceError):
                    raise  # such as a store that cannot be written
                self._report_fault(path, problem)
            self.files_done += 1
            self._report.bytes += size
            self._say_progress(path)

    def _read(self, path: Path) -> None:
        """Read a file, unless it is unchanged since it was last read."""
        stamp = whole = Stamp.of(path)
        only = self.sessions.get(path)
        if only is not None:
            stamp = whole.of_part()
        if self._writer.known_stamp(path) in (stamp, whole) and not self.again:
            self._report.unchanged += 1
            return
        setting = setting_of(path, self.clock(), stamp.modified_ns / 1e9)
        with self.breakable():
            content = SourcePass(path, setting, only)
        records = FileRecords(self._writer, path, content.format, again=self.again)
        found = self._collector.of_a_file()
        messages: list[int] = []
        """The first line of each."""
        for piece in self._breakably(iter(content)):
            if isinstance(piece, Rewind):
                records.rewind(piece)
                found.rewind(piece)
                kept = [line for line in messages if not piece.first <= line < piece.end]
                self._report.kept_out[str(RecordUse.REWOUND)] += len(messages) - len(kept)
                messages = kept
                continue
            found.consume(piece.found, self._stored(piece, records))
            messages += (each.line_start for each in piece.records if each.use is RecordUse.MESSAGE)
            self._say_progress(path)
            self._go_on()
        found.propose(path, setting, self._known)
        for error in content.errors:
            self._folder.error(f"{path}: {error}")
        records.finish(stamp, content.tally, content.findings, only)
        self._collector.add(found)
        self._report.files += 1
        self._report.sessions += content.format not in NOTE_FORMATS and not is_of_subagent(path)
        self._report.findings += len(content.findings)
        self._report.skipped_by.update(content.tally)

    def _stored(self, batch: Batch, records: FileRecords) -> dict[str, str]:
        """Store records; returns those to extract from, each with its key in the store."""
        self._report.masked += batch.masked
        self._report.records += len(batch.records)
        fresh: dict[str, str] = {}
        for record, key in zip(batch.records, records.take(batch.records), strict=True):
            if record.use is not RecordUse.MESSAGE:
                self._report.kept_out[str(record.use)] += 1
            elif key:
                fresh[record.key] = key
        return fresh

    def _report_fault(self, path: Path, problem: Exception) -> None:
        """Report a file of which nothing is proposed: its records stay, and the next wave reads it
        again.
        """
        if isinstance(problem, SourceError):
            line = str(problem)
            reason = line.replace(str(path), "").strip().rstrip(".")
            for opening in ("is not text that reviewer reads: ", "is in ", "it is "):
                reason = reason.removeprefix(opening)  # as the walk words it
        else:
            reason = reason_of_fault(problem)
            line = f"{path} cannot be read: {reason}."
            reason = f"file cannot be read: {reason.partition(' (')[0]}"
        self._report.passed_over[reason] += 1
        if isinstance(problem, OtherKindError) and path not in self._named:
            self._folder.note(line)
        else:
            self._report_unread(path, line)

    def _report_unread(self, path: Path, line: str) -> None:
        self._folder.error(line)
        self._report.unread += 1
        self._report.unread_named += path in self._named
        if len(self._report.problems) < PROBLEMS_NAMED:
            self._report.problems.append(line)

    def _say_progress(self, path: Path) -> None:
        report = self._report
        self.progress(
            WaveProgress(
                self.files_done, self.files_total, report.bytes, self.bytes_total,
                str(path), report.records, len(self._collector),
            )
        )  # fmt: skip

    def _go_on(self) -> None:
        """Raise BrokenOff if the person wants to stop."""
        if self.cancelled():
            raise BrokenOff

    def _breakably(self, steps: Iterator[_Step]) -> Iterator[_Step]:
        """The same, each step breakable."""
        while True:
            with self.breakable():
                step = next(steps, None)
            if step is None:
                return
            yield step


@contextmanager
def _going_on_later() -> Iterator[None]:
    """Add to an error how to resume the wave."""
    try:
        yield
    except StoreError as problem:
        raise StoreError(
            f"{problem} Everything read before is kept; run the same command to resume."
        ) from problem


def _is_text(path: Path) -> bool:
    """Whether a path can be stored as text and reopened under the stored name."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True
