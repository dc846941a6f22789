"""A job over many files: what is read, by which executor, and what happens when a worker dies."""

from __future__ import annotations

import logging
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Protocol, TypeVar

import msgspec
from msgspec import Struct, structs

from reviewer.clock import iso
from reviewer.files import open_own
from reviewer.fleet.listing import listed
from reviewer.fleet.part import Job, read_file, write_part
from reviewer.fleet.places import Folder
from reviewer.fleet.pool import cores, short_pool
from reviewer.fleet.values import (
    FILES,
    FilePart,
    FleetError,
    JobSettings,
    PartDone,
    SourceFile,
    extra,
    table_name,
)
from reviewer.system import lock

PART_BYTES = 32_000_000
PART_FILES = 256
"""A part is full at either."""
PLAN = "plan.ndjson"
"""In the folder of a job: its settings, then the files of each part."""
PAUSE = 0.2
LAST_SECONDS = 5
"""How long the parts that are being read may take to end when a run is interrupted."""
CONNECT_SECONDS = 20
LOST_SECONDS = 30
"""How long a scheduler that cannot be reached is waited for."""
_PART = "reviewer.fleet.part"
"""The module that the processes import before they are forked."""
_T = TypeVar("_T")
KILLER = "ended the process that read it (out of memory, or a crash)"


class JobProgress(Struct, frozen=True):
    """How far a job is."""

    files_done: int
    files_total: int
    bytes_done: int
    bytes_total: int
    found: int
    failed: int


class RunReport(Struct, frozen=True, kw_only=True):
    """What a run did. `files` and the counts after it are of all parts that are whole now."""

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
    seconds: float


class Workers(Protocol):
    """Where parts are read."""

    width: int
    """Parts that are read at the same time."""

    def open(self) -> AbstractContextManager[Executor]:
        """An executor, closed at the end of the block."""
        ...

    def explain(self, problem: BaseException) -> FleetError | None:
        """The error for a part that failed; None when the process that read it died."""
        ...

    def check(self) -> None:
        """Raise FleetError when nothing can be expected any more."""
        ...


class Processes:
    """Processes of this machine."""

    def __init__(self, width: int | None = None) -> None:
        self.width = width or cores()

    @contextmanager
    def open(self) -> Iterator[Executor]:
        with short_pool(self.width, _PART, LAST_SECONDS) as executor:
            yield executor

    def explain(self, problem: BaseException) -> FleetError | None:
        return None if isinstance(problem, BrokenProcessPool) else _as_fleet_error(problem)

    def check(self) -> None:
        """The pool says itself when a process has died."""


class DaskCluster:
    """The workers of a Dask scheduler."""

    def __init__(self, address: str) -> None:
        distributed = extra("distributed")
        self._address = address
        self._lost_since: float | None = None
        logging.disable(logging.CRITICAL)  # what matters of its logs becomes a sentence
        try:
            self._client = distributed.Client(address, timeout=CONNECT_SECONDS)
            self.width = max(1, sum(self._client.ncores().values()))
        except (OSError, TimeoutError, ValueError) as problem:
            raise FleetError(
                f"No Dask scheduler answers at {address}: {_line(problem)}. Start one: dask "
                "scheduler; then on each machine: dask worker ADDRESS"
            ) from problem
        if not self._client.ncores():
            self._client.close()
            raise FleetError(
                f"The scheduler at {address} has no workers. On each machine: dask worker {address}"
            )

    @contextmanager
    def open(self) -> Iterator[Executor]:
        executor: Executor = self._client.get_executor(retries=2, pure=False)
        try:
            yield executor
        finally:
            executor.shutdown(wait=False)  # which cancels what has not begun

    def explain(self, problem: BaseException) -> FleetError | None:
        if type(problem).__name__ == "KilledWorker":
            return None
        if isinstance(problem, ModuleNotFoundError) or "deserializ" in str(problem):
            return FleetError(
                "A machine of the cluster cannot run reviewer's part: "
                f"{_line(problem.__cause__ or problem)}. Install the same version with the "
                "extra `fleet` on the scheduler and on every worker."
            )
        if isinstance(problem, (CancelledError, OSError)) and not isinstance(problem, FleetError):
            return self._gone(problem)
        return _as_fleet_error(problem)

    def check(self) -> None:
        """Raise FleetError when the scheduler has been gone for LOST_SECONDS."""
        if self._client.status == "running":
            self._lost_since = None
            return
        now = time.monotonic()
        self._lost_since = self._lost_since or now
        if self._client.status == "closed" or now - self._lost_since > LOST_SECONDS:
            raise self._gone(None)

    def close(self) -> None:
        """Leave the cluster as it is."""
        self._client.close(timeout=2)

    def _gone(self, problem: BaseException | None) -> FleetError:
        said = f" ({_line(problem)})" if problem is not None and str(problem) else ""
        return FleetError(
            f"The Dask scheduler at {self._address} is gone{said}. The parts that were written are "
            "kept: start it again, and run the same command to go on."
        )


def run(
    sources: Sequence[str],
    out: str,
    workers: Workers,
    *,
    now: datetime,
    part_files: int = PART_FILES,
    progress: Callable[[JobProgress], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> RunReport:
    """Read the sources in parts into the folder `out`; parts that are whole there are kept.

    `part_files`: files of a part at most. `now`: the moment for a new folder; a run that goes on
    uses the one of the first.

    Raises SourceError for a source that cannot be listed, FleetError when nothing can go on. What
    was written until then is kept.
    """
    began = time.monotonic()
    extra("pyarrow")
    folder = Folder(out)
    files, passed_over = listed(sources, folder)
    folder.make()
    with _only_run(folder):
        plan = _Plan(folder, now)
        plan.add(files, part_files)
        run_ = _Run(plan, workers, progress or _quiet, cancelled or _never)
        run_.go()
    return RunReport(
        folder=folder.place,
        state="interrupted" if run_.left else "done",
        parts=len(plan.parts),
        parts_before=run_.before,
        parts_left=run_.left,
        files=run_.files,
        bytes=run_.bytes,
        found=run_.found,
        failed=run_.failed,
        other_kind=run_.other_kind,
        killers=tuple(sorted(run_.killers)),
        passed_over=dict(passed_over),
        seconds=round(time.monotonic() - began, 3),
    )


def read_plan(folder: Folder) -> tuple[JobSettings, list[FilePart]] | None:
    """The settings and the parts of the job of a folder; None where there is none.

    Raises FleetError for the plan of another version.
    """
    data = folder.read(PLAN)
    if data is None:
        return None
    try:
        first, *rest = data.splitlines()
        settings = msgspec.json.decode(first, type=JobSettings)
        parts = [msgspec.json.decode(line, type=FilePart) for line in rest]
    except (ValueError, msgspec.DecodeError) as problem:
        raise FleetError(
            f"{folder.path(PLAN)} is not the plan of a job: {problem}. Use another folder."
        ) from problem
    if settings != JobSettings(now=settings.now):
        raise FleetError(
            f"{folder.place} was begun by another version of reviewer (layout {settings.layout}, "
            f"extractors {settings.extractors}). Use another folder."
        )
    return settings, parts


class _Plan:
    """Which files each part has. It only grows, so that a run that goes on finds the same parts."""

    def __init__(self, folder: Folder, now: datetime) -> None:
        self.folder = folder
        self.settings, self.parts = read_plan(folder) or (JobSettings(now=iso(now)), [])

    def add(self, files: Sequence[SourceFile], most: int) -> None:
        """Put files that are new or have changed into new parts of at most `most` files."""
        known = {file.name: file for part in self.parts for file in part.files}
        fresh = deque(file for file in files if known.get(file.name) != file)
        if not fresh and self.parts:
            return
        while fresh:
            chosen = [fresh.popleft()]
            size = chosen[0].bytes
            while fresh and len(chosen) < most and size + fresh[0].bytes <= PART_BYTES:
                size += fresh[0].bytes
                chosen.append(fresh.popleft())
            self.parts.append(FilePart(len(self.parts), tuple(chosen)))
        lines = [msgspec.json.encode(each) for each in (self.settings, *self.parts)]
        self.folder.write(PLAN, b"\n".join(lines) + b"\n")


class _Run:
    """Reads the parts of a plan that are not whole yet."""

    def __init__(
        self,
        plan: _Plan,
        workers: Workers,
        progress: Callable[[JobProgress], None],
        cancelled: Callable[[], bool],
    ) -> None:
        self._plan = plan
        self._workers = workers
        self._progress = progress
        self._cancelled = cancelled
        self._files_total = sum(len(part.files) for part in plan.parts)
        self._bytes_total = sum(part.bytes for part in plan.parts)
        self._waiting: deque[FilePart] = deque()
        self.killers: set[str] = set()
        self.files = self.bytes = self.found = self.failed = self.other_kind = 0
        self.before = 0
        self.left = 0

    def go(self) -> None:
        """Read until all parts are whole or the person has interrupted. Raises FleetError."""
        there = self._plan.folder.names()
        for part in self._plan.parts:
            if table_name(part.number, FILES) in there:
                self.before += 1
                self._count(write_part(self._job(part)))  # which only reads its counts
            else:
                self._waiting.append(part)
        while self._waiting and not self._cancelled():
            for part in self._until_a_worker_dies():
                self._read_alone(part)
        self.left = len(self._waiting)

    def _job(self, part: FilePart, killers: dict[str, str] | None = None) -> Job:
        return Job(part, self._plan.folder.place, self._plan.settings, killers or {})

    def _count(self, done: PartDone) -> None:
        self.files += done.files
        self.bytes += done.bytes
        self.found += done.found
        self.failed += done.failed
        self.other_kind += done.other_kind
        self._progress(
            JobProgress(
                self.files,
                self._files_total,
                self.bytes,
                self._bytes_total,
                self.found,
                self.failed,
            )
        )

    def _until_a_worker_dies(self) -> list[FilePart]:
        """Hand out parts; returns those that were being read when a process died."""
        running: dict[Future[PartDone], FilePart] = {}
        suspects: list[FilePart] = []
        with self._workers.open() as executor:
            try:
                while (self._waiting or running) and not suspects:
                    if self._cancelled():
                        break
                    while self._waiting and len(running) < 2 * self._workers.width:
                        part = self._waiting.popleft()
                        try:
                            running[executor.submit(write_part, self._job(part))] = part
                        except BrokenProcessPool:
                            suspects.append(part)
                            break
                    done, _ = wait(running, timeout=PAUSE, return_when=FIRST_COMPLETED)
                    for future in done:
                        part = running.pop(future)
                        try:
                            self._count(future.result())
                        except BaseException as problem:
                            error = self._workers.explain(problem)
                            if error is not None:
                                self._waiting.appendleft(part)
                                raise error from problem
                            suspects.append(part)
                    if not done:
                        self._workers.check()
            finally:
                for future in running:
                    future.cancel()
        # A part that was finished just before counts when it is looked at again.
        if suspects:
            suspects += running.values()
        else:
            self._waiting.extendleft(reversed(running.values()))
        return sorted(suspects, key=lambda part: part.number)

    def _read_alone(self, part: FilePart) -> None:
        """Read a part in a process of its own, without the files that end it."""
        done = self._in_a_process(write_part, self._job(part))
        if done is None:
            alone = (structs.replace(part, files=(file,)) for file in part.files)
            guilty = {
                each.files[0].name
                for each in alone
                if self._in_a_process(_only_read, self._job(each)) is None
            }
            done = self._without(part, guilty)
            if done is None:  # only together do they need too much
                done = self._without(part, {file.name for file in part.files})
        if self._cancelled() or done is None:
            self._waiting.append(part)
        else:
            self._count(done)

    def _without(self, part: FilePart, guilty: set[str]) -> PartDone | None:
        if self._cancelled():
            return None
        self.killers |= guilty
        problems = {name: f"{name} {KILLER}." for name in guilty}
        return self._in_a_process(write_part, self._job(part, problems))

    def _in_a_process(self, work: Callable[[Job], _T], job: Job) -> _T | None:
        """The result of work in a process of its own; None when that process died, or the person
        has interrupted.
        """
        with short_pool(1, _PART, LAST_SECONDS) as executor:
            future = executor.submit(work, job)
            while not wait([future], timeout=PAUSE).done:
                if self._cancelled():
                    return None
            try:
                return future.result()
            except BrokenProcessPool:
                return None


def _only_read(job: Job) -> bool:
    """Read the file of a part and write nothing: to find out whether it ends its process."""
    for file in job.part.files:
        if not file.problem:
            read_file(file, job.settings)
    return True


def _as_fleet_error(problem: BaseException) -> FleetError:
    if isinstance(problem, FleetError):
        return problem
    if not isinstance(problem, Exception):
        raise problem
    return FleetError(f"A part could not be written: {type(problem).__name__}: {_line(problem)}")


def _line(problem: BaseException) -> str:
    return " ".join(str(problem).split())[:300].rstrip(".") or type(problem).__name__


@contextmanager
def _only_run(folder: Folder) -> Iterator[None]:
    """Refuse a second run into a folder of this machine. Raises FleetError."""
    if not folder.is_local:
        yield
        return
    handle = open_own(Path(folder.path(".lock")), os.O_RDWR | os.O_CREAT)
    try:
        lock(handle)
        yield
    except BlockingIOError:
        raise FleetError(
            f"Another run is writing to {folder.place}: wait for it, or use another folder."
        ) from None
    finally:
        os.close(handle)


def _quiet(_: JobProgress) -> None:
    """Progress is not shown."""


def _never() -> bool:
    return False
