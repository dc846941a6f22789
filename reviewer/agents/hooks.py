"""What a hook does: gives the packet, says what a compaction must keep, notes sessions.

A hook is never in an agent's way: whatever fails is one line in the log, and the agent goes on.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from reviewer import __version__
from reviewer.agents.agent_files import AgentFiles, GivenPacket, KeptPacket, SessionNote
from reviewer.agents.background import MAKE_READY, READ_SESSIONS, start_in_background
from reviewer.agents.hook_events import LifecycleMoment, Told
from reviewer.clock import Clock, iso, utc_now
from reviewer.errors import ReviewerError, SourceError, StoreError
from reviewer.projects import ChosenProject, work_tree
from reviewer.text.for_agents import NOTHING, AgentText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reviewer.packets.prepared import Prepared

MOST_ATTEMPTS = 5
"""To make a packet while others write."""
FEW = 30
"""Entries that take no longer to measure than a process takes to start for it."""


class Hooks:
    """Carries out events for a store. Raises ReviewerError or OSError where it could not."""

    def __init__(self, store: Path, *, project: str | None = None, clock: Clock = utc_now) -> None:
        self._store = store
        self._named = project
        self._clock = clock
        self._files = AgentFiles(store)
        self._maker = PacketMaker(store, project=project, clock=clock)
        self._given: GivenPacket | None = None
        self._memories: tuple[int, ...] = ()

    def carry_out(self, told: Told) -> AgentText:
        """The text for the agent's model; empty where there is nothing to say. What nobody waits
        for is left to `finish`.
        """
        if told.moment is LifecycleMoment.START:
            return self._packet(told)
        if told.moment is LifecycleMoment.COMPACTION:
            from reviewer.agents.compaction import what_to_keep

            session, path = told.session, told.transcript
            if path and not self._accepted(told):
                session, path = "", ""
            return what_to_keep(told.agent, session, path, Path(told.cwd))
        noted = self._note(told, ended=told.moment is LifecycleMoment.END)
        if noted and told.moment is LifecycleMoment.END and (told.transcript or told.session):
            self._files.forget_old_sessions()
            start_in_background(self._store, READ_SESSIONS, project=self._named)
        return NOTHING

    def finish(self, told: Told) -> None:
        """Do the rest once the agent has its answer: checking a transcript takes longer, and so
        does writing.
        """
        if self._given is not None:
            self._files.note_given(self._given)
        if told.moment is LifecycleMoment.START:
            self._note(told)
        if self._maker.keep():
            folder = os.path.abspath(told.cwd)
            start_in_background(self._store, MAKE_READY, "--", folder, project=self._named)

    def log(self, line: str) -> None:
        """Add a line to the log. Raises OSError."""
        self._files.log(self._clock(), line)

    def _accepted(self, told: Told) -> bool:
        """Whether a transcript is one of the agent's sessions; if not, the log says why."""
        try:
            require_transcript(told.agent, told.session, told.transcript, Path(told.cwd))
        except SourceError as problem:
            self.log(f"{told.agent} {told.event}: {problem}")
            return False
        return True

    def _note(self, told: Told, *, ended: bool = False) -> bool:
        """Note a session of a project; returns whether it is one, and not something else."""
        if work_tree(Path(told.cwd)) is None:
            return False
        if told.transcript and not self._accepted(told):
            return False
        at = iso(self._clock())
        note = SessionNote(
            agent=told.agent,
            session=told.session,
            path=told.transcript,
            cwd=told.cwd,
            at=at,
            ended=ended,
            given=self._memories,
            given_at=at if self._memories else "",
        )
        before = self._files.session(note)
        if before is not None and before.given:
            given = tuple(sorted({*before.given, *note.given}))
            note = structs.replace(note, given=given, given_at=before.given_at)
        self._files.note_session(note)
        return True

    def _packet(self, told: Told) -> AgentText:
        packet = self._maker.packet(Path(told.cwd), told.prompt)
        text = packet.text
        before = self._files.given(told.agent)
        if (
            told.source == "resume"
            and before is not None
            and (before.session, before.text) == (told.session, text)
        ):
            return NOTHING  # the session has it already
        if text:
            self._memories = packet.memories
            self._given = GivenPacket(
                agent=told.agent,
                session=told.session,
                project=packet.project,
                at=iso(self._clock()),
                text=text,
            )
        return text


def require_transcript(agent: str, session: str, path: str, folder: Path) -> None:
    """Raises SourceError for a path that is not a session of the agent; it may not exist yet."""
    from reviewer.agents.transcripts import require_place, transcript_of

    require_place(agent, path)
    if os.path.exists(path) and os.path.getsize(path):
        transcript_of(agent, session, path, folder)


class PacketMaker:
    """Makes the packet of a folder's project, or takes the one that was made when the store was the
    same: in a large store that saves half of the time that an agent waits.
    """

    def __init__(self, store: Path, *, project: str | None = None, clock: Clock = utc_now) -> None:
        self._store = store
        self._named = project
        self._clock = clock
        self._files = AgentFiles(store)
        self._ready: Prepared | None = None
        self._new: tuple[str, KeptPacket] | None = None

    def packet(self, folder: Path, task: str = "", *, fresh: bool = False) -> KeptPacket:
        """The packet of a folder's project for a task; empty where nothing is known of the folder.

        `fresh`: make it even if it is kept. Raises StoreError, ForeignProjectError, OSError.
        """
        tree = work_tree(folder)
        if tree is None:
            return KeptPacket(key="")
        if not self._store.exists():
            raise StoreError(f"There is no store at {self._store} yet.")
        name = hashlib.sha256(f"{tree}\0{self._named}".encode("utf-8", "replace")).hexdigest()[:16]
        before = self._state()
        if not task and not fresh:
            kept = self._files.packet(name)
            if kept is not None and kept.key == before:
                return kept
        made = self._made(folder, task, before)
        if not task and self._state() == before:  # nobody has written meanwhile
            self._new = name, made
        return made

    def keep(self) -> bool:
        """Write what spares the next packet most of the work, once nobody waits for this one.

        Returns whether `make_ready` would spare it more. Raises OSError.
        """
        if self._new is not None:
            name, packet = self._new
            self._files.keep_packet(name, packet)
            if packet.key != self._state():  # what it says may have been forgotten meanwhile
                self._files.drop_packet(name)
        ready = self._ready
        if ready is None:
            return False
        wanted = ready.measurer.measured and ready.small
        if wanted and len(ready.items) <= FEW:
            ready.count_ahead()
        warning = ready.save_counts()
        if warning:
            self._files.log(self._clock(), warning)
            return False
        return wanted and len(ready.items) > FEW

    def make_ready(self, folder: Path) -> str:
        """Keep the packet of a folder, and measure all entries of its project for any task, which
        takes seconds where there are thousands. Returns the project. Raises as `packet` does.
        """
        project = ""
        for _ in range(MOST_ATTEMPTS):
            project = self.packet(folder, fresh=True).project
            self.keep()  # at once: measuring takes longer
            if self._ready is not None and self._ready.small:
                self._ready.count_ahead()
                self.keep()
            if self._new is not None and self._new[1].key == self._state():
                break  # else somebody has written meanwhile
        return project

    def _made(self, folder: Path, task: str, key: str) -> KeptPacket:
        from reviewer.agents.recalled import packet_within
        from reviewer.engine import Engine

        engine = Engine.open(self._store, clock=self._clock)
        try:
            project = engine.bound_project(folder)
            if project is None or self._named not in (None, project):
                return KeptPacket(key=key)
            engine.work_in(ChosenProject(project))
            now = self._clock().astimezone()
            made = packet_within(engine, task=task, now=now)
            self._ready = made.ready
            return KeptPacket(key=key, project=project, text=made.text, memories=made.memories)
        finally:
            engine.close()

    def _state(self) -> str:
        """What a packet is made from, without opening the store."""
        parts = [__version__, f"{self._clock().astimezone():%Y-%m-%d}"]
        for suffix in ("", "-wal"):
            try:
                found = os.stat(f"{self._store}{suffix}")
            except FileNotFoundError:
                parts.append("none")
            else:
                parts.append(f"{found.st_ino}:{found.st_size}:{found.st_mtime_ns}")
        return " ".join(parts)


def bring_call_hooks_up_to_date(store: Path, clock: Clock = utc_now) -> list[str]:
    """Make memories ready for hooks at calls, and have the settings of agents follow them;
    returns sentences about what could not be written. Raises StoreError, ReviewerError.
    """
    from reviewer.agents.connections import Connections
    from reviewer.engine import Engine

    engine = Engine.open(store, clock=clock)
    try:
        engine.recall.derive()
        ties = engine.recall.ties()
    finally:
        engine.close()
    return Connections(store.absolute(), clock=clock).follow_ties(ties)


class SessionReader:
    """Ingests the transcripts of noted sessions that have ended, one process at a time."""

    def __init__(self, store: Path, *, project: str | None = None, clock: Clock = utc_now) -> None:
        self._store = store
        self._named = project
        self._clock = clock
        self._files = AgentFiles(store)

    def read(self) -> int:
        """Read what waits, and return how many sessions that were. Another process that reads
        already takes over what waits.
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
        if now is None or now.at == note.at:  # else it has ended again meanwhile
            self._files.note_session(structs.replace(note, read_at=began, problem=problem))

    def _ingest(self, note: SessionNote) -> None:
        from reviewer.agents.transcripts import transcript_of
        from reviewer.engine import Engine

        folder = Path(note.cwd)
        found = transcript_of(note.agent, note.session, note.path, folder)
        path = found.path
        sessions = {path: frozenset((found.session,))} if found.session else None
        if not self._store.exists():
            raise StoreError(f"There is no store at {self._store} yet.")
        engine = Engine.open(self._store, actor=note.agent, clock=self._clock)
        try:
            project = engine.bound_project(folder)
            if project is None or self._named not in (None, project):
                raise ReviewerError(f"{folder} is bound to no project: run reviewer there once.")
            engine.work_in(ChosenProject(project))
            report = engine.intake.ingest([path], project=project, sessions=sessions)
            engine.recall.note_start(note.given, note.session, note.given_at)
        finally:
            engine.close()
        maker = PacketMaker(self._store, project=self._named, clock=self._clock)
        maker.make_ready(folder)  # so that the next session starts at once
        if report.files == 0:
            raise ReviewerError(f"{path} is in no format that can be read.")
