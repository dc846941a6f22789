"""The project of a working folder: the one that the person has bound it to."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from reviewer.errors import ReviewerError
from reviewer.files import read_file_within
from reviewer.system import working_folder

WITHOUT_A_TREE = "default"
"""The default project for folders outside git work trees."""

LARGEST = 4_096
"""Bytes; larger pointer files of git are not read."""

LISTED = 10
"""Projects listed in a message."""

GIT_SECONDS = 2
"""Timeout for asking git which folders of others are safe."""


class Tree(NamedTuple):
    """A git work tree."""

    name: str
    root: str
    """Absolute path without links; for a linked work tree, that of the main one."""


class StoredProject(NamedTuple):
    """A project of the store. `root`: its work trees, one per line."""

    name: str
    root: str
    former: str = ""
    """Former folders of it or its sessions, one per line."""

    @property
    def roots(self) -> list[str]:
        return self.root.split("\n")


class RootClaim(NamedTuple):
    """The work trees that a project will be bound to by its next write."""

    project: str
    root: str
    """One per line."""
    before: str | None
    """The stored value at the time of the claim; None for a new project."""
    gone: tuple[str, ...] = ()
    """Work trees that no longer exist: the project was moved."""


class ChosenProject(NamedTuple):
    """The project of a call."""

    project: str | None
    """None if the store is empty and the folder is not in a work tree."""
    claim: RootClaim | None = None
    remark: str = ""
    """A sentence for the user about the choice."""


class ForeignProjectError(ReviewerError):
    """The project with the name of this work tree belongs to another one."""


class NoProjectError(ReviewerError):
    """Several projects of the store may be meant."""


def default_project(folder: Path | None = None) -> str | None:
    """The name of the git work tree around `folder` (default: the working folder), or None."""
    tree = work_tree(folder)
    return tree.name if tree else None


def project_here() -> str:
    """The project of the working folder; files read outside a work tree have one, too."""
    return default_project() or WITHOUT_A_TREE


def work_tree(folder: Path | None = None) -> Tree | None:
    """The git work tree around `folder` (default: the working folder), or None.

    As in git (`safe.directory`), somebody else's tree does not count.
    """
    here = (folder or working_folder()).absolute()
    for place in (here, *here.parents):
        if (place / ".git").exists():
            root = _main_tree(place)
            if "\n" in str(root):
                return None  # it would count as two
            if not _is_safe(place) or (root != place and not _is_safe(root)):
                return None
            return Tree(root.name or WITHOUT_A_TREE, os.path.realpath(root))
    return None


def tree_root() -> str:
    """The root of the work tree around the working folder; empty without one."""
    tree = work_tree()
    return tree.root if tree else ""


def bound_to(stored: Sequence[StoredProject], tree: Tree | None) -> StoredProject | None:
    """The project bound to a work tree, or None."""
    if tree is None:
        return None
    return next((each for each in stored if tree.root in each.roots), None)


def choose(stored: Sequence[StoredProject], tree: Tree | None, named: str | None) -> ChosenProject:
    """The project of a call by the person.

    The first use in a work tree binds it: to the named project, else to the one of the tree's name.
    Raises ForeignProjectError if the project of that name belongs to another tree, NoProjectError
    outside of trees if several may be meant.
    """
    by_name = {each.name: each for each in stored}
    own = bound_to(stored, tree)
    if tree is None:
        return _outside(by_name) if named is None else ChosenProject(named)
    if own is not None:
        return ChosenProject(named or own.name)
    name = named or tree.name
    held = by_name.get(name)
    if name == WITHOUT_A_TREE:
        if named is None:
            raise ForeignProjectError(
                belongs_elsewhere(StoredProject(name, "folders outside git work trees"))
            )
        return ChosenProject(name)
    if held is not None and held.root and named is None:
        raise ForeignProjectError(belongs_elsewhere(held))
    if held is None:
        if named is None and (twin := _clone_of(stored, tree)) is not None:
            raise ForeignProjectError(
                f"This folder and {twin.roots[0]}, of project {twin.name}, are clones of one "
                f"repository. Share that project with --project {twin.name}, or keep this one apart"
                f" with --project {name}: once, then it is remembered."
            )
        return ChosenProject(name, RootClaim(name, tree.root, None))
    left = [root for root in held.roots if os.path.isdir(root)]
    gone = tuple(root for root in held.roots if root and root not in left)
    return ChosenProject(name, RootClaim(name, "\n".join([*left, tree.root]), held.root, gone))


def belongs_elsewhere(held: StoredProject) -> str:
    """The message if the project with this tree's name belongs to another tree."""
    if not any(os.path.isdir(root) for root in held.roots):
        return (
            f"Project {held.name} belongs to {' and '.join(held.roots)}, which is gone. If it was "
            f"moved here: --project {held.name}, once. If this is another one, give it a name of "
            "its own with --project OTHERNAME."
        )
    return (
        f"Project {held.name} belongs to {' and '.join(held.roots)}, not to this folder. Give this "
        f"one a name of its own with --project OTHERNAME, or have it share that one with --project "
        f"{held.name}."
    )


def _clone_of(stored: Sequence[StoredProject], tree: Tree) -> StoredProject | None:
    """The project of another clone of the same repository. A remote only prompts a question; it
    never gives a folder another one's memory.
    """
    remote = _remote(tree.root)
    if not remote:
        return None
    return next((p for p in stored if any(_remote(r) == remote for r in p.roots if r)), None)


def _remote(root: str) -> str:
    """The address of `origin` in a work tree's git configuration; empty without one."""
    inside = False
    for line in (_small_text(Path(root) / ".git" / "config") or "").splitlines():
        name, _, value = line.strip().partition("=")
        if name.startswith("["):
            inside = name == '[remote "origin"]'
        elif inside and name.strip() == "url":
            return value.strip().removesuffix("/").removesuffix(".git")
    return ""


def _outside(by_name: dict[str, StoredProject]) -> ChosenProject:
    if not by_name:
        return ChosenProject(None)
    if list(by_name) == [WITHOUT_A_TREE]:
        return ChosenProject(WITHOUT_A_TREE)
    if WITHOUT_A_TREE in by_name:
        return ChosenProject(
            WITHOUT_A_TREE,
            remark=f"This is project {WITHOUT_A_TREE}: the folder is not in a git work tree.",
        )
    if len(by_name) == 1:
        (name,) = by_name
        return ChosenProject(name, remark=f"This is project {name}, the only one in the store.")
    raise NoProjectError(
        f"name the project with --project, or read all with --all-projects: {listed(by_name)}"
    )


def listed(names: Sequence[str] | dict[str, StoredProject]) -> str:
    """The first names of projects, for a message."""
    shown = sorted(names)[:LISTED]
    return ", ".join(shown) + (", ..." if len(names) > LISTED else "")


def _main_tree(place: Path) -> Path:
    """The main work tree of a linked one, else the tree itself.

    A tree counts as linked only if the repository itself, in its `.git/worktrees`, links back to
    it; otherwise any folder could pretend to belong to a repository.
    """
    marker = place / ".git"
    if not marker.is_file():
        return place
    target = (_small_text(marker) or "").strip().removeprefix("gitdir:").strip()
    folder = place / target
    common = (_small_text(folder / "commondir") or "").strip()
    back = (_small_text(folder / "gitdir") or "").strip()
    if not (target and common and back):
        return place
    if os.path.realpath(folder / back) != os.path.realpath(marker):
        return place
    shared = Path(os.path.realpath(folder / common))
    known = Path(os.path.realpath(folder)).parent == shared / "worktrees"
    return shared.parent if known and shared.name == ".git" else place


def _is_safe(place: Path) -> bool:
    """Whether this user owns a work tree and its `.git`, or git considers it safe."""
    if not hasattr(os, "geteuid"):
        return True
    mine = {os.geteuid()}
    if os.geteuid() == 0 and os.environ.get("SUDO_UID", "").isdigit():
        mine.add(int(os.environ["SUDO_UID"]))
    try:
        owners = {os.lstat(each).st_uid for each in (place, place / ".git")}
    except OSError:
        return False
    return owners <= mine or _git_trusts(place)


def _git_trusts(place: Path) -> bool:
    command = ["git", "config", "--global", "--get-all", "safe.directory"]
    try:
        done = subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, check=False, timeout=GIT_SECONDS, cwd="/"
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    trusted: list[str] = []
    for line in done.stdout.splitlines():
        trusted = [*trusted, line] if line else []  # an empty value clears the list
    root = os.path.realpath(place)
    return any(
        each == "*"
        or os.path.realpath(os.path.expanduser(each.removesuffix("/*"))) == root
        or (each.endswith("/*") and root.startswith(os.path.realpath(each[:-2]) + "/"))
        for each in trusted
    )


def _small_text(path: Path) -> str | None:
    """The text of a small regular file, or None if it is missing, large or not a regular file."""
    try:
        return read_file_within(path, LARGEST).decode("utf-8", "replace")
    except (OSError, ValueError):
        return None
