"""Reading many files in processes of their own: reading and judging are most of the work.

What comes out is the same, in the same order, as if the files were read one after the other; only
this process writes. The readers end when nobody listens any more, however that came about.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import IO, Protocol

from reviewer.errors import OtherKindError, SourceError
from reviewer.promotion import wire
from reviewer.promotion.collecting import collected_seldom
from reviewer.promotion.reader_process import ReaderProcess, may_fork, start
from reviewer.promotion.reading import Closed, Job, Piece, read

AHEAD = 16
"""Pieces of one file that may wait: readers do not run away from the writer."""
POLL = 0.2
WORTH = 8_000_000
"""Bytes to be read from which copies of this process pay. They are there in 20 ms."""
WORTH_ANEW = 32_000_000
"""The same for processes that begin anew, which takes each of them 0.3 s of work; a megabyte of
transcripts takes 20 ms."""
FILES = 4
MOST = 8

_LOST = b""
"""In place of a piece: the reader of this file is gone."""


class Reading(Protocol):
    """Hands out the pieces of files, which are asked for in the order of the jobs."""

    def pieces(self, job: Job) -> Iterator[Piece]:
        """The pieces of a file. Raises SourceError or OSError where it cannot be read."""
        ...

    def close(self) -> None:
        """Nothing more will be asked for."""
        ...


def readers_for(jobs: Sequence[tuple[Job, int]]) -> Reading:
    """Processes where jobs and bytes (the second of each pair) are many, else this process."""
    count = min(_cores(), MOST, len(jobs) // 2)
    copies = may_fork()
    least = WORTH if copies else max(WORTH, WORTH_ANEW)
    if count < 2 or len(jobs) < FILES or sum(size for _, size in jobs) < least:
        return Here()
    if not copies and not sys.executable:
        return Here()
    return Readers([job for job, _ in jobs], count)


class Here:
    """Reads in this process."""

    def pieces(self, job: Job) -> Iterator[Piece]:
        """See `Reading`."""
        return read(job)

    def close(self) -> None:
        """See `Reading`."""


class Readers:
    """Processes that read ahead. Each takes the next file as soon as it is done with one."""

    def __init__(self, jobs: Sequence[Job], count: int) -> None:
        self._over = threading.Event()
        self._arrived: dict[str, queue.Queue[bytes]] = {
            job.path: queue.Queue(AHEAD) for job in jobs
        }
        self._jobs = iter(jobs)
        self._next = threading.Lock()
        self._processes: list[ReaderProcess] = []
        with suppress(OSError):  # where the system lets no more begin, fewer do
            while len(self._processes) < count:
                self._processes.append(start(serve))
        self._threads = [
            threading.Thread(target=self._serve, args=(process,), name="reader", daemon=True)
            for process in self._processes
        ]
        for thread in self._threads:
            thread.start()

    def pieces(self, job: Job) -> Iterator[Piece]:
        """See `Reading`. A file whose reader is gone before its first piece is read here."""
        arrived = self._arrived.pop(job.path)
        begun = False
        while True:
            data = self._wait(arrived)
            if data == _LOST:
                if begun:
                    raise SourceError(
                        f"{job.path} cannot be read: the process that read it has ended. "
                        "The same command reads it again."
                    )
                yield from read(job)
                return
            sent = wire.unpack(data)
            if sent.errno is not None:
                raise OSError(sent.errno, sent.failed)
            if sent.failed is not None:
                raise (OtherKindError if sent.other_kind else SourceError)(sent.failed)
            piece = wire.piece_of(sent)
            begun = True
            yield piece
            if isinstance(piece, Closed):
                return

    def close(self) -> None:
        """See `Reading`."""
        self._over.set()
        for process in self._processes:
            process.kill()
        for thread in self._threads:
            thread.join()
        for process in self._processes:
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    _close(stream)

    def _wait(self, arrived: queue.Queue[bytes]) -> bytes:
        while True:
            try:
                return arrived.get(timeout=POLL)
            except queue.Empty:
                if not any(thread.is_alive() for thread in self._threads) and arrived.empty():
                    return _LOST

    def _serve(self, process: ReaderProcess) -> None:
        """Give a process one file after the other, and put aside what it sends."""
        assert process.stdin is not None
        assert process.stdout is not None
        while (job := self._take()) is not None:
            arrived = self._arrived[job.path]
            try:
                wire.write(process.stdin, job)
                last = False
                while not last:
                    sent = wire.read_bytes(process.stdout)
                    if sent is None:
                        raise BrokenPipeError
                    last, data = sent
                    if not self._put(arrived, data):
                        return
            except OSError:
                self._put(arrived, _LOST)
                return

    def _take(self) -> Job | None:
        with self._next:
            return None if self._over.is_set() else next(self._jobs, None)

    def _put(self, arrived: queue.Queue[bytes], data: bytes) -> bool:
        while not self._over.is_set():
            try:
                arrived.put(data, timeout=POLL)
            except queue.Full:
                continue
            return True
        return False


def serve_standard() -> None:
    """The life of a reading process that has begun anew."""
    stdin, stdout = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr
    serve(stdin, stdout)


def serve(stdin: IO[bytes], stdout: IO[bytes]) -> None:
    """The life of a reading process: jobs come in on stdin, pieces go out on stdout."""
    try:
        with collected_seldom():
            while (job := wire.read_job(stdin)) is not None:
                _answer(stdout, job)
    except (BrokenPipeError, KeyboardInterrupt):
        os._exit(0)  # nobody listens; flushing would only fail again


def _answer(stdout: IO[bytes], job: Job) -> None:
    try:
        for piece in read(job):
            wire.write(stdout, wire.pack(piece))
    except BrokenPipeError:
        raise
    except SourceError as problem:
        other_kind = isinstance(problem, OtherKindError)
        wire.write(stdout, wire.Sent(failed=str(problem), other_kind=other_kind))
    except OSError as problem:
        wire.write(stdout, wire.Sent(failed=problem.strerror or "", errno=problem.errno or 0))


def _close(stream: IO[bytes]) -> None:
    try:
        stream.close()
    except OSError:
        return  # what was not sent is not needed


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not everywhere
        return os.cpu_count() or 1
