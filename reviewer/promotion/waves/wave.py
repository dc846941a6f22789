"""One ingestion: read, mask, store L0, extract, rank, queue, report."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from reviewer.clock import Clock
from reviewer.errors import Breakable, BrokenOff, OtherKindError, SourceError, StoreError
from reviewer.promotion.rows.known_facts import KnownFacts
from reviewer.promotion.waves.candidate_collector import CandidateCollector
from reviewer.promotion.waves.faults import is_of_a_file, reason_of_fault
from reviewer.promotion.waves.finish_wave import WaveEnd
from reviewer.promotion.waves.found_findings import FoundFindings
from reviewer.promotion.waves.record_writer import RecordWriter, SourceWriter, Stamp
from reviewer.promotion.waves.report import ReportFolder, WaveProgress, WaveReport
from reviewer.promotion.waves.source_reader import (
    Batch,
    Closed,
    Opened,
    Piece,
    ReadJob,
    read,
)
from reviewer.sources.events import Rewind
from reviewer.sources.open import NOTE_FORMATS
from reviewer.sources.records import RecordUse
from reviewer.sources.walk import LINK_OUTSIDE, FoundFile, PassedOver, is_unreadable, walk
from reviewer.store.database import Database
from reviewer.store.ledger import Ledger

PROGRESS_SECONDS = 0.1
SECONDS = 60.0
SECONDS_A_MEGABYTE = 20.0
"""Limit of CPU time for one file, checked between batches of records: a hundred times the usual."""
CACHE_KIB = 2_000
"""The page cache of the store meanwhile: a larger one fills up, and makes nothing faster."""
PROBLEMS_NAMED = 5
"""Unreadable files listed in the report with names and reasons."""


_Read = TypeVar("_Read")


class Wave:
    """One ingestion; `run` is called once and returns the counts as a report."""

    # set by `run`, once the wave has a number
    _number: int
    _report: ReportFolder
    _collector: CandidateCollector
    _known: KnownFacts
    _progress: _ProgressMeter
    _findings: FoundFindings

    def __init__(
        self,
        database: Database,
        ledger: Ledger,
        clock: Clock,
        *,
        cancelled: Callable[[], bool],
        breakable: Breakable,
        extract: bool = True,
        sessions: Mapping[Path, frozenset[str]] | None = None,
    ) -> None:
        """See `Intake.ingest`."""
        self._database = database
        self._ledger = ledger
        self._clock = clock
        self._cancelled = cancelled
        self._breakable = breakable
        self._extract = extract
        self._only = sessions or {}
        self._writer = RecordWriter(database, ledger, clock, self._give_up)
        self._unchanged = self._bytes = self._records = self._masked = 0
        self._kept_out: Counter[str] = Counter()
        self._skipped: Counter[str] = Counter()
        self._passed_over: Counter[str] = Counter()
        self._unreadable: list[str] = []
        self._problems: list[str] = []
        self._done: dict[str, bool] = {}
        """The files that were read, and whether they are sessions, not notes."""
        self._given_up: set[Path] = set()
        self._interrupted = False

    def run(
        self, paths: Sequence[Path], project: str, progress: Callable[[WaveProgress], None]
    ) -> WaveReport:
        """See `Intake.ingest`."""
        began = time.monotonic()
        self._database.writer.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        found = self._unless_broken_off(lambda: self._find(paths)) or []
        roots = [str(path).encode("utf-8", "backslashreplace").decode() for path in paths]
        self._number = self._writer.start(project, roots)
        self._report = ReportFolder(self._database.path, self._number)
        self._collector = CandidateCollector(self._report.drop)
        self._known = KnownFacts(self._database, project)
        for line in self._unreadable:
            self._report.error(line)
        self._progress = _ProgressMeter(progress, found)
        with self._report, FoundFindings(self._report.path) as self._findings, _going_on_later():
            self._read_all(found)
            self._writer.flush()
            return self._finish(project, began)

    def _finish(self, project: str, began: float) -> WaveReport:
        """Queue the best of all files; one that cannot be queued is given up."""
        end = WaveEnd(
            self._database, self._ledger, self._clock, self._number, self._writer.project_id
        )
        while True:
            self._writer.flush()  # may call `give_up` for files
            try:
                return end.queue(
                    self._collector,
                    self._report,
                    self._summary(project),
                    began=began,
                    findings=self._findings,
                    only=self._only,
                )
            except Exception as problem:
                faults = end.faults(self._collector) if is_of_a_file(problem) else {}
                if not faults:
                    raise
                for path, fault in faults.items():
                    self._give_up(path, fault)

    def _give_up(self, path: Path, problem: Exception) -> None:
        """Leave a file out of the wave, and report it: its records stay, nothing is proposed from
        it, and the next wave reads it again.
        """
        self._collector.give_up(str(path))
        self._done.pop(str(path), None)
        self._findings.give_up(path)
        self._writer.give_up(path)
        if path in self._given_up:
            return
        self._given_up.add(path)
        if isinstance(problem, OtherKindError):
            self._passed_over[_reason(problem, path)] += 1
            self._report.note(str(problem))
            return
        if isinstance(problem, SourceError):
            self._passed_over[_reason(problem, path)] += 1
            line = str(problem)
        else:
            self._passed_over[f"file cannot be read: {_kind(problem)}"] += 1
            line = f"{path} cannot be read: {reason_of_fault(problem)}."
        self._report.error(line)
        if len(self._problems) < PROBLEMS_NAMED:
            self._problems.append(line)

    def _read_all(self, found: list[tuple[str, int]]) -> None:
        now = self._clock()
        for name, size in found:
            path = Path(name)
            if self._cancelled():
                self._interrupted = True
                break
            self._read(path, size, now)
            self._bytes += size
            self._progress.file_done(path, size, self._records, len(self._collector))

    def _find(self, paths: Sequence[Path]) -> list[tuple[str, int]]:
        """The files to read and their sizes."""
        found: list[tuple[str, int]] = []
        absolute = [Path(os.path.abspath(path)) for path in paths]
        for item in walk(absolute, store=self._database.path):
            self._note(item, found)
        return found

    def _note(self, item: FoundFile | PassedOver, found: list[tuple[str, int]]) -> None:
        if not isinstance(item, FoundFile):
            self._pass_over(item.path, item.reason)
        elif not _is_text(item.path):
            self._pass_over(item.path, "a name that is not text")
        else:
            try:
                found.append((str(item.path), item.path.stat().st_size))
            except OSError as problem:
                self._pass_over(item.path, f"file cannot be read: {problem.strerror}")

    def _pass_over(self, path: Path, reason: str) -> None:
        """Count a file that is not read, and log it if a person may have wanted it read."""
        self._passed_over[reason] += 1
        if is_unreadable(reason) or reason == LINK_OUTSIDE:
            self._unreadable.append(f"{path}: {reason}")

    def _read(self, path: Path, size: int, now: datetime) -> None:
        """Read a file, unless it is unchanged since it was last read."""
        try:
            stamp = whole = Stamp.of(path)
            only = self._only.get(path)
            if only is not None:
                stamp = whole.of_part()
            if any(self._writer.unchanged(path, each) for each in {stamp, whole}):
                self._unchanged += 1
                return
            job = ReadJob(str(path), now, stamp.modified_ns, self._extract, only)
            self._read_pieces(path, size, stamp, read(job))
        except Exception as problem:  # one bad file must not stop the others
            if not is_of_a_file(problem):
                raise
            self._give_up(path, problem)

    def _read_pieces(self, path: Path, size: int, stamp: Stamp, pieces: Iterator[Piece]) -> None:
        """Write a file's records and collect their candidates as they come."""
        writer = None
        fresh: set[str] = set()
        said: list[int] = []
        """The first line of each message."""
        closed: Closed | None = None
        most = SECONDS + SECONDS_A_MEGABYTE * size / 1e6
        until = time.thread_time() + most
        while (piece := self._unless_broken_off(lambda: next(pieces, None))) is not None:
            if isinstance(piece, Opened):
                writer = self._writer.open_source(path, piece.format)
                self._collector.begin(str(path))
                self._done[str(path)] = (
                    piece.format not in NOTE_FORMATS and "subagents" not in path.parts
                )
            elif isinstance(piece, Batch):
                assert writer is not None
                self._write(piece, writer, fresh)
                if path in self._given_up:
                    return
                self._collector.consume(piece.found, fresh)
                said += (each.line_start for each in piece.records if each.use is RecordUse.MESSAGE)
                if time.thread_time() > until:
                    raise SourceError(
                        f"{path} cannot be read: it takes more than {most:,.0f} s, many times the"
                        " usual for its size."
                    )
                self._progress.update(path, self._records, len(self._collector))
                if self._cancelled():
                    self._interrupted = True
                    break
            elif isinstance(piece, Rewind):
                assert writer is not None
                writer.rewind(piece)
                self._collector.rewind(piece)
                taken_back = [line for line in said if piece.first <= line < piece.end]
                said = [line for line in said if not piece.first <= line < piece.end]
                self._kept_out[str(RecordUse.REWOUND)] += len(taken_back)
            else:
                closed = piece
        if writer is not None and closed is not None:
            self._skipped.update(closed.tally)
            for error in closed.errors:
                self._report.error(f"{path}: {error}")
            if self._extract:
                self._collector.propose(path, now=self._clock(), known=self._known)
            if not self._interrupted:  # otherwise the next wave proposes from it
                self._findings.add(path, closed.findings)
                writer.finish(stamp, closed.tally)

    def _unless_broken_off(self, read: Callable[[], _Read]) -> _Read | None:
        """The result; None if interrupted by the person."""
        try:
            with self._breakable():
                return read()
        except BrokenOff:
            self._interrupted = True
            return None

    def _write(self, batch: Batch, writer: SourceWriter, fresh: set[str]) -> None:
        """Write a batch; the keys of records to extract from are added to `fresh`."""
        self._masked += batch.masked
        self._records += len(batch.records)
        for record, key in zip(batch.records, writer.take(batch.records), strict=True):
            if record.use is not RecordUse.MESSAGE:
                self._kept_out[str(record.use)] += 1
            elif key:
                fresh.add(record.key)
                self._collector.stored_as(record.key, key)

    def _summary(self, project: str) -> WaveReport:
        """Counts from reading; `WaveEnd` adds those of the queue."""
        return WaveReport(
            wave=self._number,
            project=project,
            state="interrupted" if self._interrupted else "done",
            files=len(self._done),
            unchanged=self._unchanged,
            bytes=self._bytes,
            records=self._records,
            fresh=self._writer.fresh,
            skipped=self._skipped.total() + self._passed_over.total(),
            masked=self._masked,
            kept_out=dict(self._kept_out),
            skipped_by=dict(self._skipped),
            passed_over=dict(self._passed_over),
            sessions=sum(self._done.values()),
            problems=tuple(self._problems),
        )


@contextmanager
def _going_on_later() -> Iterator[None]:
    """Add to an error how to resume the wave."""
    try:
        yield
    except StoreError as problem:
        raise StoreError(
            f"{problem} Everything read before is kept; run the same command to resume."
        ) from problem


class _ProgressMeter:
    """Reports progress at most every PROGRESS_SECONDS."""

    def __init__(
        self, report: Callable[[WaveProgress], None], found: list[tuple[str, int]]
    ) -> None:
        self._report = report
        self._files_total = len(found)
        self._bytes_total = sum(size for _, size in found)
        self._files = self._bytes = 0
        self._last = 0.0

    def update(self, path: Path, records: int, candidates: int) -> None:
        now = time.monotonic()
        if now - self._last >= PROGRESS_SECONDS:
            self._last = now
            self._report(
                WaveProgress(
                    self._files, self._files_total, self._bytes, self._bytes_total,
                    str(path), records, candidates,
                )
            )  # fmt: skip

    def file_done(self, path: Path, size: int, records: int, candidates: int) -> None:
        self._files += 1
        self._bytes += size
        self.update(path, records, candidates)


def _is_text(path: Path) -> bool:
    """Whether a path can be stored as text and reopened under the stored name."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True


def _kind(problem: Exception) -> str:
    """Why a file cannot be read, without details that differ from file to file."""
    return reason_of_fault(problem).partition(" (")[0]


def _reason(problem: SourceError, path: Path) -> str:
    """Why a file was passed over, without its name, so that reasons can be counted."""
    text = str(problem).replace(str(path), "").strip().rstrip(".")
    return text.removeprefix("is not text that reviewer reads: ").removeprefix("is in ")
