"""One ingestion: read, mask, keep L0, extract, rank, queue, report."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from itertools import islice
from pathlib import Path

import msgspec

from reviewer.clock import Clock
from reviewer.errors import SourceError, StoreError
from reviewer.extraction.candidates import Setting
from reviewer.promotion.closing import Queued, close_wave
from reviewer.promotion.pool import Pool
from reviewer.promotion.report import ReportFolder
from reviewer.promotion.shelf import Shelf, ShelvedSource, Stamp
from reviewer.promotion.wave_report import Progress, WaveReport
from reviewer.sources.open import open_source
from reviewer.sources.records import Record, Scan, Use
from reviewer.sources.walk import Found, walk
from reviewer.store.database import Database
from reviewer.store.ledger import Ledger
from reviewer.text.secrets import mask

HANDFUL = 64
"""Records that are looked up in the store at a time."""

PROGRESS_SECONDS = 0.1


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
        extract: bool = True,
    ) -> WaveReport:
        """See `Intake.ingest`."""
        began = time.monotonic()
        found = self._find(paths)
        roots = [str(path).encode("utf-8", "backslashreplace").decode() for path in paths]
        self._number = self._shelf.start(project, roots)
        self._report = ReportFolder(self._database.path, self._number)
        self._pool = Pool(self._report.drop, self._report.overflow)
        self._extract = extract
        for line in self._unreadable:
            self._report.error(line)
        self._tell = _Telling(progress, found)
        self._cancelled = cancelled
        try:
            for path, size in found:
                if cancelled():
                    self._interrupted = True
                    break
                self._read(path)
                self._bytes += size
                self._tell.done(path, size, self._records, len(self._pool))
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

    def _find(self, paths: Sequence[Path]) -> list[tuple[Path, int]]:
        found: list[tuple[Path, int]] = []
        for item in walk([Path(os.path.abspath(path)) for path in paths]):
            if not isinstance(item, Found):
                self._pass_over(item.path, item.reason)
                continue
            if not _is_text(item.path):
                self._pass_over(item.path, "a name that is no text")
                continue
            try:
                found.append((item.path, item.path.stat().st_size))
            except OSError as problem:
                self._pass_over(item.path, f"file cannot be read: {problem.strerror}")
        return found

    def _pass_over(self, path: Path, reason: str) -> None:
        """Count a file that is not read; what a person may have wanted read is also logged."""
        self._passed_over[reason] += 1
        if "cannot be read" in reason or "no text" in reason:
            self._unreadable.append(f"{path}: {reason}")

    def _read(self, path: Path) -> None:
        try:
            stamp = Stamp.of(path)
            if self._shelf.unchanged(path, stamp):
                self._unchanged += 1
                return
            scan = open_source(path)
            shelved = self._shelf.open_source(path, scan.format)
            modified = datetime.fromtimestamp(stamp.modified_ns / 1e9, UTC)
            setting = Setting(path=str(path), now=self._clock(), updated=modified)
            fresh: set[str] = set()
            records = self._records_of(scan, shelved, fresh)
            if self._extract:
                self._pool.draw(records, setting, fresh)
            else:
                for _ in records:
                    pass
        except SourceError as problem:
            self._passed_over[_reason(problem, path)] += 1
            self._report.error(str(problem))
            return
        except OSError as problem:
            self._passed_over[f"file cannot be read: {problem.strerror}"] += 1
            self._report.error(f"{path}: {problem.strerror}")
            return
        self._files += 1
        self._skipped.update(scan.tally)
        for error in scan.errors:
            self._report.error(f"{path}: {error}")
        if not self._interrupted:
            shelved.finish(stamp, dict(scan.tally))

    def _records_of(self, scan: Scan, shelved: ShelvedSource, fresh: set[str]) -> Iterator[Record]:
        """The file's records, masked and shelved; `fresh` gets the keys to be proposed from."""
        remaining = iter(scan)
        while handful := [self._without_secrets(r) for r in islice(remaining, HANDFUL)]:
            is_fresh = shelved.take(handful)
            for record, new in zip(handful, is_fresh, strict=True):
                self._records += 1
                if record.use is not Use.SAID:
                    self._kept_out[str(record.use)] += 1
                elif new:
                    fresh.add(record.key)
                yield record
            self._tell.going(scan.path, self._records, len(self._pool))
            if self._cancelled():
                self._interrupted = True
                return

    def _without_secrets(self, record: Record) -> Record:
        masked = mask(record.text)
        headings = tuple(_mask_label(heading) for heading in record.headings)
        meta = {name: _mask_label(value) for name, value in record.meta.items()}
        self._masked += len(masked.kinds)
        if masked.kinds or headings != record.headings or meta != record.meta:
            return msgspec.structs.replace(record, text=masked.text, headings=headings, meta=meta)
        return record

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


@lru_cache(maxsize=4096)
def _mask_label(text: str) -> str:
    """A heading, folder or branch without secrets; the same ones come with every record."""
    return mask(text).text


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
    return text.removeprefix("is not text that reviewer reads: ")
