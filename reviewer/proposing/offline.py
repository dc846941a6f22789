"""What is proposed without a model: the door that ingestion uses for each file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from reviewer.proposing.agent_memories import is_memory_file, memory_proposals, memory_view
from reviewer.proposing.episodes import Habits, common_habits
from reviewer.proposing.session_events import Event, EventKind, session_events
from reviewer.proposing.session_notes import Note, NoteKind, commit_messages, note_proposals
from reviewer.proposing.session_view import read_view
from reviewer.proposing.values import Proposal, SessionView


def offline_proposals(path: Path) -> Iterator[Proposal]:
    """Every statement that the rules propose from a file.

    Memory use does not depend on the size of the file. Raises SourceError when the file cannot be
    read; a damaged record is left out.
    """
    if is_memory_file(path):
        yield from memory_proposals(path)
        return
    habits = Habits()
    yield from note_proposals(session_notes(habits.watch(session_events(path))))
    yield from habits.proposals()


def offline_view(path: Path) -> SessionView:
    """The view that proves what `offline_proposals` proposes from a file.

    Raises SourceError when the file cannot be read.
    """
    return memory_view(path) if is_memory_file(path) else read_view(path)


def project_proposals(paths: Iterable[Path]) -> Iterator[tuple[Path, Proposal]]:
    """What the sessions of one project show only together, with the session that proves it.

    Raises SourceError when a file cannot be read.
    """
    sessions: dict[Path, Habits] = {}
    for path in paths:
        sessions[path] = Habits()
        for event in session_events(path):
            sessions[path].add(event)
    yield from common_habits(sessions)


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
