"""One ingestion: read, mask, keep L0, extract, rank, queue, report."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from reviewer.clock import Clock
from reviewer.errors import Breakable, BrokenOff, OtherKindError, SourceError, StoreError
from reviewer.promotion.closing import Queued, close_wave
from reviewer.promotion.collecting import collected_seldom
from reviewer.promotion.pool import Pool
from reviewer.promotion.readers import Reading, readers_for
from reviewer.promotion.reading import Batch, Closed, Job, Opened, Piece, judged_as_last
from reviewer.promotion.report import ReportFolder
from reviewer.promotion.shelf import Shelf, ShelvedSource, Stamp
from reviewer.promotion.wave_report import Progress, WaveReport
from reviewer.sources.records import Record, Use
from reviewer.sources.seen import Seen
from reviewer.sources.walk import Found, PassedOver, walk
from reviewer.store.database import Database
from reviewer.store.ledger import Ledger

PROGRESS_SECONDS = 0.1
LINES_TOLD = 20
"""Numbers of lines in one line of a log."""


_Read = TypeVar("_Read")


class _Planned(NamedTuple):
    """A file of a wave. Without `job` it is as it was when it was read last, or has a `problem`."""

    path: Path
    size: int
    stamp: Stamp | None
    job: Job | None
    problem: OSError | None


class Wave:
    """Runs once. Keeps counts while it runs; `run` returns them as a report."""

    def __init__(self, database: Database, ledger: Ledger, clock: Clock) -> None:
        self._database = database
        self._ledger = ledger
        self._clock = clock
        self._shelf = Shelf(database, ledger, clock)
        self._files = self._unchanged = self._bytes = self._records = self._masked = 0
        self._kept_out: Counter[str] = Counter()
        self._skipped: Counter[str] = Counter()
        self._passed_over: Counter[str] = Counter()
        self._unreadable: list[str] = []
        self._interrupted = False

    def run(
        self,
        paths: Sequence[Path],
        project: str,
        progress: Callable[[Progress], None],
        cancelled: Callable[[], bool],
        *,
        breakable: Breakable,
        extract: bool = True,
    ) -> WaveReport:
        """See `Intake.ingest`."""
        began = time.monotonic()
        self._cancelled, self._breakable = cancelled, breakable
        found = self._unless_broken_off(lambda: self._find(paths)) or []
        roots = [str(path).encode("utf-8", "backslashreplace").decode() for path in paths]
        self._number = self._shelf.start(project, roots)
        self._report = ReportFolder(self._database.path, self._number)
        self._pool = Pool(self._report.drop, self._report.overflow)
        self._extract = extract
        for line in self._unreadable:
            self._report.error(line)
        self._tell = _Telling(progress, found)
        try:
            with collected_seldom():
                self._read_all(self._unless_broken_off(lambda: list(self._plan(found))) or [])
            self._shelf.flush()
            return close_wave(
                self._database,
                self._ledger,
                self._clock,
                pool=self._pool,
                report=self._report,
                wave=self._number,
                project_id=self._shelf.project_id,
                sum_up=lambda queued: self._sum_up(project, began, queued),
            )
        except StoreError as problem:
            self._report.abandon()
            raise StoreError(
                f"{problem} What was read before is kept; the same command goes on from there."
            ) from problem
        except BaseException:
            self._report.abandon()
            raise

    def _read_all(self, plan: list[_Planned]) -> None:
        reading = readers_for([(each.job, each.size) for each in plan if each.job is not None])
        try:
            for planned in plan:
                if self._cancelled():
                    self._interrupted = True
                    break
                self._read(planned, reading)
                self._bytes += planned.size
                self._tell.done(planned.path, planned.size, self._records, len(self._pool))
        finally:
            reading.close()

    def _find(self, paths: Sequence[Path]) -> list[tuple[Path, int]]:
        """The files to be read and their sizes."""
        found: list[tuple[Path, int]] = []
        for item in walk([Path(os.path.abspath(path)) for path in paths]):
            self._note(item, found)
        return found

    def _note(self, item: Found | PassedOver, found: list[tuple[Path, int]]) -> None:
        if not isinstance(item, Found):
            self._pass_over(item.path, item.reason, item.lines)
        elif not _is_text(item.path):
            self._pass_over(item.path, "a name that is no text")
        else:
            try:
                found.append((item.path, item.path.stat().st_size))
            except OSError as problem:
                self._pass_over(item.path, f"file cannot be read: {problem.strerror}")

    def _pass_over(self, path: Path, reason: str, lines: Sequence[int] = ()) -> None:
        """Count a file that is not read; what a person may have wanted read is also logged.

        `lines`: only these lines (0-based) of it were passed over.
        """
        self._passed_over[reason] += 1
        if "cannot be read" in reason or "no text" in reason:
            where = f" ({_lines(lines)})" if lines else ""
            self._unreadable.append(f"{path}: {reason}{where}")

    def _plan(self, found: list[tuple[Path, int]]) -> Iterator[_Planned]:
        """For every file whether it is to be read, or what is wrong with it."""
        now = self._clock()
        for path, size in found:
            try:
                stamp = Stamp.of(path)
            except OSError as problem:
                yield _Planned(path, size, None, None, problem)
                continue
            job = None
            if not self._shelf.unchanged(path, stamp):
                job = Job(str(path), now, stamp.modified_ns, self._extract)
            yield _Planned(path, size, stamp, job, None)

    def _read(self, planned: _Planned, reading: Reading) -> None:
        path = planned.path
        try:
            if planned.problem is not None:
                raise planned.problem
            if planned.job is None:
                self._unchanged += 1
                return
            self._read_pieces(planned, planned.job, reading.pieces(planned.job))
        except OtherKindError as problem:
            self._pool.give_up()
            self._passed_over[_reason(problem, path)] += 1
            self._report.note(str(problem))
        except SourceError as problem:
            self._pool.give_up()
            self._passed_over[_reason(problem, path)] += 1
            self._report.error(str(problem))
        except OSError as problem:
            self._pool.give_up()
            self._passed_over[f"file cannot be read: {problem.strerror}"] += 1
            self._report.error(f"{path}: {problem.strerror}")

    def _read_pieces(self, planned: _Planned, job: Job, pieces: Iterator[Piece]) -> None:
        """Shelve a file's records as they come, and hear what is said of them."""
        path, shelved = planned.path, None
        fresh = Seen()
        last: Record | None = None
        closed: Closed | None = None
        while (piece := self._unless_broken_off(lambda: next(pieces, None))) is not None:
            if isinstance(piece, Opened):
                shelved = self._shelf.open_source(path, piece.format)
            elif isinstance(piece, Batch):
                assert shelved is not None
                self._take(piece, shelved, fresh)
                self._pool.hear(piece.events, fresh)
                last = next((r for r in reversed(piece.records) if r.use is Use.SAID), last)
                self._tell.going(path, self._records, len(self._pool))
                if self._cancelled():
                    self._interrupted = True
                    break
            else:
                self._pool.hear(piece.events, fresh)
                closed = piece
        if self._interrupted and closed is None and last is not None and job.extract:
            # The record after it would have had to be looked at before this one is judged.
            self._pool.hear(judged_as_last(job, last), fresh)
        self._pool.settle(fresh)
        self._files += 1
        if shelved is not None and closed is not None and planned.stamp is not None:
            self._skipped.update(closed.tally)
            for error in closed.errors:
                self._report.error(f"{path}: {error}")
            shelved.finish(planned.stamp, closed.tally)

    def _unless_broken_off(self, read: Callable[[], _Read]) -> _Read | None:
        """What is read; None when the person does not wait for it."""
        try:
            with self._breakable():
                return read()
        except BrokenOff:
            self._interrupted = True
            return None

    def _take(self, batch: Batch, shelved: ShelvedSource, fresh: Seen) -> None:
        """Shelve records; `fresh` gets the keys to be proposed from."""
        self._masked += batch.masked
        self._records += len(batch.records)
        for record, new in zip(batch.records, shelved.take(batch.records), strict=True):
            if record.use is not Use.SAID:
                self._kept_out[str(record.use)] += 1
            elif new:
                fresh.add(record.key)

    def _sum_up(self, project: str, began: float, queued: Queued) -> WaveReport:
        return WaveReport(
            wave=self._number,
            project=project,
            state="interrupted" if self._interrupted else "done",
            files=self._files,
            unchanged=self._unchanged,
            bytes=self._bytes,
            records=self._records,
            fresh=self._shelf.fresh,
            skipped=self._skipped.total() + self._passed_over.total(),
            new=queued.new,
            repeated=queued.repeated,
            near=queued.near,
            over_cap=queued.over_cap,
            over_cap_left=queued.over_cap,
            masked=self._masked,
            kept_out=dict(self._kept_out),
            skipped_by=dict(self._skipped),
            passed_over=dict(self._passed_over),
            dropped=dict(self._pool.dropped),
            rules=queued.rules,
            errors=self._report.errors,
            report_folder=str(self._report.path),
            seconds=round(time.monotonic() - began, 3),
        )


class _Telling:
    """Passes progress on, at most every PROGRESS_SECONDS and at each end of a file."""

    def __init__(self, tell: Callable[[Progress], None], found: list[tuple[Path, int]]) -> None:
        self._tell = tell
        self._files_total = len(found)
        self._bytes_total = sum(size for _, size in found)
        self._files = self._bytes = 0
        self._last = 0.0

    def going(self, path: Path, records: int, candidates: int) -> None:
        """A file is being read."""
        now = time.monotonic()
        if now - self._last >= PROGRESS_SECONDS:
            self._last = now
            self._tell(
                Progress(
                    self._files, self._files_total, self._bytes, self._bytes_total,
                    str(path), records, candidates,
                )
            )  # fmt: skip

    def done(self, path: Path, size: int, records: int, candidates: int) -> None:
        """A file has been read."""
        self._files += 1
        self._bytes += size
        self.going(path, records, candidates)


def _lines(numbers: Sequence[int]) -> str:
    """`line 3`; of many the first ones."""
    shown = ", ".join(str(number + 1) for number in numbers[:LINES_TOLD])
    more = f" and {len(numbers) - LINES_TOLD:,} more" if len(numbers) > LINES_TOLD else ""
    return f"{'line' if len(numbers) == 1 else 'lines'} {shown}{more}"


def _is_text(path: Path) -> bool:
    """Whether a path can be stored, shown and opened again by what was stored."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True


def _reason(problem: SourceError, path: Path) -> str:
    """Why a file was passed over, without its name, so that reasons can be counted."""
    text = str(problem).replace(str(path), "").strip().rstrip(".")
    return text.removeprefix("is not text that reviewer reads: ").removeprefix("is in ")
