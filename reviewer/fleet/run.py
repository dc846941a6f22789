"""A job over many files: what to read, and what to do when a worker dies. The parts are its only
state: a file in a complete part is done until it changes.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from datetime import datetime
from functools import partial

from msgspec import Struct, structs

from reviewer.clock import iso
from reviewer.fleet.listing import find_files
from reviewer.fleet.part import write_part
from reviewer.fleet.rows import FileRow
from reviewer.fleet.tables import Folder, Parts, part_name, run_of
from reviewer.fleet.values import FleetError, JobSettings, Part, SourceFile, extra, line
from reviewer.fleet.workers import Opener, died, processes

PART_BYTES = 32_000_000
PART_FILES = 256
"""A part is full at either."""
LEAST_PARTS = 16
"""Parts of a job with as many files, so that all workers have some."""
PAUSE = 0.2
KILLER = "ended the process that read it (out of memory, or a crash)"


class JobProgress(Struct):
    files_total: int
    bytes_total: int
    files: int = 0
    bytes: int = 0
    found: int = 0
    failed: int = 0

    def add(self, rows: Iterable[FileRow]) -> None:
        """Count files that were read."""
        for row in rows:
            self.files += 1
            self.bytes += row.bytes
            self.found += row.found
            self.failed += row.failed


class RunReport(Struct, frozen=True, kw_only=True):
    """The result of a run. `files` and the counts after it cover all complete parts."""

    folder: str
    state: str
    """`done` or `interrupted`."""
    parts: int
    parts_before: int
    """Parts that an earlier run had written."""
    parts_left: int
    files: int
    bytes: int
    found: int
    failed: int
    other_kind: int
    killers: tuple[str, ...]
    passed_over: dict[str, int]
    problems: tuple[str, ...]
    """The reason for each failed file."""
    seconds: float


def run(
    sources: Sequence[str],
    out: str,
    workers: Opener,
    *,
    now: datetime,
    progress: Callable[[JobProgress], None],
    cancelled: Callable[[], bool],
) -> RunReport:
    """Read the sources in parts into the folder `out`; existing parts are kept. `now`: the time for
    a new folder; later runs use that of the first. Raises SourceError for a source that cannot be
    listed, FleetError if the run cannot go on; what was written is kept.
    """
    began = time.monotonic()
    extra("pyarrow")
    folder = Folder(out)
    files, passed_over = find_files(sources, folder.place)
    folder.make()
    before = Parts(folder)
    rows = before.files()
    new = {file.name: file for file in files if not _is_read(file, rows.get(file.name))}
    kept = [row for name, row in rows.items() if name not in new]
    total = sum(row.bytes for row in kept) + sum(file.bytes for file in new.values())
    reading = _Run(
        _parts(new.values(), folder, before, now),
        workers,
        JobProgress(len(kept) + len(new), total),
        progress,
        cancelled,
    )
    reading.progress.add(kept)
    reading.go()
    rows |= {row.path: row for row in reading.rows}
    failed = sorted((row for row in rows.values() if row.failed), key=lambda row: row.path)
    return RunReport(
        folder=folder.place,
        state="interrupted" if reading.left else "done",
        parts=len(before.names) + reading.written + len(reading.left),
        parts_before=len(before.names),
        parts_left=len(reading.left),
        files=len(rows),
        bytes=sum(row.bytes for row in rows.values()),
        found=sum(row.found for row in rows.values()),
        failed=len(failed),
        other_kind=sum(row.other_kind for row in rows.values()),
        killers=tuple(row.path for row in failed if KILLER in row.problem),
        passed_over=dict(passed_over),
        problems=tuple(row.problem for row in failed),
        seconds=round(time.monotonic() - began, 3),
    )


def _is_read(file: SourceFile, row: FileRow | None) -> bool:
    """Whether a file is unchanged since it was read."""
    return row is not None and (file.bytes, file.modified_ns, file.etag) == (
        row.bytes,
        row.modified_ns,
        row.etag,
    )


def _parts(
    files: Iterable[SourceFile], folder: Folder, before: Parts, now: datetime
) -> deque[Part]:
    """The parts of those files, with names that sort after those of `before`."""
    settings = before.settings or JobSettings(now=iso(now))
    number = int(time.time() * 1000)
    if before.names:
        number = max(number, run_of(before.names[-1]) + 1)  # a clock may have been set back
    waiting = deque(files)
    most = min(PART_FILES, max(1, len(waiting) // LEAST_PARTS))
    parts: deque[Part] = deque()
    while waiting:
        chosen = [waiting.popleft()]
        size = chosen[0].bytes
        while waiting and len(chosen) < most and size + waiting[0].bytes <= PART_BYTES:
            size += waiting[0].bytes
            chosen.append(waiting.popleft())
        name = part_name(number, len(parts))
        parts.append(Part(name, tuple(chosen), folder.place, settings))
    return parts


class _Run:
    def __init__(
        self,
        parts: deque[Part],
        workers: Opener,
        progress: JobProgress,
        show: Callable[[JobProgress], None],
        cancelled: Callable[[], bool],
    ) -> None:
        self.left = parts
        self.written = 0
        self.rows: list[FileRow] = []
        self.progress = progress
        self._workers = workers
        self._show = show
        self._cancelled = cancelled

    def go(self) -> None:
        """Read until nothing is left, or until interrupted. Raises FleetError."""
        while self.left and not self._cancelled():
            for suspect in self._read(self.left, self._workers):
                self._read_alone(suspect)

    def _read_alone(self, part: Part) -> None:
        """Read a part in a process of its own. If it crashes the process, it is halved until a
        single file is left, which is named and not read.
        """
        one = deque([part])
        dead = self._read(one, partial(processes, 1))
        self.left.extend(one)  # not read because of an interruption
        if dead and len(part.files) > 1:
            middle = len(part.files) // 2
            for half, files in (("a", part.files[:middle]), ("b", part.files[middle:])):
                self._read_alone(structs.replace(part, name=part.name + half, files=files))
        elif dead:
            (file,) = part.files
            named = structs.replace(file, problem=f"{file.name} {KILLER}.")
            self._count(write_part(structs.replace(part, files=(named,))))

    def _read(self, waiting: deque[Part], workers: Opener) -> list[Part]:
        """Read the waiting parts; returns those in progress when a process died."""
        running: dict[Future[list[FileRow]], Part] = {}
        suspects: list[Part] = []
        try:
            with workers() as (executor, width, alive):
                while (waiting or running) and not suspects and not self._cancelled():
                    while waiting and len(running) < 2 * width and not suspects:
                        part = waiting.popleft()
                        try:
                            running[executor.submit(write_part, part)] = part
                        except BrokenProcessPool:
                            suspects.append(part)
                    done, _ = wait(running, timeout=PAUSE, return_when=FIRST_COMPLETED)
                    for future in done:
                        part = running.pop(future)
                        try:
                            self._count(future.result())
                        except Exception as problem:
                            if not died(problem):
                                raise
                            suspects.append(part)
                    if not done and not alive():
                        raise ConnectionError("the scheduler is gone")
        except FleetError:
            raise
        except Exception as problem:
            raise FleetError(
                f"The job cannot go on: {type(problem).__name__}: {line(problem)}. What was written"
                " is kept. On a cluster, make sure that the scheduler is running and that every"
                " machine has this version of reviewer with the extra `fleet`; then run the same"
                " command to go on."
            ) from problem
        if suspects:
            return [*suspects, *running.values()]
        waiting.extendleft(reversed(running.values()))
        return []

    def _count(self, rows: Sequence[FileRow]) -> None:
        self.written += 1
        self.rows += rows
        self.progress.add(rows)
        self._show(self.progress)
