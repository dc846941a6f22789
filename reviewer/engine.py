"""Opens a store, with all capabilities for the screen and the command line."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from reviewer.clock import Clock, utc_now
from reviewer.errors import (
    ActStoppedError,
    ConflictError,
    ReadStoppedError,
    ReviewerError,
    StoreError,
)
from reviewer.projects import (
    ChosenProject,
    ForeignProjectError,
    NoProjectError,
    bound_to,
    choose,
    default_project,
    work_tree,
)
from reviewer.promotion.decisions.drafts import Drafts
from reviewer.store.acts import Scope
from reviewer.store.database import Database
from reviewer.store.ledger import Ledger
from reviewer.store.project_rows import add_former, is_known, project_row, stored_projects
from reviewer.store.version import APPLICATION_ID, SCHEMA_VERSION

if TYPE_CHECKING:
    from reviewer.commits.contexts import Contexts
    from reviewer.compression.service import Compression
    from reviewer.fleet.importing import FleetImport
    from reviewer.packets.service import Packets
    from reviewer.pipelines.service import Pipelines
    from reviewer.promotion.decisions.conflicts import Conflicts
    from reviewer.promotion.decisions.entities import Entities
    from reviewer.promotion.decisions.forgetting import Forgetting
    from reviewer.promotion.decisions.history import History
    from reviewer.promotion.decisions.triage import Triage
    from reviewer.promotion.decisions.trusted_state import TrustedState
    from reviewer.promotion.exchange.signed_decisions import SignedDecisions
    from reviewer.promotion.exchange.syncing import Syncing
    from reviewer.promotion.export.exports import Exports
    from reviewer.promotion.lists.insight import Insight
    from reviewer.promotion.lists.queue import Queue
    from reviewer.promotion.lists.reader_log import ReaderLog
    from reviewer.promotion.lists.source_view import SourceView
    from reviewer.promotion.provenance import Provenance
    from reviewer.promotion.rows.finding_rows import FindingView
    from reviewer.promotion.views import Done
    from reviewer.promotion.waves.intake import Intake
    from reviewer.promotion.waves.proposals import Proposals
    from reviewer.recall.service import Recall


class Engine:
    """An open store and its capabilities, each imported when it is first used.

    Reading is safe from several threads.
    """

    def __init__(self, database: Database, *, actor: str, clock: Clock) -> None:
        self.path = database.path
        self._database = database
        self._ledger = Ledger(database, actor=actor, clock=clock)
        self.clock = clock
        self.drafts = Drafts(database.path)
        self.session_drafts = Drafts(database.path, "session-drafts")
        self.summary_drafts = Drafts(database.path, "summary-drafts")
        self.state_drafts = Drafts(database.path, "state-drafts")

    @cached_property
    def queue(self) -> Queue:
        """Reads candidates, memories and entities."""
        from reviewer.promotion.lists.queue import Queue

        return Queue(self._database, self.clock)

    @cached_property
    def triage(self) -> Triage:
        """Decides on candidates."""
        from reviewer.promotion.decisions.triage import Triage

        return Triage(self._ledger, self.clock)

    @cached_property
    def signed_decisions(self) -> SignedDecisions:
        """Decisions as files: this person's, and those of others."""
        from reviewer.promotion.exchange.signed_decisions import SignedDecisions

        return SignedDecisions(self._database, self._ledger, self.clock)

    @cached_property
    def syncing(self) -> Syncing:
        """Synchronises decisions with other machines through a folder."""
        from reviewer.promotion.exchange.syncing import Syncing

        return Syncing(self._database, self._ledger, self.clock)

    @cached_property
    def forgetting(self) -> Forgetting:
        """Erases memories and projects for good."""
        from reviewer.promotion.decisions.forgetting import Forgetting

        return Forgetting(self._database, self._ledger)

    @cached_property
    def history(self) -> History:
        """The acts; undo and redo; verification."""
        from reviewer.promotion.decisions.history import History

        return History(self._database, self._ledger)

    @cached_property
    def sources(self) -> SourceView:
        """Reads the source files of candidates."""
        from reviewer.promotion.lists.source_view import SourceView

        return SourceView(self._database)

    @cached_property
    def entities(self) -> Entities:
        """Entities: attributes, graduation, candidates written by hand."""
        from reviewer.promotion.decisions.entities import Entities

        return Entities(self._database, self._ledger, self.clock)

    @cached_property
    def conflicts(self) -> Conflicts:
        """Entities that contradict each other."""
        from reviewer.promotion.decisions.conflicts import Conflicts

        return Conflicts(self._database, self._ledger, self.clock, self.queue)

    @cached_property
    def state(self) -> TrustedState:
        """Trusted state, written by a person only."""
        from reviewer.promotion.decisions.trusted_state import TrustedState

        return TrustedState(self._database, self._ledger, self.clock)

    @cached_property
    def insight(self) -> Insight:
        """Policy hints of candidates."""
        from reviewer.promotion.lists.insight import Insight

        return Insight(self._database, self.clock)

    @cached_property
    def exports(self) -> Exports:
        """Exports of active memories, entities and trusted state."""
        from reviewer.promotion.export.exports import Exports

        return Exports(self.path, self.clock, self.queue, self.state, self.entities)

    @cached_property
    def provenance(self) -> Provenance:
        """The chain of evidence behind a memory, an entity or a value."""
        from reviewer.promotion.provenance import Provenance

        return Provenance(self.queue, self.entities)

    @cached_property
    def contexts(self) -> Contexts:
        """Contexts, their commits and annotations."""
        from reviewer.commits.contexts import Contexts

        return Contexts(self._database, self._ledger, self.clock)

    @cached_property
    def compression(self) -> Compression:
        """Compression of contexts: preview, checks, apply."""
        from reviewer.compression.service import Compression

        return Compression(self._database, self._ledger, self.clock, self.contexts)

    @cached_property
    def packets(self) -> Packets:
        """Context packets from active memories, entities and trusted state."""
        from reviewer.packets.service import Packets

        return Packets(self._database, self.clock, self.state)

    @cached_property
    def recall(self) -> Recall:
        """Memories by moment, and their uses."""
        from reviewer.recall.service import Recall

        return Recall(self._database, self._ledger, self.clock)

    @cached_property
    def pipelines(self) -> Pipelines:
        from reviewer.pipelines.service import Pipelines

        return Pipelines(self._database, self._ledger, self.clock)

    @cached_property
    def intake(self) -> Intake:
        """Ingestion of files."""
        from reviewer.promotion.waves.intake import Intake

        return Intake(self._database, self._ledger, self.clock)

    def findings(self, project: str | None) -> list[FindingView]:
        """What recurs in the ingested sessions of one project or of all."""
        from reviewer.promotion.rows.finding_rows import all_findings

        return all_findings(self._database, project, self.clock())

    @cached_property
    def fleet(self) -> FleetImport:
        """Import of the findings of a job over many files."""
        from reviewer.fleet.importing import FleetImport

        return FleetImport(self._ledger, self.clock)

    @cached_property
    def proposals(self) -> Proposals:
        """Statements with proof, from proposers and by hand."""
        from reviewer.promotion.waves.proposals import Proposals

        return Proposals(self._database, self._ledger, self.clock)

    @cached_property
    def reader_log(self) -> ReaderLog:
        """The sessions read by a reader."""
        from reviewer.promotion.lists.reader_log import ReaderLog

        return ReaderLog(self._database)

    @classmethod
    def open(cls, path: Path, *, actor: str = "you", clock: Clock = utc_now) -> Engine:
        """Open the store at `path`; create or migrate it if needed.

        Raises StoreError.
        """
        # Absolute: the screen changes the working folder with the project.
        return cls(Database(path.absolute()), actor=actor, clock=clock)

    @classmethod
    @contextmanager
    def of_folder(
        cls, path: Path, folder: Path, named: str | None, *, actor: str = "you", clock: Clock
    ) -> Iterator[Engine | None]:
        """The store, limited to the project bound to the work tree around a folder: all that an
        agent in that folder gets to see. None if there is none, or another than the named one.

        Raises StoreError.
        """
        if not path.exists():
            raise StoreError(
                f"There is no store at {path} yet. The person fills it: reviewer ingest PATH"
            )
        with closing(cls.open(path, actor=actor, clock=clock)) as engine:
            own = bound_to(stored_projects(engine._database), work_tree(folder))
            if own is None or named not in (None, own.name):
                yield None
                return
            engine.work_in(ChosenProject(own.name))
            yield engine

    def choose_project(self, named: str | None, folder: Path | None = None) -> ChosenProject:
        """The named project, or the one of `folder` (default: the working folder).

        Raises ForeignProjectError if the project with the name of this work tree belongs to another
        one, NoProjectError if several projects may be meant.
        """
        return choose(stored_projects(self._database), work_tree(folder), named)

    def bind_folder(self, named: str | None = None) -> None:
        """Bind the working folder to a project: the named one, by default the one chosen at the
        start, else the one of its own name. Nothing changes if the folder is bound already or the
        project is not stored.

        Raises ForeignProjectError as `choose_project` does.
        """
        claim = self._database.ownership.claim or self.choose_project(named).claim
        if claim is not None:
            self._ledger.bind_project(claim)

    def why_agents_get_nothing(self, named: str | None) -> str:
        """Why agents in the working folder get no memories of the named project, by default of the
        one that it is bound to, as a sentence; empty if they do.
        """
        tree = work_tree()
        if tree is None:
            return "This folder is not in a git work tree, so sessions in it get no memories."
        stored = stored_projects(self._database)
        own = bound_to(stored, tree)
        if own is None:
            project = f"project {named}" if named else "a project"
            is_stored = any(each.name == named for each in stored)
            way = "connect again" if is_stored else "read sessions or decide on a candidate"
            return (
                f"This folder is not bound to {project} yet, so sessions in it get no memories:"
                f" {way} here once."
            )
        if named not in (None, own.name):
            return (
                f"This folder is bound to project {own.name}, so sessions in it get no memories of"
                f" {named}: connect without that name."
            )
        if not (self.queue.counts(own.name).promoted or self.state.all(own.name)):
            return f"Nothing is promoted for project {own.name} yet, so sessions get no memories."
        return ""

    def former_folders(self, named: str | None = None) -> tuple[str, ...]:
        """Folders, other than its work trees, whose sessions belong to the named project or that of
        the working folder; empty outside of work trees if several may be meant.

        Raises ForeignProjectError as `choose_project` does.
        """
        try:
            project = self.choose_project(named).project
        except NoProjectError:
            return ()
        found = (each for each in stored_projects(self._database) if each.name == project)
        return tuple(line for each in found for line in each.former.splitlines())

    def is_here(self, project: str) -> bool:
        """Whether the sessions of the working folder belong to a project: not if the folder is
        bound to another one, or the project to other folders.
        """
        stored = stored_projects(self._database)
        own = bound_to(stored, work_tree())
        if own is not None:
            return own.name == project
        return not any(each.name == project and each.root for each in stored)

    def folder_of(self, project: str) -> Path | None:
        """A folder of a project that exists: a work tree that it is bound to."""
        stored = stored_projects(self._database)
        roots = next((each.roots for each in stored if each.name == project), [])
        return next((Path(root) for root in roots if os.path.isdir(root)), None)

    def take_folder(self, project: str, folder: str) -> Done:
        """Assign the sessions of a folder to a project.

        Raises ConflictError for a folder of another project, ReviewerError for one with more than a
        single project in it.
        """
        from reviewer.promotion.views import Done

        place = os.path.abspath(folder)
        if "\n" in place or len(Path(place).parts) < 3 or Path(place) in Path.home().parents:
            raise ReviewerError(f"{place} is not a folder of one project.")
        for each in stored_projects(self._database):
            if each.name != project and place in (*each.roots, *each.former.splitlines()):
                raise ConflictError(f"The sessions of {place} belong to project {each.name}.")
        with self._ledger.act("project", f"Began {project}", scope=Scope.INTAKE) as act:
            project_row(act, project)  # an act of its own, so that undoing the other one is enough
        title = f"Sessions of {place} belong to {project}"
        with self._ledger.act("take folder", title) as act:
            add_former(act, project_row(act, project), [place])
        return Done(act.id, act.title, ())

    def say_binding(self) -> str:
        """A sentence, once, if this process has bound a work tree to a project; else empty."""
        ownership = self._database.ownership
        bound, ownership.bound = ownership.bound, None
        if bound is None:
            return ""
        root = bound.root.splitlines()[-1]
        said = (
            f"{root} is now bound to project {bound.project}: agents that you connect there get its"
            " memories."
        )
        if bound.before is not None:
            said += " To take that back: reviewer undo NUMBER, with its number in reviewer history."
        return said

    def work_in(self, chosen: ChosenProject) -> None:
        """Limit everything to one project, including undo and history.

        Ids of other projects are refused. The next write binds the project to its work tree.
        """
        ownership = self._database.ownership
        ownership.project, ownership.claim = chosen.project, chosen.claim

    def work_in_all(self) -> None:
        """Read and decide in every project from now on."""
        ownership = self._database.ownership
        ownership.project = ownership.claim = None
        try:
            self.choose_project(None)
        except ForeignProjectError as problem:
            name = default_project()
            ownership.taken = {name: str(problem)} if name else {}
        except NoProjectError:
            pass  # the folder's name is not one that a project could have by mistake

    @property
    def project(self) -> str | None:
        """The current project; None for all."""
        return self._database.ownership.project

    def project_names(self) -> list[str]:
        return sorted(each.name for each in stored_projects(self._database))

    def is_known(self, project: str) -> bool:
        """Whether anything was ever written for a project, even if it was undone."""
        return is_known(self._database, project)

    def version(self) -> tuple[int, int]:
        """A value that changes whenever this or another process writes."""
        return self._database.data_version(), self._ledger.writes

    @property
    def has_erased_bytes(self) -> bool:
        """Whether an erasure was interrupted before its last bytes were gone."""
        marker = self.path.with_name(f"{self.path.name}-forgetting")
        return marker.exists()

    @property
    def has_written(self) -> bool:
        """Whether this process has written an act."""
        return self._ledger.writes > 0

    def waits_to_write(self) -> bool:
        """Whether an act in another thread is waiting for another program to finish writing."""
        return self._ledger.waiting

    @contextmanager
    def watched(self, watch: Callable[[int], bool]) -> Iterator[None]:
        """Report the progress of the calling thread's acts: `watch` gets the rows written so far.

        If it returns True, the act is rolled back and ActStoppedError is raised.
        """
        try:
            with self._ledger.watched(watch):
                yield
        except ReadStoppedError as stopped:
            raise ActStoppedError("Stopped. Nothing was changed.") from stopped

    def close(self) -> None:
        """Write the pending measurements of previews, then close the store."""
        if "compression" in vars(self):
            self.compression.measures.flush()
        self._database.close()


class StoreFacts(NamedTuple):
    """Facts about a store file that can be read without opening it as a store."""

    is_store: bool
    is_empty: bool
    version: int = 0
    newest_version: int = SCHEMA_VERSION
    journal: str = ""
    integrity: str = ""
    """`ok`, or SQLite's list of problems."""


def inspect_store(path: Path) -> StoreFacts:
    """Inspect a store file without creating or changing anything.

    Raises sqlite3.Error.
    """

    def read(pragma: str) -> str:
        return "; ".join(str(row[0]) for row in connection.execute(f"PRAGMA {pragma}"))

    address = f"{path.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(address, uri=True, timeout=2)) as connection:
        application = int(read("application_id"))
        if application != APPLICATION_ID:
            has_tables = connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
            return StoreFacts(False, is_empty=not (application or has_tables))
        return StoreFacts(
            True,
            is_empty=False,
            version=int(read("user_version")),
            journal=read("journal_mode"),
            integrity=read("integrity_check"),
        )
