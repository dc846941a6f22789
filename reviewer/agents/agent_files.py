"""The folder of agent data beside a store: sessions, the latest packet of each agent, files written
by `connect`, and a log of failed hooks.

Hooks of several agents write here at once: files are replaced atomically, the log is append-only.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct

from reviewer.clock import iso
from reviewer.files import make_private_folder, open_own, read_own, write_atomic
from reviewer.sharing import personal
from reviewer.system import lock as take_lock
from reviewer.text.for_agents import AgentText

SESSIONS, GIVEN, LOG = "sessions", "given", "hooks.log"

MAX_SESSIONS = 500
"""Session notes kept: the latest."""
LARGEST_NOTE = 64_000
LARGEST_LOG = 200_000

T = TypeVar("T", bound=Struct)

_ODD = re.compile(r"[^a-z0-9-]+")


class SessionNote(Struct, frozen=True, kw_only=True):
    """A session reported by an agent's hooks. `path`: its transcript, empty if unknown."""

    agent: str
    session: str
    path: str
    cwd: str
    at: str
    ended: bool = False
    read_at: str = ""
    """When its transcript was last ingested; empty if never."""
    problem: str = ""
    """Why its transcript could not be ingested."""


class GivenPacket(Struct, frozen=True, kw_only=True):
    """The latest packet that a hook sent to an agent."""

    agent: str
    session: str
    project: str
    at: str
    text: AgentText


class AgentFiles:
    """Reads and writes the folder. Writing raises OSError."""

    def __init__(self, store: Path) -> None:
        self.folder = personal(store, "-agents")

    def note_session(self, note: SessionNote) -> None:
        """Save a note, replacing an earlier one of the same session."""
        self._write(SESSIONS, self._session_name(note), note)

    def sessions(self) -> list[SessionNote]:
        """All notes, latest first, without unreadable ones."""
        folder = self.folder / SESSIONS
        names = sorted(os.listdir(folder)) if folder.is_dir() else []
        found = [self._read(folder / name, SessionNote) for name in names if name[:1] != "."]
        return sorted(filter(None, found), key=lambda note: note.at, reverse=True)

    def session(self, note: SessionNote) -> SessionNote | None:
        return self._read(self.folder / SESSIONS / self._session_name(note), SessionNote)

    def forget_old_sessions(self) -> None:
        for note in self.sessions()[MAX_SESSIONS:]:
            (self.folder / SESSIONS / self._session_name(note)).unlink(missing_ok=True)

    def note_given(self, given: GivenPacket) -> None:
        self._write(GIVEN, f"{_file_word(given.agent)}.json", given)

    def given(self, agent: str) -> GivenPacket | None:
        return self._read(self.folder / GIVEN / f"{_file_word(agent)}.json", GivenPacket)

    def log(self, at: datetime, line: str) -> None:
        """Append a line to the log; a log that has grown large is started again."""
        make_private_folder(self.folder)
        path = self.folder / LOG
        handle = open_own(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            if os.fstat(handle).st_size > LARGEST_LOG:
                os.ftruncate(handle, 0)
            text = " ".join(line.split())[:500]
            os.write(handle, f"{iso(at)} {text}\n".encode("utf-8", "backslashreplace"))
        finally:
            os.close(handle)

    @contextmanager
    def lock(self, name: str, *, wait: bool) -> Iterator[bool]:
        """A lock between processes; yields False if another has it and `wait` is not set."""
        make_private_folder(self.folder)
        handle = open_own(self.folder / f"{name}.lock", os.O_WRONLY | os.O_CREAT)
        try:
            try:
                take_lock(handle, wait=wait)
            except BlockingIOError:
                yield False
                return
            yield True
        finally:
            os.close(handle)

    def _session_name(self, note: SessionNote) -> str:
        key = hashlib.sha256(f"{note.session}\0{note.path}".encode("utf-8", "replace"))
        return f"{_file_word(note.agent)}-{key.hexdigest()[:16]}.json"

    def _write(self, room: str, name: str, value: Struct) -> None:
        folder = self.folder / room
        make_private_folder(self.folder)
        make_private_folder(folder)
        write_atomic(folder / name, msgspec.json.encode(value), durable=False)

    def _read(self, path: Path, type_: type[T]) -> T | None:
        """The value in a file; None if it is missing, unreadable or of another version."""
        try:
            return msgspec.json.decode(read_own(path, LARGEST_NOTE), type=type_)
        except (OSError, msgspec.DecodeError):
            return None


def _file_word(name: str) -> str:
    return _ODD.sub("-", name.lower())[:40] or "agent"
