"""Session hooks: parse an event, send the packet, guide compaction, note sessions.

A hook never blocks an agent: a failure is one line in the log, and the agent goes on.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from msgspec import Struct, structs

from reviewer.agents.agent_files import AgentFiles, GivenPacket, SessionNote
from reviewer.agents.call_hook import first_text, formatted
from reviewer.agents.events import CHILD, COMPACTION, EVENTS
from reviewer.clock import Clock, iso, utc_now
from reviewer.errors import ReviewerError, SourceError
from reviewer.projects import work_tree
from reviewer.recall.event_kinds import START
from reviewer.system import own_command
from reviewer.text.for_agents import NOTHING, AgentText, joined, without_tags

LARGEST_TRANSCRIPT = 30_000_000
"""Bytes of the largest transcript read while the person waits for the compaction."""

GENERAL = AgentText(
    "Keep in the summary: the goal and the state of the work; what the person asked for, ruled out "
    "or corrected, in their own words; decisions with their reasons; the exact names of files, "
    "commands, flags, versions and numbers that are still needed; errors that were solved, with "
    "what solved them; questions without an answer; the next step."
)
"""For an unreadable session."""

LEFT_OUT = AgentText(
    "Leave out the text between <recalled-memory> tags: it is given again after the compaction."
)


class UnknownEventError(ReviewerError):
    """An unknown agent or event."""


class LifecycleEvent(Struct, frozen=True, kw_only=True):
    """A session event; fields that the agent does not send are empty.

    `source`: startup, resume, clear or compact.
    """

    agent: str
    name: str
    kind: str
    session: str = ""
    transcript: str = ""
    cwd: str = ""
    prompt: str = ""
    source: str = ""


def read_event(agent: str, event: str, data: bytes) -> LifecycleEvent:
    """Parse an agent's event. Raises UnknownEventError, and ReviewerError for invalid JSON."""
    if agent not in EVENTS:
        raise UnknownEventError(f"Unknown agent {agent}. Known agents: {', '.join(EVENTS)}.")
    if event not in EVENTS[agent]:
        known = ", ".join(EVENTS[agent])
        raise UnknownEventError(f"Unknown event {event} of {agent}. Known events: {known}.")
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        raise ReviewerError(f"{agent} sent invalid JSON on stdin.") from None
    if not isinstance(value, dict):
        raise ReviewerError(f"{agent} sent JSON on stdin that is not an object.")
    roots = value.get("workspace_roots")
    folder = roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else ""
    session = first_text(value, "session_id", "sessionId", "conversation_id", "sessionID")
    return LifecycleEvent(
        agent=agent,
        name=event,
        kind=EVENTS[agent][event],
        session=session,
        transcript=first_text(value, "transcript_path", "transcriptPath")
        or _transcript(agent, session),
        cwd=first_text(value, "cwd", "directory") or folder or os.getcwd(),
        prompt=first_text(value, "prompt", "initialPrompt"),
        source=first_text(value, "source"),
    )


def answer(event: LifecycleEvent, text: AgentText) -> str:
    """The output that gives a text to the agent's model."""
    if event.kind == COMPACTION and event.agent == "claude-code":
        return text  # it adds plain output to the compaction prompt
    return formatted(event.agent, event.name, text)


def _transcript(agent: str, session: str) -> str:
    """The transcript's usual path, for an agent that does not send it."""
    if agent == "copilot" and session and "/" not in session:
        home = Path(os.environ.get("COPILOT_HOME") or Path.home() / ".copilot")
        return str(home / "session-state" / session / "events.jsonl")
    return ""


class Hooks:
    """Handles events for a store. Raises ReviewerError or OSError on failure."""

    def __init__(self, store: Path, *, project: str | None = None, clock: Clock = utc_now) -> None:
        self._store = store
        self._named = project
        self._clock = clock
        self._files = AgentFiles(store)
        self._given: GivenPacket | None = None
        self._memories: tuple[int, ...] = ()
        self._has_project = False

    def carry_out(self, event: LifecycleEvent) -> AgentText:
        """The text for the agent's model, possibly empty. Slower work is left to `finish`."""
        if event.kind == START:
            return self._packet(event)
        if event.kind == COMPACTION:
            session, path = event.session, event.transcript
            if path and not self._accepted(event):
                session, path = "", ""
            return _summary_instructions(event.agent, session, path, Path(event.cwd))
        if self._note(event, ended=True) and (event.transcript or event.session):
            self._files.forget_old_sessions()
            _start_reading(self._store, self._named)
        return NOTHING

    def finish(self, event: LifecycleEvent) -> None:
        """Check the transcript and write, after the agent has its answer."""
        if self._given is not None:
            self._files.note_given(self._given)
        if event.kind == START:
            self._note(event)
            if self._has_project:
                self._settle(event.session)

    def _settle(self, session: str) -> None:
        """Record what the session got, and write the guards that others have set in a store that
        they share.
        """
        from reviewer.agents.memory_updates import update_call_hooks
        from reviewer.engine import Engine

        with closing(Engine.open(self._store, clock=self._clock)) as engine:
            if session:
                engine.recall.note_start(self._memories, session, iso(self._clock()))
            for problem in update_call_hooks(engine, lambda *_: None):
                self.log(problem)

    def log(self, line: str) -> None:
        """Append a line to the log. Raises OSError."""
        self._files.log(self._clock(), line)

    def _accepted(self, event: LifecycleEvent) -> bool:
        """Whether a transcript, which may not exist yet, is one of the agent's sessions; if not,
        logs the reason.
        """
        from reviewer.agents.transcripts import require_place, transcript_of

        path = event.transcript
        try:
            require_place(event.agent, path)
            if os.path.exists(path) and os.path.getsize(path):
                transcript_of(event.agent, event.session, path, Path(event.cwd))
        except SourceError as problem:
            self.log(f"{event.agent} {event.name}: {problem}")
            return False
        return True

    def _note(self, event: LifecycleEvent, *, ended: bool = False) -> bool:
        """Note a session; returns whether it belongs to a project."""
        if work_tree(Path(event.cwd)) is None:
            return False
        if event.transcript and not self._accepted(event):
            return False
        at = iso(self._clock())
        note = SessionNote(
            agent=event.agent,
            session=event.session,
            path=event.transcript,
            cwd=event.cwd,
            at=at,
            ended=ended,
        )
        self._files.note_session(note)
        return True

    def _packet(self, event: LifecycleEvent) -> AgentText:
        """The packet of the folder's project; empty if the folder has none."""
        from reviewer.agents.recalled import packet_within
        from reviewer.engine import Engine

        folder = Path(event.cwd)
        if work_tree(folder) is None:
            return NOTHING
        with Engine.of_folder(self._store, folder, self._named, clock=self._clock) as engine:
            if engine is None:
                if self._named is not None:  # the person has connected this very folder
                    self.log(f"{folder} is not bound to {self._named}: it gets no memories.")
                return NOTHING
            self._has_project = True
            made = packet_within(engine, task=event.prompt, now=self._clock().astimezone())
            project = engine.project or ""
        before = self._files.given(event.agent)
        if (
            event.source == "resume"
            and before is not None
            and (before.session, before.text) == (event.session, made.text)
        ):
            return NOTHING  # already sent to this session
        if made.text:
            self._memories = made.memories
            self._given = GivenPacket(
                agent=event.agent,
                session=event.session,
                project=project,
                at=iso(self._clock()),
                text=made.text,
            )
        return made.text


def _summary_instructions(agent: str, session: str, transcript: str, folder: Path) -> AgentText:
    """The instructions of `reviewer keep` for a session; general ones if it is unreadable or too
    large.
    """
    from reviewer.agents.transcripts import transcript_of
    from reviewer.compression.handover import write_keep

    text = ""
    try:
        found = transcript_of(agent, session, transcript, folder)
        if found.session is not None or found.path.stat().st_size <= LARGEST_TRANSCRIPT:
            text = write_keep(found.path, session=found.session).text
    except (OSError, SourceError):
        text = ""
    return joined([without_tags(text) or GENERAL, LEFT_OUT], "\n\n")


def _start_reading(store: Path, project: str | None) -> None:
    """Start `read-sessions` in a process of its own, without waiting for it. Raises OSError."""
    command = own_command("--db", str(store.absolute()))
    if project is not None:
        command += ["--project", project]
    subprocess.Popen(  # noqa: S603
        [*command, "read-sessions"],
        cwd=Path.home().anchor or "/",
        env={**os.environ, CHILD: "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


class SessionReader:
    """Ingests the transcripts of ended sessions, one process at a time."""

    def __init__(self, store: Path, *, project: str | None = None, clock: Clock = utc_now) -> None:
        self._store = store
        self._named = project
        self._clock = clock
        self._files = AgentFiles(store)

    def read(self) -> int:
        """Read waiting sessions; returns their number. If another process is already reading, it
        takes them over.
        """
        done = 0
        while next(self._waiting(), None) is not None:
            with self._files.lock("reading", wait=False) as mine:
                if not mine:
                    break
                for note in list(self._waiting()):
                    self._read_one(note)
                    done += 1
        return done

    def _waiting(self) -> Iterator[SessionNote]:
        for note in reversed(self._files.sessions()):
            if note.ended and (note.path or note.session) and not note.read_at:
                yield note

    def _read_one(self, note: SessionNote) -> None:
        began = iso(self._clock())
        try:
            self._ingest(note)
            problem = ""
        except (ReviewerError, OSError) as error:
            problem = str(error)
            self._files.log(self._clock(), f"{note.agent}: {problem}")
        now = self._files.session(note)
        if now is None or now.at == note.at:  # otherwise it has ended again meanwhile
            self._files.note_session(structs.replace(note, read_at=began, problem=problem))

    def _ingest(self, note: SessionNote) -> None:
        from reviewer.agents.transcripts import noted
        from reviewer.engine import Engine

        folder, found = Path(note.cwd), noted(note)
        path = found.path
        sessions = {path: frozenset((found.session,))} if found.session else None
        with Engine.of_folder(
            self._store, folder, self._named, actor=note.agent, clock=self._clock
        ) as engine:
            if engine is None:
                raise ReviewerError(f"{folder} is not bound to a project: run reviewer there once.")
            report = engine.intake.ingest([path], project=engine.project or "", sessions=sessions)
        if not report.files + report.unchanged:
            raise ReviewerError(next(iter(report.problems), f"{path} has no known format."))
