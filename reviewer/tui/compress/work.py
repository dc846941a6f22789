"""Work of the Compress screen in threads: previews in order of urgency, and a model's summaries."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Lock
from typing import Any, NamedTuple

from textual.message import Message

from reviewer.clock import TimeLeft
from reviewer.compression.plan import Choice, Plan, SegmentPreview
from reviewer.compression.preview import Watch
from reviewer.errors import ReviewerError
from reviewer.llm.steering import RetryExhaustedError
from reviewer.tui.compress.model import Checked

FAILURES = 2
"""Failures of the endpoint in a row after which the other segments are not asked for."""
DRAW_SECONDS = 0.08
"""Least time between two drawings of streamed text."""


class Delivered(Message):
    """A result from a thread; `take` uses it on the screen."""

    def __init__(self, take: Callable[[], None]) -> None:
        super().__init__()
        self.take = take


class Streamed(Message):
    """A model wrote more of a summary. The next one is posted when its text is drawn."""


class Job(NamedTuple):
    """Work in a thread with a callback for its result, identified by `key`."""

    key: Hashable
    work: Callable[[], Any]
    then: Callable[[Any], None]
    failed: Callable[[ReviewerError], None]


class PreviewQueue:
    """One thread that works through jobs, the most urgent first.

    One thread, because previews share the engine's cached analysis of a segment. A job that is no
    longer wanted is dropped before its turn comes.
    """

    def __init__(
        self,
        start: Callable[[Callable[[], None]], object],
        deliver: Callable[[Delivered], object],
    ) -> None:
        """`start` runs a function in a thread; `deliver` hands a result to the screen's thread."""
        self._start = start
        self._deliver = deliver
        self._lock = Lock()
        self._waiting: deque[Job] = deque()
        self._working: Hashable = None
        self._alive = False
        self._generation = 0

    @property
    def pending(self) -> int:
        """How many jobs have not begun."""
        return len(self._waiting)

    def replace(self, jobs: Sequence[Job]) -> None:
        """Replace the waiting jobs by these, in this order; the job in progress continues."""
        with self._lock:
            self._waiting = deque(job for job in jobs if job.key != self._working)
            self._begin()

    def prioritize(self, job: Job) -> None:
        """Do this job before all others."""
        with self._lock:
            self._waiting = deque([job, *(each for each in self._waiting if each.key != job.key)])
            self._begin()

    def start_over(self) -> None:
        """Drop everything; the result of the job in progress is ignored."""
        with self._lock:
            self._waiting.clear()
            self._working = None
            self._generation += 1

    def _begin(self) -> None:
        if self._waiting and not self._alive:
            self._alive = True
            self._start(self._work)

    def _next(self) -> tuple[Job, int] | None:
        with self._lock:
            if not self._waiting:
                self._alive = False
                self._working = None
                return None
            job = self._waiting.popleft()
            self._working = job.key
            return job, self._generation

    def _work(self) -> None:
        while (found := self._next()) is not None:
            self._do(*found)

    def _do(self, job: Job, generation: int) -> None:
        take: Callable[[Any], None]
        value: Any
        try:
            take, value = job.then, job.work()
        except ReviewerError as error:
            take, value = job.failed, error

        def take_if_current() -> None:
            if generation == self._generation:
                take(value)

        self._deliver(Delivered(take_if_current))


class Task:
    """Work that takes seconds: its progress, and whether a person stopped it."""

    def __init__(self, words: str) -> None:
        self.words = words
        self.stopped = Event()
        self._time = TimeLeft()

    def left(self, done: int, total: int) -> str:
        """`, about 40 s left`; empty as long as nobody can say."""
        left = self._time.words(done, total)
        return f", {left}" if left else ""


Preview = Callable[[Plan, Watch], tuple[SegmentPreview, Checked]]


class ModelRun:
    """Summaries that a model is writing: pieces as they arrive, and whether it was stopped."""

    def __init__(self, choices: Sequence[Choice], plans: Sequence[Plan]) -> None:
        """`plans`: one for each choice."""
        self.choices = choices
        self.stopped = Event()
        self.done = 0
        self.answered_before = 0
        """How many of them the model wrote in an earlier run."""
        self.failed = 0
        self.last_failure = ""
        self._plans = plans
        self._at_once = 1
        self._time = TimeLeft()
        self._pieces: dict[str, list[str]] = {}
        self._announced = False
        """A message that there is more text is on its way to the screen."""
        self._lock = Lock()

    @property
    def words(self) -> str:
        """`Writing 3 of 12, 1 answered before, about 40 s left`."""
        ended, total, before = self.done + self.failed, len(self.choices), self.answered_before
        left = self._time.words(ended - before, total - before, min(self._at_once, total - ended))
        taken = f"{before:,} answered before" if before else ""
        return ", ".join(filter(None, (f"Writing {self.done + 1:,} of {total:,}", taken, left)))

    def text(self, segment: str) -> str | None:
        """The text of a segment so far; None when it is not being written."""
        with self._lock:
            pieces = self._pieces.get(segment)
            return None if pieces is None else "".join(pieces)

    def shown(self) -> None:
        """The text so far is about to be drawn: what comes from now on is announced again."""
        with self._lock:
            self._announced = False

    def ended(self, segment: str) -> None:
        """A segment is no longer being written."""
        with self._lock:
            self._pieces.pop(segment, None)

    def write(
        self,
        preview: Preview,
        post: Callable[[Message], object],
        written: Callable[[Choice, SegmentPreview, Checked], None],
        failed: Callable[[Choice, ReviewerError], None],
        *,
        at_once: int,
    ) -> None:
        """Write everything, `at_once` segments in parallel; returns when all is done or stopped.

        `written` and `failed` are called on the screen's thread, by way of `post`.
        """
        self._at_once = at_once
        in_a_row = 0

        def announce() -> None:
            with self._lock:
                known, self._announced = self._announced, True
            if not known:
                post(Streamed())

        def on_text(segment: str, piece: str) -> None:
            with self._lock:
                self._pieces.setdefault(segment, []).append(piece)
            announce()

        def on_attempt(segment: str, _: int) -> None:
            with self._lock:
                self._pieces[segment] = []  # drop the text of the previous attempt
            announce()

        watch = Watch(self.stopped.is_set, on_text, on_attempt=on_attempt)

        def one(choice: Choice, plan: Plan) -> None:
            nonlocal in_a_row
            if self.stopped.is_set() or in_a_row >= FAILURES:
                return
            on_attempt(choice.segment, 0)
            try:
                found, checked = preview(plan, watch)
            except ReviewerError as error:
                problem = error
                # A refused answer is one; other failures will happen to every segment.
                in_a_row = 0 if isinstance(error, RetryExhaustedError) else in_a_row + 1
                post(Delivered(lambda: failed(choice, problem)))
            else:
                in_a_row = 0
                post(Delivered(lambda: written(choice, found, checked)))

        with ThreadPoolExecutor(min(at_once, len(self.choices))) as pool:
            list(pool.map(one, self.choices, self._plans))
