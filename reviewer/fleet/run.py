"""A job over many files: what is read, by which executor, and what happens when a worker dies."""

from __future__ import annotations

import json
import logging
import os
import socket
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    CancelledError,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

import msgspec
from msgspec import Struct, structs

from reviewer.clock import iso
from reviewer.files import open_own
from reviewer.fleet.listing import listed
from reviewer.fleet.part import Job, read_only, write_part
from reviewer.fleet.places import LOCK, PLAN, RUNNING, Folder
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
STALE_SECONDS = 15 * 60
"""In a bucket, where nothing can be locked: a mark of a run that is older is of a dead one."""
PAUSE = 0.2
LAST_SECONDS = 5
"""How long the parts that are being read may take to end when a run is interrupted."""
CONNECT_SECONDS = 20
LOST_SECONDS = 30
"""How long a scheduler that cannot be reached is waited for."""
_PART = "reviewer.fleet.part"
"""The module that the processes import before they are forked."""
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
        folder.remove_unfinished()
        plan = _Plan(folder, JobSettings(now=iso(now)))
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


class _Plan:
    """Which files each part has. It only grows, so that a run that goes on finds the same parts."""

    def __init__(self, folder: Folder, settings: JobSettings) -> None:
        self.folder = folder
        self.settings = settings
        self.parts: list[FilePart] = []
        data = folder.read(PLAN)
        if data is None:
            return
        try:
            first, *rest = data.splitlines()
            self.settings = msgspec.json.decode(first, type=JobSettings)
            self.parts = [msgspec.json.decode(line, type=FilePart) for line in rest]
        except (ValueError, msgspec.DecodeError) as problem:
            raise FleetError(
                f"{folder.path(PLAN)} is not the plan of a job: {problem}. Use another folder."
            ) from problem
        if structs.replace(settings, now=self.settings.now) != self.settings:
            raise FleetError(
                f"{folder.place} was begun by another version of reviewer (then: extractors "
                f"{self.settings.extractors}; now: {settings.extractors}). Use another folder."
            )

    def add(self, files: Sequence[SourceFile], most: int) -> None:
        """Put files that are new or have changed into new parts of at most `most` files."""
        paths = {file.name: file.path for file in files if file.path}
        if paths:
            self.parts = [_with_paths(part, paths) for part in self.parts]
        known = {file.name: file for part in self.parts for file in part.files}
        fresh = deque(file for file in files if known.get(file.name) != file)
        if not fresh and self.parts:
            return
        while fresh:
            chosen: list[SourceFile] = []
            size = 0
            while fresh and len(chosen) < most and (size < PART_BYTES or not chosen):
                if chosen and size + fresh[0].bytes > PART_BYTES:
                    break
                size += fresh[0].bytes
                chosen.append(fresh.popleft())
            self.parts.append(FilePart(len(self.parts), tuple(chosen)))
        lines = [msgspec.json.encode(each) for each in (self.settings, *map(_shown, self.parts))]
        self.folder.write(PLAN, b"\n".join(lines) + b"\n")


def _shown(part: FilePart) -> FilePart:
    """The part as it is written down: without paths that have a secret."""
    if not any(file.path for file in part.files):
        return part
    return structs.replace(part, files=tuple(structs.replace(f, path="") for f in part.files))


def _with_paths(part: FilePart, paths: dict[str, str]) -> FilePart:
    """The part of a plan with the paths that the plan does not have, by the names of the files."""
    if not any(file.name in paths for file in part.files):
        return part
    files = tuple(structs.replace(f, path=paths.get(f.name, "")) for f in part.files)
    return structs.replace(part, files=files)


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
        whole = [p for p in self._plan.parts if table_name(p.number, FILES) in there]
        self.before = len(whole)
        for part in whole:
            self._count(write_part(self._job(part)))  # it is whole, so this only reads its counts
        numbers = {part.number for part in whole}
        self._waiting.extend(p for p in self._plan.parts if p.number not in numbers)
        while self._waiting and not self._cancelled():
            suspects = self._until_a_worker_dies()
            if suspects:
                self._one_by_one(suspects)
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

    def _one_by_one(self, suspects: list[FilePart]) -> None:
        """Read each part in a process of its own, so that the one with the guilty file is known."""
        with ThreadPoolExecutor(max_workers=min(8, self._workers.width)) as threads:
            for part, outcome in zip(suspects, threads.map(self._alone, suspects), strict=True):
                if outcome is None:
                    self._waiting.append(part)  # interrupted
                else:
                    self._count(outcome)

    def _alone(self, part: FilePart) -> PartDone | None:
        try:
            return self._found_guilty(part)
        except _InterruptedError:
            return None

    def _found_guilty(self, part: FilePart) -> PartDone:
        """Read a part, without the files that end the process that reads them."""
        done = self._in_a_process(write_part, self._job(part))
        if done is not None:
            return done
        killers: dict[str, str] = {}
        for file in part.files:
            alone = structs.replace(part, files=(file,))
            if self._in_a_process(_read_and_return, self._job(alone)) is None:
                killers[file.name] = f"{file.name} {KILLER}."
        self.killers.update(killers)
        done = self._in_a_process(write_part, self._job(part, killers))
        if done is None:  # only together do they need too much
            everything = {
                f.name: f"{f.name} {KILLER}, with others of its part." for f in part.files
            }
            self.killers.update(everything)
            done = write_part(self._job(part, everything))
        return done

    def _in_a_process(self, work: Callable[[Job], PartDone], job: Job) -> PartDone | None:
        """The result of work in a process of its own; None when that process died."""
        if self._cancelled():
            raise _InterruptedError
        with short_pool(1, _PART, LAST_SECONDS) as executor:
            future = executor.submit(work, job)
            while not wait([future], timeout=PAUSE).done:
                if self._cancelled():
                    raise _InterruptedError
            try:
                return future.result()
            except BrokenProcessPool:
                return None


class _InterruptedError(Exception):
    """The person has interrupted the run."""


def _read_and_return(job: Job) -> PartDone:
    read_only(job)
    return PartDone(job.part.number, 1, 0, 0, 0, 0)


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
    """Refuse a second run into a folder. Raises FleetError."""
    who = {"process": os.getpid(), "machine": socket.gethostname(), "at": time.time()}
    with ExitStack() as stack:
        if folder.is_local:
            handle = open_own(Path(folder.path(LOCK)), os.O_RDWR | os.O_CREAT)
            stack.callback(os.close, handle)
            try:
                lock(handle)
            except BlockingIOError:
                raise FleetError(
                    f"Another run is writing to {folder.place}: wait for it, or use another folder."
                ) from None
        else:
            _require_unused(folder)
            folder.write(RUNNING, json.dumps(who).encode())
            stack.callback(folder.write, RUNNING, b"{}")
        yield


def _require_unused(folder: Folder) -> None:
    """Raise FleetError when a fresh mark says that another run writes to a bucket."""
    data = folder.read(RUNNING)
    found: Any = msgspec.json.decode(data) if data else {}
    if not isinstance(found, dict) or not found:
        return
    age = time.time() - float(found.get("at", 0))
    if age < STALE_SECONDS:
        raise FleetError(
            f"Another run, process {found.get('process')} on {found.get('machine')}, has been "
            f"writing to {folder.place} for {age / 60:.0f} min. Wait for it or use another folder; "
            f"if it is dead, remove {folder.path(RUNNING)}."
        )


def _quiet(_: JobProgress) -> None:
    """Progress is not shown."""


def _never() -> bool:
    return False
