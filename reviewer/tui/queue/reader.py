"""The reader offer above the list, with its price; the reader runs in the background and the same
key starts and stops it.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

from textual import on
from textual.message import Message
from textual.widgets import Static

from reviewer.system import own_command
from reviewer.text.display import display_line
from reviewer.tui.kit.keys import BACK
from reviewer.tui.kit.text import count, cut
from reviewer.tui.queue import keys
from reviewer.tui.theme import glyphs

if TYPE_CHECKING:
    from reviewer.engine import Engine
    from reviewer.promotion.lists.reader_log import Offer

ALL_READ = "Nothing is left to read: this project has no unread session."
NOBODY = (
    "Nothing is set up to read the sessions: install Claude Code, Codex, Gemini CLI, OpenCode or"
    " Copilot CLI, or name an endpoint under [model] in the settings."
)
LONG_WORD = 12
"""Cells that a line may lose to wrapping."""
BEYOND, ROOM = 2, 20_000
"""Token limit of a reading: this multiple of its estimate, at least this many more."""


class BackgroundReading:
    """A process that asks a reader about sessions, so that no key waits. It ends with the screen;
    answers so far are kept.

    Raises OSError.
    """

    class Told(Message):
        """The reader has reported progress, or has ended."""

    def __init__(self, store: Path, project: str, offer: Offer, told: Callable[[], object]) -> None:
        """`told` is called in the thread that listens to the process."""
        self.reader, self.sessions = display_line(offer.reader.title), offer.sessions
        self._expected = offer.amounts
        most = max(BEYOND * offer.tokens_in, offer.tokens_in + ROOM)
        self._process = subprocess.Popen(  # noqa: S603
            own_command(
                "--db", str(store), "--project", project, "propose", "--yes", "--follow",
                "--newest", str(offer.sessions), "--max-tokens-in", str(most),
                *offer.reader.options,
            ),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        self._told = told
        self.runs = True
        self._progress = ""
        self._ended: dict[str, Any] = {}
        self._complaint = ""
        self._stopping = False
        Thread(target=self._follow, daemon=True).start()

    def stop(self) -> None:
        """Stop it; answers so far are kept."""
        self._stopping = True
        if self._process.stdin is not None and not self._process.stdin.closed:
            self._process.stdin.close()

    @property
    def sentence(self) -> str:
        """Its progress or result."""
        key = keys.LET_READ.key
        if self.runs:
            if self._stopping:
                return f"{self.reader}: stopping ..."
            return f"{key} stops {self.reader}  {self._progress}"
        came = f"{self.new:,} new" if self.new else "nothing new"
        if deferred := self._ended.get("deferred"):
            came = f"{came}, {deferred:,} of them deferred"
        if joined := self._ended.get("joined"):
            came = f"{came}, {joined:,} joined"
        if cost := self._ended.get("tokens_in"):
            came = f"{came}; {cost:,} tokens in, {self._ended.get('tokens_out', 0):,} out"
            came = f"{came} (expected: {self._expected})"
        left = self._ended.get("left", 0)
        if self.problem:
            return f"{came.capitalize()}. {self.problem}"
        if self._stopping and not self._ended:
            return "Stopped before anything was sent."
        if left:
            how = "Stopped" if self._stopping else "Stopped at the token limit"
            return f"{how}: {came}, {count(left, 'part')} left."
        free = "" if cost else " It had answered before, so this cost nothing."
        read = f"{self.reader} read {count(self.sessions, 'session')}: {came}.{free}"
        return f"{read} {self._ended.get('remark', '')}".rstrip()

    @property
    def new(self) -> int:
        """The number of statements added."""
        return int(self._ended.get("new", 0))

    @property
    def problem(self) -> str:
        """The error that ended it early; empty without one."""
        if self._ended or self._stopping:
            return str(self._ended.get("problem", ""))
        return self._complaint

    def _follow(self) -> None:
        """Read the lines of the process: JSON is its progress or its result, any other line an
        error."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            told = None
            with suppress(ValueError):
                told = json.loads(line)
            if not isinstance(told, dict):
                words = line.decode("utf-8", "replace").strip().removeprefix("Error: ")
                self._complaint = display_line(words) or self._complaint
            elif "progress" in told:
                self._progress = display_line(told["progress"])
            else:
                self._ended = told
            self._told()
        if self._process.wait() < 0:  # killed, so its last line was no error
            self._complaint = (
                f"{self.reader} was ended by another program: {keys.LET_READ.key} starts it again."
            )
        self.runs = False
        self._told()


class ReaderBar(Static):
    """At most two lines above the list: the result of the last reading, then the offer or the
    progress, which waits where the result needs both.

    Empty lines are hidden.
    """

    DEFAULT_CSS = """
    ReaderBar { height: auto; max-height: 2; display: none; padding: 0 1; color: $warning; }
    ReaderBar.-shown { display: block; }
    """

    class Ended(Message):
        """A reading has ended; `problem` is its error, if it failed."""

        def __init__(self, new: int, problem: str) -> None:
            super().__init__()
            self.new = new
            self.problem = problem

    def __init__(self) -> None:
        super().__init__(id="reader", markup=False)
        self.offers: list[Offer] = []
        """Offers for this project, the default reader first."""
        self._came = ""
        """The result of the last reading."""
        self._reading: BackgroundReading | None = None

    @property
    def reads(self) -> bool:
        return self._reading is not None

    def take(self, offers: list[Offer]) -> None:
        self.offers = offers
        self._draw()

    def clear(self) -> None:
        """Clear everything for another project."""
        self._came = ""
        self.take([])

    def put_away(self) -> bool:
        """Clear the result of the last reading; returns whether there was any."""
        shown, self._came = bool(self._came), ""
        self._draw()
        return shown

    def begin(self, store: Path, project: str, offer: Offer) -> None:
        """Start a reading and show its progress until it ends. Raises OSError."""
        told = BackgroundReading.Told
        self._reading = BackgroundReading(store, project, offer, lambda: self.post_message(told()))
        self._came = ""
        self._draw()

    def stop(self) -> None:
        """Stop the reading, if any; answers so far are kept."""
        if self._reading is not None:
            self._reading.stop()
            self._draw()

    def on_unmount(self) -> None:
        self.stop()

    @on(BackgroundReading.Told)
    def _follow(self) -> None:
        reading = self._reading
        if reading is None or reading.runs:
            self._draw()
            return
        self._reading = None
        failed = bool(reading.problem) and not reading.new
        self._came = "" if failed else reading.sentence
        self.take([])
        self.post_message(self.Ended(reading.new, reading.problem if failed else ""))

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        words = short = ""
        if self._reading is not None:
            words = short = self._reading.sentence
        elif self.offers:
            starts, offer = f"{keys.LET_READ.key} starts", self.offers[0]
            words, short = f"{starts} {offer.sentence}", f"{starts} {offer.short}"
        room = self.app.size.width - 2
        ellipsis = glyphs(self.app).ellipsis
        now = cut(display_line(words if len(words) <= room else short), room, ellipsis)
        leaves = f"  {BACK.key} hides this"
        came = cut(display_line(self._came), 2 * room - LONG_WORD - len(leaves), ellipsis)
        came += leaves if came else ""
        text = "\n".join(each for each in (came, now) if each)
        if text != self.content:  # a layout, even of the same text, makes the next key a frame late
            self.set_class(bool(text), "-shown")
            self.update(text)


def find_offers(engine: Engine, project: str) -> list[Offer]:
    """The offers of all installed readers, the configured one first.

    Raises StoreError and SettingsError.
    """
    from reviewer.llm.readers import readers
    from reviewer.settings import load_settings

    return engine.reader_log.offer(readers(load_settings().model), project)
