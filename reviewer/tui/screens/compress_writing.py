"""Letting a model write: progress for each segment, streamed, stopped without loss."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Lock
from time import monotonic
from typing import TYPE_CHECKING

from textual.message import Message

from reviewer.compressing import Choice, Level, RetryExhaustedError, SegmentPreview, Watch
from reviewer.errors import ConflictError, ReviewerError
from reviewer.tui.compress_model import Key
from reviewer.tui.kit.text import count
from reviewer.tui.screens.compress_reading import CHANGED
from reviewer.tui.theme import glyphs

if TYPE_CHECKING:
    from reviewer.tui.screens.compress import CompressScreen
    from reviewer.tui.screens.compress_showing import Checked

DRAW_SECONDS = 0.08
"""Streamed text is drawn so often at most."""


class Run:
    """What is being written: pieces as they arrive, and whether a person stopped it."""

    def __init__(self, choices: Sequence[Choice]) -> None:
        self.choices = choices
        self.stopped = Event()
        self.done = 0
        self.failed = 0
        self._pieces: dict[str, list[str]] = {}
        self._lock = Lock()

    def add(self, segment: str, piece: str) -> None:
        """A piece of a segment's summary."""
        with self._lock:
            self._pieces.setdefault(segment, []).append(piece)

    def begin(self, segment: str) -> None:
        """A segment's summary begins, or begins anew: what was there before stands no longer."""
        with self._lock:
            self._pieces[segment] = []

    def text(self, segment: str) -> str | None:
        """What has arrived of a segment; None when it is not being written."""
        with self._lock:
            pieces = self._pieces.get(segment)
            return None if pieces is None else "".join(pieces)

    def ended(self, segment: str) -> None:
        """A segment is written no more."""
        with self._lock:
            self._pieces.pop(segment, None)


class Writing:
    """The runs of a `CompressScreen`."""

    class Streamed(Message):
        """Text has arrived."""

        def can_replace(self, message: Message) -> bool:
            """One drawing shows all that arrived before it."""
            return isinstance(message, Writing.Streamed)

    class Written(Message):
        """A segment is written, or is not, or all of them are through; `take` on the screen."""

        def __init__(self, take: Callable[[], None]) -> None:
            super().__init__()
            self.take = take

    def __init__(self, screen: CompressScreen) -> None:
        self._screen = screen
        self._engine = screen.engine
        self._run: Run | None = None
        self._name = "model"

    @property
    def running(self) -> str:
        """What goes on: `Writing 3 of 12`; empty for nothing."""
        run = self._run
        return "" if run is None else f"Writing {run.done + 1:,} of {len(run.choices):,}"

    def live(self, segment: str) -> str | None:
        """What has arrived of a segment that is being written."""
        return None if self._run is None else self._run.text(segment)

    def engine_words(self) -> str:
        """Which engine writes."""
        return "offline engine" if self._screen.model.engine == "offline" else self._name

    # the keys

    async def switch(self) -> None:
        """To the model, which writes this segment at once; or back to the offline engine."""
        from asyncio import to_thread

        screen, model = self._screen, self._screen.model
        if model.engine == "model":
            model.engine = "offline"
            screen.say("The offline engine writes; what the model wrote is kept for m.")
            screen.showing.settle()
            screen.list.refresh()
            return
        engines = self._engine.compression.engines
        self._name = (await to_thread(engines.summarizer, "model")).writer.name
        model.engine = "model"
        screen.list.refresh()
        choice = model.choice
        if choice is not None and model.waits(choice):
            self._start([choice])
        else:
            screen.showing.settle()
            screen.say(f"{self._name} writes when w asks it; W asks for all segments.")

    def write_here(self) -> None:
        """Let the model write the segment under the cursor, once more where it has."""
        screen, model = self._screen, self._screen.model
        choice = model.choice
        if choice is None or choice.level is Level.FULL:
            screen.say("Full is the original: 2 3 4 choose a level that the model writes.")
            return
        model.taken_offline.discard(choice.segment)
        if model.writer(choice) == "by hand":
            screen.say("This summary is by hand: its level's key leaves it, then w asks.")
            return
        self._start([choice])

    def write_all(self) -> None:
        """Let the model write everything that it has not written."""
        waiting = self._screen.model.waiting()
        if waiting:
            self._start(waiting)
        else:
            self._screen.say("Everything is written: A applies it.")

    def take_offline(self) -> None:
        """Take the offline result of the segment under the cursor."""
        screen, model = self._screen, self._screen.model
        choice = model.choice
        if choice is not None:
            model.taken_offline.add(choice.segment)
            model.troubles.pop(Key(choice.segment, choice.level, "model"), None)
            screen.say("The offline result stands for this segment; w asks the model after all.")
            screen.list.refresh()
            screen.showing.settle()

    def stop(self) -> None:
        """Stop; what was written stays."""
        if self._run is not None:
            self._run.stopped.set()
            self._screen.say("Stopping ...")

    # the work

    def _start(self, choices: Sequence[Choice]) -> None:
        screen, model = self._screen, self._screen.model
        run = self._run = Run(choices)
        for choice in choices:
            model.troubles.pop(Key(choice.segment, choice.level, "model"), None)
        plans = [model.asking(choice) for choice in choices]
        engine = self._engine
        watch = Watch(run.stopped.is_set, self._on_text(run), on_attempt=self._on_attempt(run))
        told: dict[str, Exception] = {}

        def one(number: int) -> None:
            choice = choices[number]
            if run.stopped.is_set() or told:
                return
            run.begin(choice.segment)
            screen.post_message(self.Streamed())
            try:
                found = engine.compression.preview(plans[number], watch).segments[0]
                checked = screen.showing.check(found)
            except ReviewerError as error:
                fault = error
                if not isinstance(error, RetryExhaustedError):
                    told["error"] = error  # the endpoint, not this segment: ask for no more
                self._tell(lambda: self._failed(run, choice, fault))
            else:
                self._tell(lambda: self._wrote(run, choice, found, checked))

        def work() -> None:
            many = engine.compression.engines.concurrency("model")
            with ThreadPoolExecutor(min(many, len(choices))) as pool:
                list(pool.map(one, range(len(choices))))
            self._tell(lambda: self._ended(run))

        screen.run_worker(work, thread=True, group="writing")
        screen.say(f"{self._name} writes {count(len(choices), 'segment')}; escape stops it.")
        screen.showing.draw()

    def _tell(self, take: Callable[[], None]) -> None:
        self._screen.post_message(self.Written(take))

    def _on_text(self, run: Run) -> Callable[[str, str], None]:
        drawn = 0.0

        def on_text(segment: str, piece: str) -> None:
            nonlocal drawn
            run.add(segment, piece)
            now = monotonic()
            if now - drawn >= DRAW_SECONDS:
                drawn = now
                self._screen.post_message(self.Streamed())

        return on_text

    def _on_attempt(self, run: Run) -> Callable[[str, int], None]:
        def on_attempt(segment: str, attempt: int) -> None:
            run.begin(segment)
            if attempt > 1:
                self._screen.post_message(self.Streamed())

        return on_attempt

    def _wrote(self, run: Run, choice: Choice, found: SegmentPreview, checked: Checked) -> None:
        screen, model = self._screen, self._screen.model
        run.ended(choice.segment)
        run.done += 1
        model.took_answer(choice, found)
        screen.showing.took(Key(choice.segment, choice.level, "model"), found, checked)
        if self._run is run and not run.stopped.is_set() and run.done < len(run.choices):
            screen.say(f"{self.running} with {self._name}; escape stops it.")

    def _failed(self, run: Run, choice: Choice, error: ReviewerError) -> None:
        screen = self._screen
        run.ended(choice.segment)
        if isinstance(error, ConflictError):
            run.stopped.set()
            screen.reading.read_again(CHANGED)
            return
        if run.stopped.is_set():
            screen.showing.draw()
            return
        run.failed += 1
        screen.showing.failed(Key(choice.segment, choice.level, "model"), str(error))
        screen.say(f"{error} o takes the offline result, w asks again.", bad=True)

    def _ended(self, run: Run) -> None:
        screen = self._screen
        if self._run is run:
            self._run = None
        written = f"{run.done:,} of {len(run.choices):,} written"
        if run.stopped.is_set():
            screen.say(f"Stopped: {written}, and kept. w or W goes on.")
        elif not run.failed:
            dot = glyphs(screen.app).dot
            screen.say(f"{self._name}: {written} {dot} A applies, w writes this one again.")
        screen.list.refresh()
        screen.showing.settle()
