"""A format: how a family of files is recognised by content and read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Any

from msgspec import Struct

from reviewer.sources.fields import Fields
from reviewer.sources.turns import Session, TurnReader


class Location(Struct, frozen=True, kw_only=True):
    """Where an agent keeps its sessions. Folders are below the home folder; the Windows one may
    start with `%APPDATA%`.
    """

    folder: str
    """On Linux, and elsewhere if `mac` and `windows` are empty."""
    pattern: str
    """A glob below the folder."""
    mac: str = ""
    windows: str = ""
    variable: str = ""
    """The environment variable that relocates the folder, or the part of it given by `moves`."""
    moves: str | None = None
    """The leading part of `folder` that the variable replaces; None: its first folder."""
    in_project: bool = False
    """Below the project's folder instead of the home folder."""
    of_subagents: bool = False
    """The files here are parts of sessions, written by sub-agents."""
    kept_setting: str = ""
    """Key in the `settings.json` of the folder above that overrides `kept_days`."""
    kept_days: int = 0
    """Days without use after which the agent deletes a session; 0: never, or unknown."""

    @property
    def moved(self) -> str:
        """The leading part of `folder` that the variable replaces."""
        if self.moves is not None:
            return self.moves
        shared = ".local/share"
        return shared if self.folder.startswith(shared) else self.folder.partition("/")[0]


def of_editor(folder: str, pattern: str, **more: Any) -> Location:
    """A location in the settings of an editor such as VS Code, on all systems."""
    return Location(
        folder=f".config/{folder}",
        mac=f"Library/Application Support/{folder}",
        windows=f"%APPDATA%/{folder}",
        pattern=pattern,
        variable="XDG_CONFIG_HOME",
        **more,
    )


class Format(Struct, frozen=True, kw_only=True):
    """One family of files. Each `detect_...` function gets part of the file; formats are tried in
    registry order (`FORMATS` in `registry.py`).
    """

    name: str
    detect_record: Callable[[Fields], bool] | None = None
    """Whether a JSON object, three levels deep, is a record of this format, in a file with one
    object per line."""
    detect_document: Callable[[Fields], bool] | None = None
    """Whether a JSON document, five levels deep, is of this format; for a list, its first object
    is tested."""
    detect_text: Callable[[str], bool] | None = None
    """Whether a text with this beginning is of this format."""
    detect_tables: Callable[[Collection[str]], bool] | None = None
    """Whether a SQLite database with these tables is of this format."""
    detect_members: Callable[[Collection[str]], bool] | None = None
    """Whether a ZIP archive with these members is of this format."""
    turns: TurnReader
    """Reads a file."""
    is_log: bool = False
    """One record per line, in time order. `turns` may yield a turn late, once its fate is known,
    and a `Rewind` after abandoned turns."""
    agent: str = ""
    """The agent or kind of file, by its usual name."""
    locations: tuple[Location, ...] = ()
    outlines: Callable[[Path], Iterable[Session]] | None = None
    """Lists the sessions of a file with several; raises SourceError."""
    several: bool = False
    """A file may have several conversations; with `outlines`, it always may."""

    tested: str = "fixtures"
    """For the documentation: `real files`, with versions, or `fixtures`."""
