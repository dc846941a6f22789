"""What a person can begin with: the projects on this machine that agents have left sessions of."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from reviewer.projects import WITHOUT_A_TREE, work_tree
from reviewer.sources.discovery import (
    FoundSession,
    Machine,
    Scope,
    choose,
    find_sessions,
    is_within,
)

if TYPE_CHECKING:
    from reviewer.engine import Engine
    from reviewer.promotion.report import Progress, WaveReport


class FoundProject(Struct, frozen=True, kw_only=True):
    """A project with sessions that can be read. Those of sub-agents are only in the bytes."""

    name: str
    folder: Path
    here: bool
    """It is the project of the working folder."""
    agents: tuple[tuple[str, int], ...]
    """Agent and number of sessions, most first."""
    sessions: int
    bytes: int
    newest_ns: int


class Found(Struct, frozen=True):
    """The projects, that of the working folder first, then the one used last."""

    projects: tuple[FoundProject, ...]
    elsewhere: int = 0
    """Sessions of folders that are gone, or that lie outside the home folder."""

    @property
    def agents(self) -> int:
        return len({agent for each in self.projects for agent, _ in each.agents})


class Start(Protocol):
    """What the first screen offers, and how it is read."""

    sample: bool
    """It is sample data, not what was found on this machine."""

    def find(self) -> Found:
        """Look for projects; may take seconds."""
        ...

    def begin(self, project: FoundProject) -> None:
        """Make it the project of the engine and its folder the working folder."""
        ...

    def read(
        self,
        project: FoundProject,
        progress: Callable[[Progress], None],
        cancelled: Callable[[], bool],
    ) -> WaveReport:
        """Read its sessions. Raises as `Intake.ingest` does."""
        ...


class MachineStart:
    """Begins with the sessions that lie where agents keep them."""

    sample = False

    def __init__(self, engine: Engine, named: str | None, machine: Machine | None = None) -> None:
        """`named`: the name for the project of the working folder that the person has given."""
        self._engine = engine
        self._named = named
        self._machine = machine or Machine.here()
        self._scope = Scope.of(Path.cwd())
        self._sessions: dict[Path, list[FoundSession]] = {}

    def find(self) -> Found:
        sessions = find_sessions(self._machine, self._scope)
        self._sessions, elsewhere = by_folder(sessions, self._scope, self._machine.home)
        rows = [self._project(folder, found) for folder, found in self._sessions.items()]
        rows.sort(key=lambda row: (not row.here, -row.newest_ns))
        return Found(tuple(rows), elsewhere)

    def _project(self, folder: Path, found: list[FoundSession]) -> FoundProject:
        tree = work_tree(folder)
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
        )

    def begin(self, project: FoundProject) -> None:
        engine = self._engine
        tree = work_tree(project.folder)
        named = self._named if project.here else None
        if named is None and tree is None:
            named = WITHOUT_A_TREE
        engine.work_in(engine.choose_project(named, project.folder))
        if not project.here:
            os.chdir(project.folder)  # the screens look there for sessions and a .context folder

    def read(
        self,
        project: FoundProject,
        progress: Callable[[Progress], None],
        cancelled: Callable[[], bool],
    ) -> WaveReport:
        chosen = choose(self._sessions[project.folder])
        return self._engine.intake.ingest(
            chosen.paths,
            project=self._engine.project or WITHOUT_A_TREE,
            progress=progress,
            cancelled=cancelled,
            sessions=chosen.sessions,
        )


def by_folder(
    sessions: Iterable[FoundSession], scope: Scope, home: Path
) -> tuple[dict[Path, list[FoundSession]], int]:
    """Sessions by the work tree or folder that they were held in, and how many have none that can
    be offered: it is gone, unknown, or outside the home folder (a path that came out of a file
    must not mount a network folder).
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
    scopes = {folder: Scope.of(folder) for folder in folders}
    scopes.setdefault(_root_of(scope), scope)
    lost = 0
    for each in without:  # some agents only name a folder after the project
        named = (root for root, it in scopes.items() if not each.cwd and each.belongs_to(it))
        root = next(named, None)
        if root is not None:
            folders.setdefault(root, []).append(each)
        else:
            lost += not each.subagent
    return {
        folder: found for folder, found in folders.items() if any(not one.subagent for one in found)
    }, lost


def _root_of(scope: Scope) -> Path:
    return Path(scope.tree.root) if scope.tree is not None else scope.folder


def _folder_of(cwd: str, scope: Scope, home: Path) -> Path | None:
    """The work tree around a working folder, or that folder; None if it cannot be offered."""
    if scope.tree is not None and cwd and is_within(cwd, scope):
        return Path(scope.tree.root)
    at_home = cwd == str(home) or cwd.startswith(str(home) + os.sep)
    if not cwd or ".." in cwd.split(os.sep) or not (at_home or cwd == str(scope.folder)):
        return None
    folder = Path(cwd)
    if not folder.is_dir():
        return None
    tree = work_tree(folder)
    return Path(tree.root) if tree is not None else folder
