"""The start screen's offers: the projects on this machine with agents' sessions."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from reviewer.mounts import is_on_local_disk
from reviewer.projects import WITHOUT_A_TREE, ForeignProjectError, work_tree
from reviewer.promotion.waves.found_sessions import is_read
from reviewer.sources.discovery import (
    FoundSession,
    Machine,
    ProjectFolders,
    choose,
    find_sessions,
    is_within,
)
from reviewer.system import working_folder

if TYPE_CHECKING:
    from reviewer.engine import Engine
    from reviewer.projects import ChosenProject
    from reviewer.promotion.waves.report import WaveProgress, WaveReport


ALL, ALL_GONE = "all projects", "all folders that are gone"
MAX_GONE = 20
"""Deleted folders on offer, the latest."""


class FoundProject(Struct, frozen=True, kw_only=True):
    """A project with readable sessions. Sub-agents' are only included in the bytes."""

    name: str
    folder: Path
    here: bool
    """It is the project of the working folder."""
    agents: tuple[tuple[str, int], ...]
    """Agent and number of sessions, most first."""
    sessions: int
    bytes: int
    newest_ns: int
    unread: int
    """Sessions changed since they were last read."""
    gone: bool = False
    """Its folder was deleted; its sessions are read into the project of this folder."""
    parts: tuple[FoundProject, ...] = ()
    """The projects of a combined row; empty for a single project."""


class WaitingProject(Struct, frozen=True):
    """A project of the store with candidates to decide on."""

    name: str
    waiting: int


class FoundProjects(Struct, frozen=True):
    """The projects, that of the working folder first, then the most recently used, then the deleted
    folders; of several, a combined row comes after the projects and before the deleted folders.
    """

    projects: tuple[FoundProject, ...]
    elsewhere: int = 0
    """Sessions of deleted folders, or of folders on a network and outside the home folder."""
    waiting: tuple[WaitingProject, ...] = ()
    """Those of the store without sessions to read, most first."""

    @property
    def rows(self) -> tuple[FoundProject | WaitingProject, ...]:
        """What is offered: that of the working folder, those of the store, the others."""
        first = [each for each in self.projects if each.here]
        return (*first, *self.waiting, *(each for each in self.projects if not each.here))

    @property
    def nothing(self) -> tuple[str, str]:
        """Why there is no project to offer, and what to do."""
        if not self.elsewhere:
            return (
                "No agents' sessions were found in their usual folders.",
                'Notes, decision records and exports of chats: . "read a file" in the queue, or'
                " reviewer ingest PATH.",
            )
        none = "none of them in" if self.elsewhere > 1 else "but not in"
        found = f"{self.elsewhere:,} session{'s' if self.elsewhere > 1 else ''} of agents"
        return (
            f"{found} found, {none} a folder that is still there: it is gone, or on a network.",
            "reviewer sources --all --files lists them, and reviewer ingest FILE reads one.",
        )

    @property
    def agents(self) -> int:
        return len({agent for each in self.projects for agent, _ in each.agents})

    @property
    def here(self) -> bool:
        """Whether the working folder belongs to one of the projects."""
        return any(each.here for each in self.projects)


class ReadSum(Struct, frozen=True):
    """The outcome of reading."""

    files: int
    stopped: bool
    left_out: tuple[str, ...] = ()
    """A sentence for each project that was not read."""


class Start(Protocol):
    """The offers of the start screen, and how they are read."""

    sample: bool
    """Sample data, not this machine's."""

    def find(self) -> FoundProjects:
        """Look for projects; may take seconds."""
        ...

    def begin(self, project: FoundProject) -> None:
        """Make it the engine's project, and its folder the working folder.

        Raises ForeignProjectError if its name belongs to another project.
        """
        ...

    def read(
        self,
        project: FoundProject,
        progress: Callable[[WaveProgress], None],
        cancelled: Callable[[], bool],
    ) -> ReadSum:
        """Read its sessions. Raises as `Intake.ingest` does."""
        ...


class MachineStart:
    """Starts with the sessions in the agents' own folders."""

    sample = False

    def __init__(self, engine: Engine, named: str | None, machine: Machine | None = None) -> None:
        """`named`: the person's name for the project of the working folder."""
        self._engine = engine
        self._given, self._folder = named, working_folder()
        self._machine = machine or Machine.here()
        self._sessions: dict[Path, list[FoundSession]] = {}

    @property
    def _named(self) -> str | None:
        """The person's name for the project of the working folder, which the screen may change."""
        return self._given if working_folder() == self._folder else None

    def find(self) -> FoundProjects:
        self._scope = ProjectFolders.of(working_folder(), self._engine.former_folders(self._named))
        sessions = find_sessions(self._machine, self._scope)
        self._stamps = self._engine.sources.stamps(None)
        self._sessions, lost = by_folder(sessions, self._scope, self._machine.home)
        rows = [self._project(folder, found) for folder, found in self._sessions.items()]
        rows.sort(key=lambda row: (not row.here, -row.newest_ns))
        if len(rows) > 1:
            rows.append(_together(ALL, rows))
        gone, elsewhere = gone_folders(lost, self._machine.home)
        self._sessions |= gone
        former = [self._project(folder, found, gone=True) for folder, found in gone.items()]
        if len(former) > 1:
            rows.append(_together(ALL_GONE, former, gone=True))
        stored = tuple(
            WaitingProject(name, waiting)
            for name, waiting in self._engine.queue.waiting_by_project().items()
            if self._engine.folder_of(name) not in self._sessions  # which has a row already
        )
        return FoundProjects((*rows, *former), elsewhere, stored)

    def _project(
        self, folder: Path, found: list[FoundSession], *, gone: bool = False
    ) -> FoundProject:
        tree = None if gone else work_tree(folder)
        here = folder == _root_of(self._scope)
        name = tree.name if tree is not None else folder.name or WITHOUT_A_TREE
        agents = Counter(each.agent for each in found if not each.subagent)
        return FoundProject(
            name=self._named if here and self._named else name,
            folder=folder,
            here=here,
            agents=tuple(agents.most_common()),
            sessions=agents.total(),
            bytes=sum(each.bytes for each in found),
            newest_ns=max(each.modified_ns for each in found),
            unread=sum(not (each.subagent or is_read(each, self._stamps)) for each in found),
            gone=gone,
        )

    def begin(self, project: FoundProject) -> None:
        if project.parts and not project.gone:
            self._engine.work_in_all()
            return
        self._engine.work_in(self._chosen(project))
        if project.gone:
            name = self._engine.project or WITHOUT_A_TREE
            for each in project.parts or (project,):
                self._engine.take_folder(name, str(each.folder))
        elif not project.here:
            os.chdir(project.folder)  # the screens look there for sessions and a .context folder

    def _chosen(self, project: FoundProject) -> ChosenProject:
        """The project in the store; a second folder of the same name is distinguished by its parent
        folder. Raises ForeignProjectError.
        """
        engine, folder = self._engine, working_folder() if project.gone else project.folder
        named = self._named if project.here or project.gone else None
        if named is None and work_tree(folder) is None:
            named = WITHOUT_A_TREE
        try:
            return engine.choose_project(named, folder)
        except ForeignProjectError:
            if named is not None:
                raise
            return engine.choose_project(f"{folder.parent.name}-{folder.name}", folder)

    def read(
        self,
        project: FoundProject,
        progress: Callable[[WaveProgress], None],
        cancelled: Callable[[], bool],
    ) -> ReadSum:
        ingest = partial(self._engine.intake.ingest, progress=progress, cancelled=cancelled)
        if not project.parts or project.gone:
            return self._read_one(project, ingest)
        files, left_out = 0, []  # one project after the other, each into its own
        try:
            for each in project.parts:
                try:
                    self._engine.work_in(self._chosen(each))
                except ForeignProjectError as problem:
                    left_out.append(str(problem))
                    continue
                read = self._read_one(each, ingest)
                files += read.files
                if read.stopped or cancelled():
                    return ReadSum(files, True, tuple(left_out))
        finally:
            self._engine.work_in_all()
        return ReadSum(files, False, tuple(left_out))

    def _read_one(self, project: FoundProject, ingest: Callable[..., WaveReport]) -> ReadSum:
        folders = [each.folder for each in project.parts or (project,)]
        chosen = choose([each for folder in folders for each in self._sessions[folder]])
        report = ingest(
            chosen.paths,
            project=self._engine.project or WITHOUT_A_TREE,
            sessions=chosen.sessions,
        )
        return ReadSum(report.files, report.state == "interrupted")


def _together(name: str, rows: list[FoundProject], *, gone: bool = False) -> FoundProject:
    """The row for all projects, or for all deleted folders."""
    agents: Counter[str] = Counter()
    for row in rows:
        agents.update(dict(row.agents))
    return FoundProject(
        name=name,
        folder=working_folder(),
        here=False,
        agents=tuple(agents.most_common()),
        sessions=sum(row.sessions for row in rows),
        bytes=sum(row.bytes for row in rows),
        newest_ns=max(row.newest_ns for row in rows),
        unread=sum(row.unread for row in rows),
        gone=gone,
        parts=tuple(rows),
    )


def by_folder(
    sessions: Iterable[FoundSession], scope: ProjectFolders, home: Path
) -> tuple[dict[Path, list[FoundSession]], list[FoundSession]]:
    """Sessions by work tree or folder, and those that cannot be offered: their folder is gone,
    unknown, or neither in the home folder nor on a local disk (a path from a file must not mount a
    network folder).
    """
    folders: dict[Path, list[FoundSession]] = {}
    without: list[FoundSession] = []
    roots: dict[str, Path | None] = {}
    for each in sessions:
        if each.cwd not in roots:
            roots[each.cwd] = _folder_of(each.cwd, scope, home)
        root = roots[each.cwd]
        if root is None:
            without.append(each)
        else:
            folders.setdefault(root, []).append(each)
    scopes = {folder: ProjectFolders.of(folder) for folder in folders}
    scopes.setdefault(_root_of(scope), scope)
    lost: list[FoundSession] = []
    for each in without:  # some agents only name a folder after the project
        named = (root for root, it in scopes.items() if not each.cwd and each.belongs_to(it))
        root = next(named, None)
        if root is not None:
            folders.setdefault(root, []).append(each)
        else:
            lost.append(each)
    return {
        folder: found for folder, found in folders.items() if any(not one.subagent for one in found)
    }, lost


def gone_folders(
    lost: Iterable[FoundSession], home: Path
) -> tuple[dict[Path, list[FoundSession]], int]:
    """Sessions by deleted folder, latest first; and the number of sessions without a known folder,
    or with one that must not be touched.
    """
    gone: dict[Path, list[FoundSession]] = {}
    elsewhere = 0
    for each in lost:
        if each.cwd and ".." not in each.cwd.split(os.sep) and _may_look(each.cwd, home):
            gone.setdefault(Path(each.cwd), []).append(each)
        else:
            elsewhere += not each.subagent
    own = {folder: some for folder, some in gone.items() if not all(one.subagent for one in some)}
    latest = {folder: max(each.modified_ns for each in some) for folder, some in own.items()}
    newest = sorted(own, key=lambda folder: -latest[folder])[:MAX_GONE]
    return {folder: own[folder] for folder in newest}, elsewhere


def _may_look(cwd: str, home: Path) -> bool:
    return cwd == str(home) or cwd.startswith(str(home) + os.sep) or is_on_local_disk(cwd)


def _root_of(scope: ProjectFolders) -> Path:
    return Path(scope.tree.root) if scope.tree is not None else scope.folder


def _folder_of(cwd: str, scope: ProjectFolders, home: Path) -> Path | None:
    """The work tree around a working folder, or that folder; None if it cannot be offered."""
    if scope.tree is not None and cwd and is_within(cwd, scope):
        return Path(scope.tree.root)
    if not cwd or ".." in cwd.split(os.sep):
        return None
    if not (cwd == str(scope.folder) or _may_look(cwd, home)):
        return None
    folder = Path(cwd)
    if not folder.is_dir():
        return None
    tree = work_tree(folder)
    return Path(tree.root) if tree is not None else folder
