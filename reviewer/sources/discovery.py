"""Finds agents' sessions on this machine, without any paths from the user.

Searches only the places listed by the formats, without following links or mounts inside them.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path

import msgspec
from msgspec import Struct

from reviewer.errors import SourceError
from reviewer.files import open_file
from reviewer.projects import Tree, work_tree
from reviewer.sources.fields import Fields, folder_of_uri, written_object
from reviewer.sources.format import Format, Location
from reviewer.sources.registry import FORMATS
from reviewer.sources.walk import size_and_time

DEEPEST = 8
HEAD_BYTES = 1 << 18
"""Bytes of a session searched for its working folder."""
SOON_DAYS = 5
DAY = 86_400.0
_CWD = re.compile(
    rb'"(?:cwd|workspaceDirectory|workspacePath|directory|working_dir|uri)"\s*:\s*'
    rb'("(?:[^"\\]|\\.){1,4000}")'
)

_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
_HASH = re.compile(rb'"projectHash"\s*:\s*"([0-9a-f]{64})"')


class Machine(Struct, frozen=True):
    """Where to search: home folder, environment, operating system."""

    home: Path
    variables: Mapping[str, str]
    platform: str

    @classmethod
    def here(cls) -> Machine:
        return cls(Path.home(), os.environ, sys.platform)


class ProjectFolders(Struct, frozen=True):
    """A project on this machine: its folder and Git work trees."""

    folder: Path
    tree: Tree | None
    folders: tuple[str, ...]
    """The folder, the repository root, and the roots of linked work trees."""
    home: str
    """Other folders named by sessions are checked only below this one: a path from a file must
    not mount a network folder."""

    @classmethod
    def of(cls, folder: Path, former: Sequence[str] = ()) -> ProjectFolders:
        """`former`: other folders whose sessions belong to the project."""
        tree = work_tree(folder)
        found = [str(folder.absolute()), *former]
        if tree is not None:
            found += [tree.root, *_linked_trees(Path(tree.root))]
        folders = tuple(dict.fromkeys(found))
        return cls(folder.absolute(), tree, folders, str(Path.home()))


class FoundSession(Struct, frozen=True, kw_only=True):
    format: str
    agent: str
    path: Path
    session: str = ""
    """Its id, in a file with several; else the file is the session."""
    cwd: str = ""
    bytes: int = 0
    modified_ns: int = 0
    stamp: tuple[int, int] = (0, 0)
    """Size and mtime (ns) of the whole file, to detect whether it has been read since."""
    names: frozenset[str] = frozenset()
    """The folders that contain the file; some agents name them after the project."""
    subagent: bool = False
    expires_ns: int | None = None
    """When the agent will delete it."""

    @property
    def id(self) -> str:
        return id_of(self.path, self.session)

    def belongs_to(self, scope: ProjectFolders) -> bool:
        if self.cwd:
            return is_within(self.cwd, scope)
        return bool(self.names & _names_of(scope))

    def expires_within(self, days: int, now: float) -> bool:
        """Whether the agent deletes it within `days` days; `now` in seconds since 1970."""
        return self.expires_ns is not None and self.expires_ns / 1e9 < now + days * DAY


def find_sessions(
    machine: Machine, scope: ProjectFolders, formats: Iterable[Format] = FORMATS
) -> Iterator[FoundSession]:
    """All sessions in the known places of some formats, in any project."""
    seen: set[Path] = set()
    for each in formats:
        for location in each.locations:
            for root in _roots(location, machine, scope):
                kept = _kept_days(location, root)
                for path, status in _below(root, location.pattern.split("/"), DEEPEST):
                    if path not in seen and status.st_size:
                        seen.add(path)
                        yield from _sessions(each, location, path, root, status, kept)


def id_of(path: Path, session: str) -> str:
    """The id of a session: its own in a file with several, else the one at the end of the name of
    the file or its folder, else the name of the file.
    """
    named = (found[0] for name in (path.stem, path.parent.name) if (found := _ID.search(name)))
    return session or next(named, path.stem)


def is_known_place(path: Path, machine: Machine, formats: Iterable[Format]) -> bool:
    """Whether a path is where some formats keep sessions, below the home folder or the folder set
    by a variable. Links below that folder are resolved first, so that none leads out of it.
    """
    real = os.path.realpath(path)
    for location in (location for each in formats for location in each.locations):
        root = os.path.realpath(_root(location, machine))
        inside = os.path.relpath(real, root).split(os.sep)
        fits = os.pardir not in inside and _fits(inside, location.pattern.split("/"))
        if fits and not location.in_project:
            return True
    return False


def _fits(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    if not parts or not pattern:
        return not parts and not pattern
    if pattern[0] == "**":
        return fnmatchcase(parts[-1], pattern[1])
    return fnmatchcase(parts[0], pattern[0]) and _fits(parts[1:], pattern[1:])


class ChosenFiles(Struct, frozen=True):
    """What to read of the found sessions: files, and the wanted sessions in files that contain
    others as well.
    """

    paths: tuple[Path, ...]
    sessions: dict[Path, frozenset[str]]


def choose(found: Iterable[FoundSession]) -> ChosenFiles:
    """The files of some sessions, latest last."""
    ordered = sorted(found, key=lambda each: each.modified_ns)
    sessions: dict[Path, set[str]] = {}
    for each in ordered:
        if each.session:
            sessions.setdefault(each.path, set()).add(each.session)
    return ChosenFiles(
        tuple(dict.fromkeys(each.path for each in ordered)),
        {path: frozenset(names) for path, names in sessions.items()},
    )


def _roots(location: Location, machine: Machine, scope: ProjectFolders) -> list[Path]:
    """The folders of a location: below the home folder, or in the project."""
    if location.in_project:
        return [Path(folder) / location.folder for folder in scope.folders]
    return [_root(location, machine)]


def _root(location: Location, machine: Machine) -> Path:
    folder = location.folder
    if machine.platform == "darwin" and location.mac:
        folder = location.mac
    elif machine.platform == "win32" and location.windows:
        folder = location.windows
        roaming = machine.variables.get("APPDATA") or str(machine.home / "AppData/Roaming")
        if folder.startswith("%APPDATA%/"):
            return Path(roaming) / folder.removeprefix("%APPDATA%/")
    moved = machine.variables.get(location.variable, "") if location.variable else ""
    if moved and os.path.isabs(moved) and folder.startswith(location.moved):
        return Path(moved) / folder.removeprefix(location.moved).lstrip("/")
    return machine.home / folder


def _kept_days(location: Location, root: Path) -> int:
    """How many days the agent keeps a session, from its settings if set there."""
    if location.kept_setting:
        days = _written(root.parent / "settings.json").get(location.kept_setting)
        if isinstance(days, int) and days > 0:
            return days
    return location.kept_days


def _below(
    folder: Path, pattern: Sequence[str], depth: int
) -> Iterator[tuple[Path, os.stat_result]]:
    """The regular files below a folder that match a pattern, on the same device."""
    try:
        device = folder.stat().st_dev
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return  # an unlistable folder has no sessions for this person
    first, rest = pattern[0], pattern[1:]
    for entry in found:
        if entry.is_symlink():
            continue
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:
            continue
        inside = stat.S_ISDIR(status.st_mode) and status.st_dev == device and depth > 0
        path = Path(entry.path)
        if first == "**":
            if inside:
                yield from _below(path, pattern, depth - 1)
            elif stat.S_ISREG(status.st_mode) and fnmatchcase(entry.name, rest[0]):
                yield path, status
        elif fnmatchcase(entry.name, first):
            if rest and inside:
                yield from _below(path, rest, depth - 1)
            elif not rest and stat.S_ISREG(status.st_mode):
                yield path, status


def _sessions(
    each: Format,
    location: Location,
    path: Path,
    root: Path,
    status: os.stat_result,
    kept: int,
) -> Iterator[FoundSession]:
    size, modified = size_and_time(path, status)
    found = FoundSession(
        format=each.name,
        agent=each.agent,
        path=path,
        bytes=size,
        modified_ns=modified,
        stamp=(size, modified),
        names=frozenset(path.relative_to(root).parts[:-1]),
        subagent=location.of_subagents,
        expires_ns=modified + int(kept * DAY * 1e9) if kept else None,
    )
    if each.outlines is None:
        cwd, hashed = cwd_of(path)
        yield msgspec.structs.replace(found, cwd=cwd, names=found.names | {hashed} - {""})
        return
    try:
        outlines = list(each.outlines(path))
    except SourceError:
        yield found  # reading it will report the problem
        return
    here = str(root.parent) if location.in_project else ""
    for outline in outlines:
        yield msgspec.structs.replace(
            found,
            session=outline.id,
            cwd=outline.cwd or here or _cwd_beside(path),
            bytes=size // len(outlines),
            modified_ns=outline.modified_ns or modified,
            subagent=outline.subagent,
        )


def cwd_of(path: Path) -> tuple[str, str]:
    """The working folder named by a session's file or a file next to it, or the hash that stands in
    for it; empty if there is none.
    """
    try:
        with open_file(path) as file:
            head = file.read(HEAD_BYTES)
    except OSError:
        return "", ""
    if match := _CWD.search(head):
        try:
            text = msgspec.json.decode(match[1], type=str)
        except (ValueError, RecursionError):
            text = ""
        if text:
            return (folder_of_uri(text) if "://" in text else text), ""
    hashed = _HASH.search(head)
    return _cwd_beside(path), hashed[1].decode() if hashed else ""


def _cwd_beside(path: Path) -> str:
    """The folder named by a file next to a session: an editor's `workspace.json`, or a marker."""
    for folder in (path.parent, path.parent.parent):
        marker = folder / ".project_root"  # from Gemini CLI
        if not marker.is_symlink() and marker.is_file():
            with suppress(OSError), open_file(marker) as file:
                return file.read(5_000).decode("utf-8", "replace").strip()
        beside = folder / "workspace.json"
        if not beside.is_symlink() and beside.is_file():
            return folder_of_uri(_written(beside).get("folder"))
    return ""


def _written(path: Path) -> Fields:
    """The JSON object in a file; empty if there is none."""
    try:
        with open_file(path) as file:
            return written_object(file.read(1_000_000).decode("utf-8", "replace"))
    except OSError:
        return {}


@lru_cache(maxsize=4096)
def is_within(cwd: str, scope: ProjectFolders) -> bool:
    """Whether a working folder belongs to a project, even if it no longer exists."""
    if any(cwd == folder or cwd.startswith(folder + os.sep) for folder in scope.folders):
        inside = work_tree(Path(cwd)) if os.path.isdir(cwd) else None
        return inside is None or scope.tree is None or inside.root == scope.tree.root
    at_home = cwd.startswith(scope.home + os.sep) and ".." not in cwd.split(os.sep)
    if scope.tree is None or not at_home or not os.path.isdir(cwd):
        return False
    tree = work_tree(Path(cwd))
    return tree is not None and tree.root == scope.tree.root


@lru_cache(maxsize=16)
def _names_of(scope: ProjectFolders) -> frozenset[str]:
    """Agents' names for a project's folder: hashes of its path, and the path with dashes."""
    names: set[str] = set()
    for folder in scope.folders:
        raw = folder.encode("utf-8", "surrogateescape")
        names.add(hashlib.sha256(raw).hexdigest())
        names.add(hashlib.md5(raw, usedforsecurity=False).hexdigest())
        dashed = re.sub(r"[^A-Za-z0-9]+", "-", folder).strip("-")
        names |= {dashed, f"-{dashed}"}
    return frozenset(names)


def _linked_trees(root: Path) -> Iterable[str]:
    try:
        with os.scandir(root / ".git" / "worktrees") as entries:
            folders = [Path(entry.path) for entry in entries if entry.is_dir()]
    except OSError:
        return
    for folder in folders:
        try:
            with open_file(folder / "gitdir") as file:
                marker = file.read(5_000).decode("utf-8", "replace").strip()
        except OSError:
            continue
        if marker.endswith(".git"):
            yield os.path.dirname(marker)
