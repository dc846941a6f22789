"""Reading the sessions of a project from the Queue screen: on a key, then as agents write them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from reviewer.system import own_command, working_folder
from reviewer.text.display import display_line
from reviewer.tui.kit.keys import BACK
from reviewer.tui.kit.option import Option
from reviewer.tui.kit.running import RunningAct
from reviewer.tui.kit.text import count

if TYPE_CHECKING:
    from reviewer.engine import Engine
    from reviewer.promotion.waves.report import WaveProgress, WaveReport
    from reviewer.sources.discovery import FoundSession
    from reviewer.tui.theme import Glyphs

BAR_CELLS = 12
MAX_ENTRIES = 2_000
"""Maximum entries of a folder to list."""


class SessionsHere(Struct, frozen=True):
    """The sessions of this project on this machine, without sub-agents."""

    sessions: int
    unread: int
    """Sessions changed since they were last read."""
    known: bool
    """At least one of them was read before, and agents may write more of them."""
    elsewhere: int
    """Files read from other locations."""

    @property
    def sentence(self) -> str:
        """`14 sessions of this project on this machine, 3 to read in.`"""
        if not self.sessions and self.elsewhere:
            return f"{count(self.elsewhere, 'file')} of this project, read from elsewhere."
        if not self.sessions:
            return "There are no sessions of this project on this machine."
        left = f"{self.unread:,} to read in" if self.unread else "all read in"
        return f"{count(self.sessions, 'session')} of this project on this machine, {left}."


def _found(engine: Engine, project: str) -> list[FoundSession]:
    """The sessions of the project: those around the working folder, or if that is another
    project's, around its own one, and those of its former folders. Raises StoreError.
    """
    from reviewer.sources.discovery import Machine, ProjectFolders, find_sessions

    former = engine.former_folders(project)
    folder = working_folder() if engine.is_here(project) else engine.folder_of(project)
    scope = (
        ProjectFolders.of(folder, former)
        if folder is not None
        else ProjectFolders(working_folder(), None, former, str(Path.home()))
    )
    return [each for each in find_sessions(Machine.here(), scope) if each.belongs_to(scope)]


def find_here(engine: Engine, project: str) -> SessionsHere:
    """Count the sessions of the project on this machine. Raises StoreError."""
    from reviewer.promotion.waves.found_sessions import is_read

    found = _found(engine, project)
    stamps = engine.sources.stamps(project)
    own = [each for each in found if not each.subagent]
    return SessionsHere(
        sessions=len(own),
        unread=sum(not is_read(each, stamps) for each in own),
        known=engine.is_here(project) and any(str(each.path) in stamps for each in found),
        elsewhere=len(stamps.keys() - {str(each.path) for each in found}),
    )


def read_on(store: Path, project: str) -> subprocess.Popen[bytes]:
    """Start a process that reads what agents have added, so that no key waits.

    Raises OSError.
    """
    return subprocess.Popen(  # noqa: S603
        own_command("--db", str(store), "--project", project, "watch", "--once"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


class ReadingAct(RunningAct):
    """Progress and cancellation of an ingestion in a thread."""

    def __init__(self, signs: Glyphs) -> None:
        super().__init__("Reading sessions")
        self._progress: WaveProgress | None = None
        self._full, self._empty = signs.shades[0], signs.shades[-1]

    def show(self, progress: WaveProgress) -> None:
        self._progress = progress

    def is_stopped(self) -> bool:
        return self._stop.is_set()

    @property
    def sentence(self) -> str:
        if self._stop.is_set():
            return "Reading sessions: stopping ..."
        if self._progress is None:
            return f"Looking for sessions ... - {BACK.key} stops"
        done = self._progress
        path = display_line(Path(str(done.path or "")).name)
        part = min(done.bytes_done / done.bytes_total, 1.0) if done.bytes_total else 0.0
        full = round(part * BAR_CELLS)
        left = self._time_left.words(done.bytes_done, done.bytes_total)
        return (
            f"{self._full * full}{self._empty * (BAR_CELLS - full)} {part:.0%}"
            f"{f', {left}' if left else ''} - {BACK.key} stops, results stay  "
            f"{done.files_done:,} of {done.files_total:,} files, "
            f"{done.bytes_done / 1e6:,.1f} of {done.bytes_total / 1e6:,.1f} MB, "
            f"{done.candidates:,} candidates  {path}"
        )


def read_project_sessions(engine: Engine, project: str, act: ReadingAct) -> WaveReport | None:
    """Read the project's sessions on this machine and the files read from elsewhere; None if there
    are neither. Raises what `Intake.ingest` raises.
    """
    from reviewer.sources.discovery import choose

    chosen = choose(_found(engine, project))
    stamps = engine.sources.stamps(project)
    # The other sessions of a partly read file belong to other projects.
    whole = [Path(path) for path, read in stamps.items() if all(size >= 0 for size, _ in read)]
    again = [each for each in whole if each not in chosen.paths and each.is_file()]
    if not chosen.paths and not again:
        return None
    return engine.intake.ingest(
        [*chosen.paths, *again],
        project=project,
        progress=act.show,
        cancelled=act.is_stopped,
        sessions=chosen.sessions,
    )


def paths_at(text: str) -> Sequence[Option] | str:
    """The entries of a typed folder, and the folder as a whole, or a sentence in their place. The
    key of a folder to look into ends with a slash.
    """
    typed = working_folder() / os.path.expanduser(text)
    inside = not text or text.endswith("/")
    folder, start = (typed, "") if inside else (typed.parent, typed.name.casefold())
    try:
        with os.scandir(folder) as entries:
            fitting = (
                (not _is_folder(each), each.name)
                for each in entries
                if each.name.casefold().startswith(start) and (start or each.name[0] != ".")
            )
            found = list(islice(fitting, MAX_ENTRIES))
    except OSError as problem:
        return f"{display_line(str(folder))} cannot be read: {problem.strerror}."
    except ValueError:  # a NUL
        return f"{display_line(str(folder))} is not the name of a folder."
    whole = (
        [Option(str(folder), "all of it", "every file in this folder")] if text[-1:] == "/" else []
    )
    paths = [(f"{folder / name}", name, is_file) for is_file, name in sorted(found)]
    return whole + [
        # A folder with a name that a field cannot show is read as a whole.
        Option(path, name) if is_file or not path.isprintable() else Option(f"{path}/", f"{name}/")
        for path, name, is_file in paths
    ]


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # such as a link to itself
        return False
