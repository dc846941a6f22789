"""A format: how a family of files is recognised by content, and how it is read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Any

from msgspec import Struct

from reviewer.sources.fields import Fields
from reviewer.sources.turns import TurnReader


class Location(Struct, frozen=True, kw_only=True):
    """Where an agent keeps its sessions. The folders are below the home folder; `%APPDATA%` may
    begin the one for Windows.
    """

    folder: str
    """On Linux, and elsewhere where `mac` and `windows` are empty."""
    pattern: str
    """A glob below the folder."""
    mac: str = ""
    windows: str = ""
    variable: str = ""
    """The environment variable that moves the folder, or the part of it that `moves` names."""
    moves: str | None = None
    """The beginning of `folder` that the variable replaces; None: its first folder."""
    in_project: bool = False
    """Below the project's own folder instead of the home folder."""
    of_subagents: bool = False
    """The files here are parts of sessions, written by their sub-agents."""
    kept_setting: str = ""
    """The key of `settings.json` in the folder above that sets `kept_days`."""
    kept_days: int = 0
    """The agent deletes a session after that many days without use; 0: never, or unknown."""

    @property
    def moved(self) -> str:
        """The beginning of `folder` that the variable replaces."""
        if self.moves is not None:
            return self.moves
        shared = ".local/share"
        return shared if self.folder.startswith(shared) else self.folder.partition("/")[0]


def of_editor(folder: str, pattern: str, **more: Any) -> Location:
    """A location in the settings of an editor such as VS Code, with the places of all systems."""
    return Location(
        folder=f".config/{folder}",
        mac=f"Library/Application Support/{folder}",
        windows=f"%APPDATA%/{folder}",
        pattern=pattern,
        variable="XDG_CONFIG_HOME",
        **more,
    )


class SessionOutline(Struct, frozen=True):
    """A session of a database that has several."""

    session: str
    cwd: str = ""
    modified_ns: int = 0
    subagent: bool = False


class Format(Struct, frozen=True, kw_only=True):
    """One family of files. Each `detect_...` function gets a part of the file; formats are tested
    in the order of the registry (`FORMATS` in `registry.py`).
    """

    name: str
    detect_record: Callable[[Fields], bool] | None = None
    """Whether a JSON object, three levels deep, is a record of this format, in a file with one
    object a line.
    """
    detect_document: Callable[[Fields], bool] | None = None
    """Whether a JSON document, five levels deep, is of this format; for a list, its first object is
    tested.
    """
    detect_text: Callable[[str], bool] | None = None
    """Whether a text with this beginning is of this format."""
    detect_tables: Callable[[Collection[str]], bool] | None = None
    """Whether a SQLite database with these tables is of this format."""
    detect_members: Callable[[Collection[str]], bool] | None = None
    """Whether a ZIP archive with these members is of this format."""
    turns: TurnReader | None = None
    """Reads a file. None: the format is recognised but not read."""
    is_log: bool = False
    """A record a line, in the order of time. `turns` yields a turn late where its fate was open,
    and a `Rewind` after turns that were abandoned.
    """
    agent: str = ""
    """The name of the agent or of the kind of file, as people know it."""
    locations: tuple[Location, ...] = ()
    outlines: Callable[[Path], Iterable[SessionOutline]] | None = None
    """Lists the sessions of a file that has several; raises SourceError."""
    several: bool = False
    """A file may have several conversations; where `outlines` is given, it always may."""
    not_read: str = ""
    """Why files of this format are recognised and passed over."""

    # For the documentation

    person: str = ""
    """What counts as typed by the person."""
    left_out: str = ""
    """Text with the person's role, or that repeats their words, and does not count as theirs."""
    subagent: str = ""
    tested: str = "fixtures"
    """`real files`, with the versions, or `fixtures`."""
