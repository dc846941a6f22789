"""The reader that the person has, asked in the background: offered with its cost, begun with one
key, stopped with the same one.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from threading import Thread
from typing import IO, TYPE_CHECKING, Any

from reviewer.system import own_command
from reviewer.text.display import display_line
from reviewer.tui.kit.text import count

if TYPE_CHECKING:
    from reviewer.engine import Engine
    from reviewer.promotion.lists.readings import Offer

BEYOND, ROOM = 2, 20_000
"""A reading ends at this multiple of the tokens that were said, a small one at so many more."""


def reader_here() -> str:
    """`Claude Code is installed`; empty without a reader. Raises SettingsError."""
    from reviewer.llm.readers import readers
    from reviewer.settings import load_settings

    return next((each.presence for each in readers(load_settings().model)), "")


def find_offers(engine: Engine, project: str) -> list[Offer]:
    """What each reader that is here could read, the one of the settings first.

    Raises StoreError and SettingsError.
    """
    from reviewer.llm.readers import readers
    from reviewer.settings import load_settings

    return engine.readings.offer(readers(load_settings().model), project)


class BackgroundReading:
    """A process that asks a reader about sessions, so that no key has to wait for it. It ends with
    the screen; what is answered is kept.

    Raises OSError.
    """

    def __init__(self, store: Path, project: str, offer: Offer) -> None:
        self.reader = offer.reader.title
        most = max(BEYOND * offer.tokens_in, offer.tokens_in + ROOM)
        self._process = subprocess.Popen(  # noqa: S603
            own_command(
                "--db", str(store), "--project", project, "propose", "--yes", "--follow",
                "--newest", str(offer.sessions), "--max-tokens-in", str(most),
                *offer.reader.options,
            ),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        self._progress = ""
        self._ended: dict[str, Any] = {}
        self._complaint = ""
        self._stopping = False
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._threads = (
            Thread(target=self._follow, args=(self._process.stdout,), daemon=True),
            Thread(target=self._listen, args=(self._process.stderr,), daemon=True),
        )
        for each in self._threads:
            each.start()

    def stop(self) -> None:
        """Ask it to stop; it keeps the answers it has."""
        self._stopping = True
        if self._process.stdin is not None and not self._process.stdin.closed:
            self._process.stdin.close()

    @property
    def runs(self) -> bool:
        return self._process.poll() is None or any(each.is_alive() for each in self._threads)

    def sentence(self, key: str) -> str:
        """How far it is, or what came of it."""
        name = display_line(self.reader)
        if self.runs:
            if self._stopping:
                return f"{name}: stopping ..."
            return f"{name} reads, {key} stops it  {self._progress}"
        came = count(self.new, "new statement") if self.new else "nothing new"
        if cost := self._ended.get("tokens_in"):
            came = f"{came} for {cost:,} tokens in, {self._ended.get('tokens_out', 0):,} out"
        left = self._ended.get("left", 0)
        if self.problem:
            return f"{came.capitalize()}. {self.problem}" if self.new else self.problem
        if self._stopping and not self._ended:
            return f"Stopped before anything was sent; {key} begins again."
        if left:
            how = "Stopped" if self._stopping else "Stopped at the tokens that were said"
            return f"{how}: {came}, {count(left, 'part')} left; {key} goes on."
        remark = display_line(self._ended.get("remark", ""))
        return f"{name} has read them: {came}. {remark}".rstrip()

    @property
    def new(self) -> int:
        """The statements that it has added."""
        return int(self._ended.get("new", 0))

    @property
    def problem(self) -> str:
        """Why it has ended before its end, in a sentence; empty if it has not."""
        if self._ended or self._stopping:
            return str(self._ended.get("problem", ""))
        return self._complaint

    def _follow(self, stream: IO[bytes]) -> None:
        for line in stream:
            try:
                told = json.loads(line)
            except ValueError:
                continue
            if "progress" in told:
                self._progress = display_line(told["progress"])
            else:
                self._ended = told

    def _listen(self, stream: IO[bytes]) -> None:
        for line in stream:
            words = line.decode("utf-8", "replace").strip()
            self._complaint = display_line(words.removeprefix("Error: ")) or self._complaint
