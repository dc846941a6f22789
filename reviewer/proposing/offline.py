"""Proposals without a model: ingestion calls this for each file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import TypeAlias

from reviewer.errors import SourceError
from reviewer.proposing.agent_memories import is_memory_file, memory_proposals, memory_view
from reviewer.proposing.episodes import Habits, common_habits
from reviewer.proposing.session_events import Event, EventKind, session_events
from reviewer.proposing.session_notes import Note, NoteKind, commit_messages, note_proposals
from reviewer.proposing.session_view import read_view, read_views
from reviewer.proposing.values import Proposal, SessionView
from reviewer.sources.rows import has_rows


def offline_proposals(path: Path) -> Iterator[Proposal]:
    """Every statement that the rules propose from a file.

    Memory use does not depend on the size of the file. Raises SourceError when the file cannot be
    read; a damaged record is left out.
    """
    for proposals in proposals_by_session(path).values():
        yield from proposals


def proposals_by_session(
    path: Path, sessions: frozenset[str] | None = None
) -> dict[str, list[Proposal]]:
    """What the rules propose from each session of a file; all of it under "" if it has only one.

    Raises SourceError when the file cannot be read.
    """
    if is_memory_file(path):
        return {"": list(memory_proposals(path))}
    several = _has_several(path)
    found: dict[str, list[Proposal]] = {}
    events = session_events(path, sessions)
    for session, own in groupby(events, key=lambda event: event.session if several else ""):
        habits = Habits()
        proposals = [*note_proposals(session_notes(habits.watch(own))), *habits.proposals()]
        found.setdefault(session, []).extend(proposals)
    return found


def offline_views(path: Path, sessions: Iterable[str]) -> dict[str, SessionView]:
    """The views that prove what `proposals_by_session` proposes.

    Raises SourceError when the file cannot be read.
    """
    if is_memory_file(path):
        return {"": memory_view(path)}
    return read_views(path, frozenset(sessions)) if _has_several(path) else {"": read_view(path)}


Place: TypeAlias = tuple[Path, str]
"""A session: its file, and its id where the file has several."""


def project_proposals(
    files: Mapping[Path, frozenset[str] | None],
) -> Iterator[tuple[Place, Proposal]]:
    """What the sessions of one project show only together, with the session that proves it.

    `files`: of each file these sessions, or all. Raises SourceError when one cannot be read.
    """
    sessions: dict[Place, Habits] = {}
    for path, names in files.items():
        several = _has_several(path)
        for event in session_events(path, names):
            place = (path, event.session if several else "")
            sessions.setdefault(place, Habits()).add(event)
    yield from common_habits(sessions)


def _has_several(path: Path) -> bool:
    """Whether a file is a database or an archive with several sessions. Raises SourceError."""
    try:
        return has_rows(path)
    except OSError as problem:
        raise SourceError(f"{path} cannot be read: {problem.strerror}.") from problem


def session_notes(events: Iterable[Event]) -> Iterator[Note]:
    """The notes among the events of a session. A commit counts when its command has succeeded."""
    commits: dict[str, list[Note]] = {}
    for event in events:
        if event.kind is EventKind.SUMMARY:
            yield Note(NoteKind.SUMMARY, event.line, event.text)
        elif event.kind is EventKind.CALL and "git commit" in event.text:
            commits[event.call] = [
                Note(NoteKind.COMMIT, event.line, message)
                for message in commit_messages(event.text)
            ]
        elif event.kind is EventKind.DONE:
            yield from commits.pop(event.call, ())
