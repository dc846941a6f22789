"""What is proposed without a model: the door that ingestion uses for each file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from reviewer.proposing.agent_memories import is_memory_file, memory_proposals
from reviewer.proposing.session_events import Event, EventKind, session_events
from reviewer.proposing.session_notes import Note, NoteKind, commit_messages, note_proposals
from reviewer.proposing.values import Proposal


def offline_proposals(path: Path) -> Iterator[Proposal]:
    """Every statement that the rules propose from a file.

    Memory use does not depend on the size of the file. Raises SourceError when the file cannot be
    read; a damaged record is left out.
    """
    if is_memory_file(path):
        yield from memory_proposals(path)
        return
    yield from note_proposals(session_notes(session_events(path)))


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
