"""The tools of the MCP server, with text as the answer.

They read a project's promoted facts, and propose. None promotes, edits, rejects or undoes. An agent
is shown their docstrings and what describes their parameters.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from reviewer.agents.agent_files import AgentFiles, SessionNote
from reviewer.clock import Clock, utc_now
from reviewer.errors import ReviewerError, SourceError, UnknownIdError
from reviewer.extraction.candidates import MemoryType
from reviewer.extraction.planted import is_planted
from reviewer.projects import work_tree
from reviewer.system import working_folder
from reviewer.text.for_agents import AgentText, between_tags, enclosed, sentence

if TYPE_CHECKING:
    from reviewer.agents.transcripts import SessionFile
    from reviewer.engine import Engine
    from reviewer.proposing.proof_index import ProofIndex
    from reviewer.proposing.values import Quote, SessionView

DEFAULT_BUDGET = 2_000
LARGEST_BUDGET = 20_000
"""The largest budget of a packet, in tokens; agents cut longer answers themselves."""
MAX_FOUND = 20
MAX_TEXT = 20_000
"""Characters of an answer."""
SMALLEST_BRIEF = 100
MAX_QUOTES = 8
LONGEST_QUOTE = 2_000
DISPUTES_A_SESSION = 5
"""Memories that one run of the server may put back into the queue."""
PROPOSALS_WAITING = 200
"""Proposals of agents that may wait in a project."""
SESSIONS_SEARCHED = 3
"""Running sessions searched for a quote without a file."""

_MEMORY = re.compile(r"(?:m:|#)?(\d{1,15})")
_STATE = re.compile(r"s:(\d{1,15})")
_WORD = re.compile(r"\w+")
_OWN_CALL = re.compile(
    r"(?:mcp_+)?reviewer[._-]+\w+\b"
    r"|(?:packet|search|read|propose|dispute|brief)\b",
    re.IGNORECASE,
)
"""The beginning of a call of these tools in a session view."""


@dataclass(frozen=True)
class AgentQuote:
    """A passage that proves a statement."""

    text: Annotated[str, Field(description="The exact words, copied.")]
    file: Annotated[
        str, Field(description="The file that has them; leave it out for this session.")
    ] = ""
    line: Annotated[
        int, Field(description="Their line in that file, from 1, if you know it.", ge=0)
    ] = 0


class AgentTools:
    """Answers for one agent in one project. The store is opened for each answer.

    Every method raises ReviewerError with a sentence for the agent.
    """

    def __init__(
        self,
        store: Path,
        *,
        project: str | None = None,
        agent: str = "agent",
        folder: Path | None = None,
        clock: Clock = utc_now,
    ) -> None:
        """The project is the one bound to the git work tree around `folder`. `project`: refuse to
        answer for any other.
        """
        self._store = store
        self._named = project
        self._folder = folder or working_folder()
        self._clock = clock
        self._disputed = 0
        self.agent = agent

    def packet(
        self,
        task: Annotated[str, Field(description="What you are about to do.")] = "",
        budget: Annotated[
            int, Field(description="Tokens of the answer.", ge=1, le=LARGEST_BUDGET)
        ] = DEFAULT_BUDGET,
    ) -> AgentText:
        """Rules, open tasks, decisions and learnings of this project that matter for a task."""
        from reviewer.packets.assembly import assemble

        with self._reading() as engine:
            now = self._clock().astimezone()
            ready = engine.packets.prepare_own(engine.project, task=task, now=now, marks=True)
            made = assemble(ready, budget)
            if not any(item.shown for item in made.items):
                return sentence(f"Nothing is remembered for project {engine.project} yet.")
            return enclosed(made.markdown)

    def search(
        self,
        words: Annotated[str, Field(description="A few words; the rarest count most.")],
        limit: Annotated[int, Field(ge=1, le=MAX_FOUND)] = 10,
    ) -> AgentText:
        """Find remembered facts about a subject."""
        wanted = set(_WORD.findall(words))
        if not wanted:
            raise ReviewerError("Name at least one word to search for.")
        with self._reading() as engine:
            rows = engine.queue.promoted_with(engine.project, wanted)
            safe = [row for row in rows if not is_planted(row.content, row.flags)]
            if not safe:
                return sentence("No fact has these words.")
            lines = [f"- [m:{row.id}] ({row.type}) {row.content}" for row in safe[:limit]]
            return _cut(between_tags("\n".join(lines)))

    def read(self, what: Annotated[str, Field(description="m:12 or s:3.")]) -> AgentText:
        """A memory with the passages that prove it, or a value of trusted state."""
        what = what.strip()
        with self._reading() as engine:
            if match := _STATE.fullmatch(what):
                return _cut(between_tags(_state(engine, int(match[1]))))
            if match := _MEMORY.fullmatch(what):
                return _cut(between_tags(_fact(engine, int(match[1]))))
        raise ReviewerError("read takes an id such as m:12 or s:3.")

    def propose(self, statement: str, type_: str, quotes: Sequence[AgentQuote]) -> AgentText:
        """Queue a statement for the person's decision, if its quotes prove it."""
        if type_ and type_ not in tuple(MemoryType):
            raise ReviewerError(f"type is one of {', '.join(MemoryType)}, not {type_[:40]!r}.")
        if any(len(each.text) > LONGEST_QUOTE for each in quotes):
            raise ReviewerError(f"A quote has at most {LONGEST_QUOTE:,} characters.")
        with self._engine() as engine:
            return self._propose(engine, statement, type_, quotes)

    def dispute(self, what: str, reason: str) -> AgentText:
        """Put a wrong memory (`m:12`) back into the queue; it is withheld until the person has
        decided.
        """
        match = _MEMORY.fullmatch(what.strip())
        if match is None or not reason.strip():
            raise ReviewerError("dispute takes an id such as m:12, and the reason.")
        if self._disputed >= DISPUTES_A_SESSION:
            raise ReviewerError(
                f"{DISPUTES_A_SESSION} memories were disputed in this session, which is enough: the"
                " person decides on them first."
            )
        with self._reading() as engine:
            _fact(engine, int(match[1]))  # raises for a fact that agents may not read
            engine.triage.dispute(int(match[1]), f"{self.agent}: {reason}")
        self._disputed += 1
        return sentence(
            f"m:{match[1]} waits for the person's decision, and is not used until then."
        )

    def brief(
        self,
        session: Annotated[
            str, Field(description="Its id; leave it out for the one before this.")
        ] = "",
        budget: Annotated[
            int, Field(description="Tokens of the answer.", ge=SMALLEST_BRIEF, le=LARGEST_BUDGET)
        ] = DEFAULT_BUDGET,
    ) -> AgentText:
        """The requests, decisions, work and next steps of an earlier session of this project.

        Read from the session itself; nobody has checked it.
        """
        from reviewer.agents.transcripts import find_latest
        from reviewer.compression.handover import write_brief

        root = self._root()
        if root is None:
            raise ReviewerError(f"{self._folder} is not in a git work tree: it has no sessions.")
        if session.strip():
            found = self._session(session.strip(), root)
        else:
            current = next((note for note in self._running() if not note.ended), None)
            besides = (current.session, current.path) if current else ()
            latest = find_latest(root, besides=[each for each in besides if each])
            if latest is None:
                raise ReviewerError("There is no earlier session of this project.")
            found = latest
        text = write_brief(found.path, max_tokens=budget, session=found.session).text
        if not text:
            return sentence(f"There is nothing to hand over in {found.session or found.path.name}.")
        return _cut(between_tags(text))

    # The store and the project

    @contextmanager
    def _reading(self) -> Iterator[Engine]:
        with self._engine() as engine:
            if not engine.is_known(engine.project or ""):
                raise ReviewerError(
                    f"Nothing is stored for project {engine.project} yet. The person fills it: "
                    "reviewer ingest PATH"
                )
            yield engine

    @contextmanager
    def _engine(self) -> Iterator[Engine]:
        """The store, limited to the one project."""
        from reviewer.engine import Engine

        if work_tree(self._folder) is None:
            raise ReviewerError(
                f"{self._folder} is not in a git work tree of this user, so it has no project."
            )
        with Engine.of_folder(
            self._store, self._folder, self._named, actor=self.agent, clock=self._clock
        ) as engine:
            if engine is None:
                raise ReviewerError(
                    f"{self._folder} is not bound to {self._named or 'a project'}. The person binds"
                    " it by using reviewer there once, for example: reviewer ingest"
                )
            yield engine

    # Files

    def _root(self) -> Path | None:
        tree = work_tree(self._folder)
        return Path(tree.root) if tree else None

    def _readable(self, name: str) -> SessionFile:
        """A file of the work tree, or the transcript of a running session.

        Raises ReviewerError for any other file, links followed.
        """
        from reviewer.agents.transcripts import SessionFile, noted

        root = self._root()
        try:
            path = Path(os.path.realpath((root or self._folder) / Path(name).expanduser()))
        except (ValueError, RuntimeError) as problem:  # a NUL, or the home of an unknown user
            raise ReviewerError(f"{name!r} is not a file name.") from problem
        if root is not None and path.is_relative_to(root) and ".git" not in path.parts:
            return SessionFile(path)
        for note in self._running():
            with suppress(SourceError):  # the paths noted by hooks are checked again
                if note.path and (found := noted(note)).path == path:
                    return found
        raise ReviewerError(f"{name} is neither in this project's folder nor this session.")

    def _session(self, name: str, root: Path) -> SessionFile:
        """A session of this project by its id. Raises ReviewerError."""
        from reviewer.agents.transcripts import find_session, noted

        for note in self._noted():
            if note.session == name:
                return noted(note)
        found = find_session(name, root)
        if found is None:
            raise ReviewerError(f"No session of this project is called {name[:80]!r}.")
        return found

    def _running(self) -> list[SessionNote]:
        """Sessions of this agent in this work tree, latest first."""
        return [note for note in self._noted() if note.agent == self.agent]

    def _noted(self) -> list[SessionNote]:
        """Sessions of any agent in this work tree, latest first."""
        root = os.path.realpath(self._root() or self._folder)
        return [
            note
            for note in AgentFiles(self._store).sessions()
            if (note.path or note.session) and Path(os.path.realpath(note.cwd)).is_relative_to(root)
        ]

    # Proposing

    def _propose(
        self, engine: Engine, statement: str, type_: str, quotes: Sequence[AgentQuote]
    ) -> AgentText:
        from reviewer.extraction.rules import sentence_type
        from reviewer.promotion.views import QueueQuery
        from reviewer.proposing.proof import prove, reasons
        from reviewer.proposing.values import Proposal, Proposer, Proved
        from reviewer.sources.events import Speaker

        waiting = QueueQuery(engine.project, "candidate", "proposer:mcp")
        if engine.queue.count(waiting) >= PROPOSALS_WAITING:
            raise ReviewerError(
                f"{PROPOSALS_WAITING} proposals of agents are already waiting in this project: the"
                " person decides on those first."
            )
        index, found = self._find(quotes)
        statement = " ".join(statement.split())
        speakers = {
            index.lines[position].speaker
            for quote in found
            for position in index.positions(quote.line)
            if quote.text
        }
        proposal = Proposal(
            statement=statement,
            type=MemoryType(type_) if type_ else sentence_type(statement),
            quotes=tuple(found),
            speaker=Speaker.PERSON if speakers == {Speaker.PERSON} else Speaker.AGENT,
            proposer=Proposer.MCP,
            rule=f"mcp.{self.agent}",
        )
        project = engine.project or ""
        path = index.view.path
        known = engine.proposals.known(project, self._root()).besides(path)
        proof = prove(proposal, index, known=known)
        if not proof.sound:
            raise ReviewerError(f"Not queued. {' '.join(reasons(proof))}")
        added = engine.proposals.add(
            project,
            [Proved(path, proposal, proof)],
            title=f"Proposed by {self.agent}",
            view_of=lambda _: index.view,
        )
        if added.dropped:
            raise ReviewerError(f"Not queued: {added.dropped[0].reason}.")
        for number in added.new:
            return sentence(
                f"Queued as #{number}. It waits for the person's decision and is not "
                "remembered until then."
            )
        return sentence("Already known or waiting; your evidence was added to it.")

    def _find(self, quotes: Sequence[AgentQuote]) -> tuple[ProofIndex, list[Quote]]:
        """The session or file with the quotes, and the position of each in it.

        Raises ReviewerError if no file is named and no running session has them.
        """
        from reviewer.agents.transcripts import noted
        from reviewer.proposing.proof_index import ProofIndex
        from reviewer.proposing.session_view import read_view

        named = {each.file for each in quotes if each.file}
        if len(named) > 1:
            raise ReviewerError("All quotes of a statement must come from one file.")
        problems: list[str] = []
        places = [self._readable(named.pop())] if named else []
        for note in [] if places else self._running()[:SESSIONS_SEARCHED]:
            try:
                places.append(noted(note))
            except SourceError as problem:
                problems.append(str(problem))
        if not places and not problems:
            raise ReviewerError(
                "Name the file of each quote: the transcript of this session is not known "
                "(the hooks of `reviewer connect` report it)."
            )
        best: tuple[int, ProofIndex, list[Quote]] | None = None
        for place in places:
            try:
                view = read_view(place.path, session=place.session)
                index = ProofIndex(_without_own_calls(view))
            except SourceError as problem:
                problems.append(str(problem))
                continue
            placed = [_placed(each, index) for each in quotes]
            hits = sum(found for _, found in placed)
            if best is None or hits > best[0]:
                best = hits, index, [quote for quote, _ in placed]
        if best is None:
            raise ReviewerError(" ".join(problems))
        return best[1], best[2]


def _placed(cited: AgentQuote, index: ProofIndex) -> tuple[Quote, bool]:
    """A quote at the matching line nearest to the one given."""
    from reviewer.proposing.proof_index import find_whole, normalised
    from reviewer.proposing.values import Quote

    wording = normalised(cited.text)
    places = [
        index.lines[position].line
        for position in range(len(index.lines))
        if wording and find_whole(index.normalised_at(position), wording) >= 0
    ]
    wanted = max(cited.line - 1, 0)
    if not places:
        return Quote(wanted, cited.text), False
    nearest = min(places, key=lambda line: abs(line - wanted)) if cited.line else places[-1]
    return Quote(nearest, cited.text), True


def _without_own_calls(view: SessionView) -> SessionView:
    """A view without calls of these tools: a proposal would prove itself."""
    from msgspec import structs

    from reviewer.proposing.values import LineRole

    kept = tuple(
        line
        for line in view.lines
        if not (
            line.role in (LineRole.TOOL, LineRole.ERROR, LineRole.REJECTED)
            and _OWN_CALL.match(line.text.removeprefix("refused: "))
        )
    )
    return structs.replace(view, lines=kept)


def _state(engine: Engine, number: int) -> str:
    for each in engine.state.all(engine.project):
        if each.id == number:
            note = f" ({each.note})" if each.note else ""
            return f"s:{number} trusted state, set by the person\n{each.key} = {each.value}{note}"
    raise ReviewerError(f"There is no trusted state s:{number}.")


def _fact(engine: Engine, number: int) -> str:
    """A promoted fact, its structure and its cited passages. Only the cited words are shown: the
    text around them has not been reviewed.
    """
    from reviewer.promotion.views import Status

    try:
        view = engine.queue.candidate(number)
    except UnknownIdError:  # the same for another project's, whose name is not disclosed
        raise ReviewerError(f"This session's project has no m:{number}.") from None
    if view.status is not Status.ACTIVE:
        raise ReviewerError(f"m:{number} is not remembered: agents read promoted facts only.")
    if is_planted(view.content, view.flags):
        raise ReviewerError(
            f"m:{number} reads like an order planted for an agent, so it is withheld."
        )
    lines = [f"m:{number} {view.kind}, {view.type}", view.content]
    for evidence in engine.queue.evidence(number, around=0)[:5]:
        record = evidence.record
        text = evidence.quote
        lines += ["", f"From {record.path}:{evidence.line + 1} ({record.role}):"]
        lines += [f"> {line}" for line in text.splitlines()]
    return "\n".join(lines)


def _cut(text: AgentText) -> AgentText:
    """An answer of at most MAX_TEXT characters, with its closing tag."""
    if len(text) <= MAX_TEXT:
        return text
    body = text.partition("\n")[2].rpartition("\n")[0]
    return between_tags(f"{body[: MAX_TEXT - 200]}\n... (cut: ask for less)")
