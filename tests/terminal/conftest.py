"""The program in a pseudo-terminal, with an emulator of the visible screen."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pyte
import pytest

from reviewer.engine import Engine
from tests.waiting import PATIENCE

NOTES = """# Decisions

We decided to keep the order archive in PostgreSQL 16 because reports need window functions.

## Learnings

- Never deploy after Friday noon, since nobody watches the dashboards at the weekend.
- Always run the smoke tests before a release is tagged.
"""


class Terminal:
    """A running program, its keys and its screen."""

    def __init__(
        self, argv: list[str], folder: Path, columns: int, rows: int, **extra: str
    ) -> None:
        self.screen = pyte.Screen(columns, rows)
        self._parser = pyte.ByteStream(self.screen)
        self.stream = b""
        self.code: int | None = None
        environment = {
            **{name: value for name, value in os.environ.items() if name != "NO_COLOR"},
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
            "HOME": str(folder),
            **extra,
        }
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            os.chdir(folder)
            os.execve(argv[0], argv, environment)

    def press(self, keys: str) -> None:
        """Send characters."""
        self.send(keys.encode())

    def send(self, data: bytes) -> None:
        """Send bytes, whether they are text or not."""
        os.write(self._terminal, data)

    def waits(self, seconds: float) -> bool:
        """Whether output comes within so many seconds."""
        return bool(select.select([self._terminal], [], [], seconds)[0])

    def take(self) -> bytes:
        """The output that is there, past the emulator; nothing at the end of the program."""
        try:
            return os.read(self._terminal, 65536)
        except OSError:
            return b""

    def hang_up(self) -> None:
        """Close the terminal, as when its window is closed."""
        os.close(self._terminal)
        self._terminal = -1

    def read(self, seconds: float = 0.1) -> None:
        """Feed the emulator with the output of a while."""
        while self._terminal >= 0 and self.waits(seconds):
            data = self.take()
            if not data:
                return
            self.stream += data
            self._parser.feed(data)

    def rests(self, seconds: float, within: float = 40.0) -> bool:
        """Whether the program lives and a time comes of so many seconds without any drawing."""
        end = time.monotonic() + within
        while time.monotonic() < end and self.running():
            if not self.waits(seconds):
                return True
            self.read(0)
        return False

    @property
    def text(self) -> str:
        """The text on the screen."""
        return "\n".join(line.rstrip() for line in self.screen.display)

    def differs_from(self, text: str) -> bool:
        """Whether the screen shows something else."""
        return self.text != text

    def until(self, *words: str, seconds: float = PATIENCE) -> str:
        """Wait until all of these words are on the screen; the screen."""
        self.until_it(lambda: all(word in self.text for word in words), str(words), seconds)
        return self.text

    def until_it(
        self, true: Callable[[], bool], what: str = "what it should", seconds: float = PATIENCE
    ) -> None:
        """Wait until something is true of the screen."""
        end = time.monotonic() + seconds
        while not true():
            assert time.monotonic() < end, f"never showed {what}:\n{self.text}"
            assert self.running() or true(), f"ended with {self.code}:\n{self.text}"
            self.read()

    def running(self) -> bool:
        """Whether the program still runs."""
        if self.code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.code = os.waitstatus_to_exitcode(status)
                self.read()  # its last words
        return self.code is None

    def ended(self, seconds: float = PATIENCE) -> int:
        """Wait for the end; the exit code."""
        end = time.monotonic() + seconds
        while self.running():
            assert time.monotonic() < end, f"still runs:\n{self.text}"
            self.read()
        assert self.code is not None
        return self.code

    def kill(self) -> None:
        """End it at once, as a crash would."""
        if self.running():
            os.kill(self.pid, signal.SIGKILL)
            self.ended()
        if self._terminal >= 0:
            self.hang_up()


Launch = Callable[..., Terminal]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store with a few candidates."""
    notes = tmp_path / "notes.md"
    notes.write_text(NOTES, "utf-8")
    path = tmp_path / "store.db"
    engine = Engine.open(path)
    engine.intake.ingest([notes], project="acme")
    engine.close()
    return path


@pytest.fixture
def launch(store: Path) -> Iterator[Launch]:
    """Start the screen on the store; every terminal is ended after the test."""
    started: list[Terminal] = []

    def start(*arguments: str, columns: int = 100, rows: int = 30, **extra: str) -> Terminal:
        argv = [sys.executable, "-m", "reviewer", "--db", str(store), *arguments]
        started.append(Terminal(argv, store.parent, columns, rows, **extra))
        return started[-1]

    yield start
    for terminal in started:
        terminal.kill()
