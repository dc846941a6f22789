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
from typing import Any

import msgspec

from reviewer.clock import Clock, iso
from reviewer.errors import SourceError
from reviewer.extraction.candidates import Candidate, Setting
from reviewer.extraction.extract import Dropped, KnownText, cited_lines, extract
from reviewer.extraction.ranking import CAP, Ranked, base_score, rank
from reviewer.promotion.enqueue import Known, count_again, queue_new
from reviewer.promotion.report import OverCap, ReportFolder
from reviewer.promotion.shelf import Shelf, ShelvedSource, Stamp
from reviewer.promotion.wave_report import Progress, WaveReport
from reviewer.sources.open import open_source
from reviewer.sources.records import Record, Scan, Shape, Use
from reviewer.sources.walk import Found, walk
from reviewer.store.database import Database
from reviewer.store.ledger import Act, Ledger, Scope, chunks
from reviewer.text.normalise import duplicate_key
from reviewer.text.secrets import mask

HANDFUL = 64
"""Records that are looked up in the store at a time."""

POOL = 5_000
"""Candidates kept in memory; when twice as many are there, the weaker half is let go."""

PROGRESS_SECONDS = 0.1

MASK = "[masked "
"""How a masked secret begins in a text (`text/secrets.py`)."""


class Wave:
    """Runs once. Keeps counts while it runs; `run` returns them as a report."""

    def __init__(self, database: Database, ledger: Ledger, clock: Clock) -> None:
        self._database = database
        self._ledger = ledger
        self._clock = clock
        self._shelf = Shelf(database, ledger, clock)
        self._known_text = KnownText()
        self._pool: list[Candidate] = []
        self._sightings: list[tuple[int, Candidate]] = []
        self._files = self._unchanged = self._bytes = self._records = self._masked = 0
        self._kept_out: Counter[str] = Counter()
        self._skipped: Counter[str] = Counter()
        self._passed_over: Counter[str] = Counter()
        self._dropped: Counter[str] = Counter()
        self._interrupted = False

    def run(
        self,
        paths: Sequence[Path],
        project: str,
        progress: Callable[[Progress], None],
        cancelled: Callable[[], bool],
    ) -> WaveReport:
        """See `Intake.ingest`."""
        began = time.monotonic()
        found = self._find(paths)
        roots = [str(path).encode("utf-8", "backslashreplace").decode() for path in paths]
        self._number = self._shelf.start(project, roots)
        self._report = ReportFolder(self._database.path, self._number)
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
            return self._finish(project, began)
        except BaseException:
            self._report.abandon()
            raise

    def _find(self, paths: Sequence[Path]) -> list[tuple[Path, int]]:
        found: list[tuple[Path, int]] = []
        for item in walk([Path(os.path.abspath(path)) for path in paths]):
            if not isinstance(item, Found):
                self._passed_over[item.reason] += 1
                continue
            if not _is_text(item.path):
                self._passed_over["a name that is no text"] += 1
                continue
            try:
                found.append((item.path, item.path.stat().st_size))
            except OSError as problem:
                self._passed_over[f"unreadable: {problem.strerror}"] += 1
        return found

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
            for candidate in extract(records, setting, self._drop, known=self._known_text):
                if candidate.record.key in fresh:
                    self._propose(candidate)
        except SourceError as problem:
            self._passed_over[_reason(problem, path)] += 1
            self._report.error(str(problem))
            return
        except OSError as problem:
            self._passed_over[f"unreadable: {problem.strerror}"] += 1
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

    def _drop(self, dropped: Dropped) -> None:
        self._dropped[dropped.reason] += 1
        self._report.drop(dropped)

    def _propose(self, candidate: Candidate) -> None:
        flags = set(candidate.flags) | ({"secret"} if MASK in candidate.content else set())
        self._pool.append(
            msgspec.structs.replace(
                candidate, record=_without_text(candidate), flags=tuple(sorted(flags))
            )
        )
        if len(self._pool) >= 2 * POOL:
            self._pool.sort(key=base_score, reverse=True)
            self._dropped["over the pool"] += len(self._pool) - POOL
            del self._pool[POOL:]

    def _finish(self, project: str, began: float) -> WaveReport:
        known = Known(self._database, self._shelf.project_id)
        ranked = self._ranked(known)
        now = iso(self._clock())
        with self._ledger.act("ingest", scope=Scope.INTAKE) as act:
            ids = queue_new(
                act,
                known,
                ranked.kept,
                project_id=self._shelf.project_id,
                wave_id=self._number,
                now=now,
            )
            count_again(act, self._sightings, project_id=self._shelf.project_id, now=now)
            for ranking in ranked.over_cap:
                self._report.drop(OverCap.of(ranking))
            near = _count_near(act, ids)
            report = self._summed_up(project, ranked, len(ids), near, began)
            self._report.candidates(_queued(act, ids))
            self._report.close(report)
            act.update(
                "wave",
                self._number,
                state=report.state,
                ended_at=now,
                report_folder=report.report_folder,
                counts=msgspec.json.encode(report.to_json()).decode(),
            )
            act.title = f"Ingested {self._files} files: {len(ids)} candidates"
        return report

    def _ranked(self, known: Known) -> Ranked:
        """Rank what is new to the project; what it knows already is counted again instead."""
        held = known.keys(self._pool)
        new: list[Candidate] = []
        for candidate in self._pool:
            number = held.get((str(candidate.type), duplicate_key(candidate.content)))
            if number is None:
                new.append(candidate)
            else:
                self._sightings.append((number, candidate))
        return rank(new, novelty=known.novelty, cap=CAP)

    def _summed_up(
        self, project: str, ranked: Ranked, queued: int, near: int, began: float
    ) -> WaveReport:
        over_cap = len(ranked.over_cap)
        rules = Counter(row.candidate.rule for kept in ranked.kept for row in (kept, *kept.members))
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
            new=queued,
            repeated=len(self._sightings) + ranked.repeated,
            near=near,
            over_cap=over_cap,
            over_cap_left=over_cap,
            masked=self._masked,
            kept_out=dict(self._kept_out),
            skipped_by=dict(self._skipped),
            passed_over=dict(self._passed_over),
            dropped=dict(self._dropped),
            rules=dict(rules),
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


def _without_text(candidate: Candidate) -> Record:
    """The record as the pool keeps it: its text is in the store by then, its lines are those of
    the span.
    """
    first, last = cited_lines(candidate)
    return msgspec.structs.replace(
        candidate.record, text="", meta={}, headings=(), shape=Shape.TURN,
        line_start=first, line_end=last,
    )  # fmt: skip


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
        "id", "type", "content", "rule", "extractor_version", "confidence", "rank", "seen",
        "leader_id", "path", "line_start", "line_end", "record_id",
    )  # fmt: skip
    rows: list[dict[str, Any]] = []
    for chunk in chunks(ids):
        sql = (
            "SELECT m.id, m.type, m.content, m.rule, m.extractor_version, m.confidence, m.rank,"
            " m.seen, m.leader_id, s.path, r.line_start, r.line_end, r.key FROM memory m"
            " JOIN evidence e ON e.id = (SELECT min(id) FROM evidence WHERE memory_id = m.id)"
            " JOIN record r ON r.id = e.record_id JOIN source s ON s.id = r.source_id"
            f" WHERE m.id IN ({','.join('?' * len(chunk))}) ORDER BY m.id"
        )
        rows += (dict(zip(columns, row, strict=True)) for row in act.query(sql, chunk))
    return rows


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
