"""Finds the transcript of an agent's session: by id, or the latest."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

from msgspec import Struct

from reviewer.agents.agent_files import SessionNote
from reviewer.errors import SourceError
from reviewer.sources.discovery import (
    FoundSession,
    Machine,
    ProjectFolders,
    cwd_of,
    find_sessions,
    is_known_place,
    is_within,
)
from reviewer.sources.format import Format
from reviewer.sources.open import format_of
from reviewer.sources.registry import FORMATS

SHORT_ID = 8
"""Characters of a session's id in the names of Gemini's files."""


class SessionFile(Struct, frozen=True):
    """A session's file. `session`: its id, if the file has several; `cwd`: its folder, if known."""

    path: Path
    session: str | None = None
    cwd: str = ""


def find_session(name: str, folder: Path, agent: str = "") -> SessionFile | None:
    """The session with this id: of one agent, in any folder; or of any agent, in this project."""
    scope = ProjectFolders.of(folder)
    for each in find_sessions(Machine.here(), scope, _formats_of(agent)) if name else ():
        named = each.session == name or (not each.session and named_after(each.path, name))
        if named and (agent or each.belongs_to(scope)):
            return _transcript(each)
    return None


def find_latest(folder: Path, *, besides: Collection[str] = ()) -> SessionFile | None:
    """The latest session of a folder's project, of any agent. `besides`: ids and files to skip."""
    scope = ProjectFolders.of(folder)
    found = [
        each
        for each in find_sessions(Machine.here(), scope)
        if not each.subagent
        and each.belongs_to(scope)
        and not {each.session, each.path.stem, str(each.path)} & set(besides)
    ]
    latest = max(found, key=lambda each: each.modified_ns, default=None)
    return None if latest is None else _transcript(latest)


def transcript_of(agent: str, session: str, path: str, folder: Path) -> SessionFile:
    """The transcript named by a hook, or found by its id.

    A hook's data is not trusted: the file must be in the agent's sessions folder, be one of its
    sessions by content, and name the folder's project, if it names any. Raises SourceError.
    """
    if path:
        found: SessionFile | None = _named(agent, session, path)
    else:
        found = find_session(session, folder, agent)
    if found is None:
        raise SourceError(f"Session {session} was not found in the sessions folder of {agent}.")
    if found.cwd and not _is_of(found.cwd, folder):
        raise SourceError(f"{found.path} is a session of another folder than {folder}.")
    return found


def noted(note: SessionNote) -> SessionFile:
    """The transcript of a noted session. Raises SourceError as `transcript_of`."""
    return transcript_of(note.agent, note.session, note.path, Path(note.cwd))


def require_place(agent: str, path: str) -> None:
    """Raises SourceError for a path outside the agent's sessions folder."""
    if "\0" in path:
        raise SourceError(f"{path!r} is not a file name.")
    if not os.path.isabs(path) or not is_known_place(
        Path(path), Machine.here(), _formats_of(agent)
    ):
        raise SourceError(f"{path} is not in the sessions folder of {agent}, so it is not read.")


def _formats_of(agent: str) -> list[Format]:
    return [each for each in FORMATS if each.name.startswith(agent)]


def _named(agent: str, session: str, path: str) -> SessionFile:
    require_place(agent, path)
    real = Path(os.path.realpath(path))
    found = format_of(real)
    if not found.locations or not found.name.startswith(agent):
        raise SourceError(f"{path} is not a session of {agent}, so it is not read.")
    if found.outlines is None:
        return SessionFile(real, cwd=cwd_of(real)[0])
    for outline in found.outlines(real):
        if session and outline.id == session:
            return SessionFile(real, session, outline.cwd)
    raise SourceError(f"{path} has no session {session} of {agent}.")


def _is_of(cwd: str, folder: Path) -> bool:
    """Whether a session of one folder may belong to another: the same project, or a subfolder."""
    scope = ProjectFolders.of(folder)
    return scope.tree is None or is_within(cwd, scope) or folder.absolute().is_relative_to(cwd)


def _transcript(found: FoundSession) -> SessionFile:
    return SessionFile(found.path, found.session or None, found.cwd)


def named_after(path: Path, session: str) -> bool:
    """Whether a file is named after a session: `ID.jsonl`, `rollout-TIME-ID.jsonl`,
    `session-TIME-SHORTID.json`, `ID/events.jsonl`.
    """
    stem = path.stem
    return (
        stem == session
        or stem.endswith(f"-{session}")
        or (len(session) > SHORT_ID and stem.endswith(f"-{session[:SHORT_ID]}"))
        or path.parent.name == session
    )
