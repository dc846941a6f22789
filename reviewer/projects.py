"""Which project a working folder belongs to."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from reviewer.errors import ReviewerError
from reviewer.system import BINARY, NO_TERMINAL, NO_WAIT, NOT_INHERITED

WITHOUT_A_TREE = "default"
"""The default project for folders outside git work trees."""

LARGEST = 256_000
"""Bytes; larger files of git are not read."""

LONGEST_REMOTE = 500
LISTED = 10
"""Projects in a message."""


class Tree(NamedTuple):
    """A git work tree. `remote` is empty if there is none to compare."""

    name: str
    root: str
    """Absolute path without links; for a linked work tree that of the main one."""
    remote: str


class StoredProject(NamedTuple):
    """A project of the store; `root` and `remote` are empty until it is bound to a work tree."""

    name: str
    root: str
    remote: str


class Claim(NamedTuple):
    """The work tree that a project will be bound to by its next write."""

    project: str
    root: str
    remote: str
    before: tuple[str, str] | None
    """Root and remote in the store at the time of the claim; None for a new project."""


class Chosen(NamedTuple):
    """The project of a call."""

    project: str | None
    """None if the store is empty and the folder is in no work tree."""
    claim: Claim | None = None
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


def work_tree(folder: Path | None = None) -> Tree | None:
    """The git work tree around `folder` (default: the working folder), or None.

    Only small files of `.git` are read; without a readable one the remote is empty.
    """
    here = (folder or Path.cwd()).absolute()
    for place in (here, *here.parents):
        if (place / ".git").exists():
            return _tree(place)
    return None


def choose(stored: Sequence[StoredProject], tree: Tree | None, named: str | None) -> Chosen:
    """The project of a call.

    A work tree is recognised by its remote or its root, whatever its folder is called; an unbound
    project of the same name counts as its own. Raises ForeignProjectError if the project of that
    name belongs to another tree, NoProjectError outside of trees if several may be meant.
    """
    by_name = {each.name: each for each in stored}
    own = _own(stored, tree)
    if named is not None:
        return Chosen(named, _claim_named(by_name, tree, named, own))
    if tree is None:
        return _outside(by_name)
    if own is not None:
        return Chosen(own.name, _refreshed(own, tree, stored))
    held = by_name.get(tree.name)
    if tree.name == WITHOUT_A_TREE:
        held = StoredProject(tree.name, "folders outside git work trees", "")
    if held is not None and _is_bound(held):
        raise ForeignProjectError(belongs_elsewhere(held))
    before = None if held is None else ("", "")
    return Chosen(tree.name, Claim(tree.name, tree.root, tree.remote, before))


def belongs_elsewhere(held: StoredProject) -> str:
    """The message when the project with the name of this tree belongs to another tree."""
    where = " or ".join(each for each in (held.root, held.remote) if each)
    return (
        f"Project {held.name} belongs to {where}, not to this folder. Give this one a name of its "
        f"own with --project OTHERNAME, or use that one with --project {held.name}."
    )


def _own(stored: Sequence[StoredProject], tree: Tree | None) -> StoredProject | None:
    """The project bound to a tree, by remote or else by root."""
    if tree is None:
        return None
    by_remote = (each for each in stored if tree.remote and each.remote == tree.remote)
    by_root = (each for each in stored if each.root == tree.root)
    return next(by_remote, None) or next(by_root, None)


def _is_bound(project: StoredProject) -> bool:
    return bool(project.root or project.remote)


def _outside(by_name: dict[str, StoredProject]) -> Chosen:
    if not by_name:
        return Chosen(None)
    if list(by_name) == [WITHOUT_A_TREE]:
        return Chosen(WITHOUT_A_TREE)
    if WITHOUT_A_TREE in by_name:
        return Chosen(
            WITHOUT_A_TREE,
            remark=f"This is project {WITHOUT_A_TREE}: the folder is not in a git work tree.",
        )
    if len(by_name) == 1:
        (name,) = by_name
        return Chosen(name, remark=f"This is project {name}, the only one in the store.")
    raise NoProjectError(
        f"name the project with --project, or read all with --all-projects: {listed(by_name)}"
    )


def listed(names: Sequence[str] | dict[str, StoredProject]) -> str:
    """The names of projects for a message, the first ones if there are many."""
    shown = sorted(names)[:LISTED]
    return ", ".join(shown) + (", ..." if len(names) > LISTED else "")


def _claim_named(
    by_name: dict[str, StoredProject], tree: Tree | None, named: str, own: StoredProject | None
) -> Claim | None:
    """The claim of a tree on a named project: on its own project, on one of the tree's name that
    is unbound or whose tree is gone, and on a new one if another tree has the tree's name.
    """
    if tree is None:
        return None
    held = by_name.get(named)
    if own is not None:
        return _refreshed(own, tree, list(by_name.values())) if own.name == named else None
    if named == WITHOUT_A_TREE:
        return None
    if held is None:
        namesake = by_name.get(tree.name)
        taken = tree.name == WITHOUT_A_TREE or (namesake is not None and _is_bound(namesake))
        return Claim(named, tree.root, tree.remote, None) if named == tree.name or taken else None
    left = not _is_bound(held) or (held.root and not os.path.isdir(held.root))
    if named == tree.name and left:
        return Claim(named, tree.root, tree.remote, (held.root, held.remote))
    return None


def _refreshed(own: StoredProject, tree: Tree, stored: Sequence[StoredProject]) -> Claim | None:
    """A claim that updates the project of a tree that has moved or has a new remote."""
    others = [each for each in stored if each.name != own.name]
    moved = own.root != tree.root and not (own.root and os.path.isdir(own.root))
    root = tree.root if moved and all(each.root != tree.root for each in others) else own.root
    changed = own.root == tree.root and tree.remote not in ("", own.remote)
    remote = tree.remote if changed else own.remote
    if (root, remote) == (own.root, own.remote):
        return None
    return Claim(own.name, root, remote, (own.root, own.remote))


def _tree(place: Path) -> Tree:
    marker = place / ".git"
    config, root = marker, place
    if marker.is_file():
        config, root = _linked(place, marker)
    remote = _remote(_small_text(config / "config") or "", root)
    return Tree(root.name or WITHOUT_A_TREE, os.path.realpath(root), remote)


def _linked(place: Path, marker: Path) -> tuple[Path, Path]:
    """For a tree with a `.git` file: the folder with git's settings, and the main work tree.

    A tree counts as linked only if git's folder names it too; otherwise any folder could pretend
    to belong to a repository.
    """
    target = (_small_text(marker) or "").strip().removeprefix("gitdir:").strip()
    if not target:
        return marker, place
    folder = place / target
    common = (_small_text(folder / "commondir") or "").strip()
    if not common:
        return folder, place
    back = (_small_text(folder / "gitdir") or "").strip()
    if not back or os.path.realpath(folder / back) != os.path.realpath(marker):
        return folder, place
    shared = Path(os.path.realpath(folder / common))
    return shared, shared.parent if shared.name == ".git" else place


def _small_text(path: Path) -> str | None:
    """The text of a small regular file, or None if it is missing, large or not a regular file."""
    try:
        handle = os.open(path, os.O_RDONLY | NO_WAIT | NO_TERMINAL | NOT_INHERITED | BINARY)
    except (OSError, ValueError):
        return None
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return None
        data = os.read(handle, LARGEST + 1)
    except OSError:
        return None
    finally:
        os.close(handle)
    return data.decode("utf-8", "replace") if len(data) <= LARGEST else None


_SECTION = re.compile(r"\s*\[\s*([^\s\"\]]+)\s*(?:\"((?:[^\"\\]|\\.)*)\")?\s*\]\s*(.*)", re.DOTALL)
_URL = re.compile(r"url\s*=\s*(.*)", re.IGNORECASE | re.DOTALL)


def _remote(config: str, root: Path) -> str:
    """The normalised `url` of `origin` in the text of a git config; empty if there is none."""
    inside = False
    for line in _logical_lines(config):
        rest = line
        section = _SECTION.fullmatch(line)
        if section:
            name, sub, rest = section.groups()
            inside = (name.lower(), sub) == ("remote", "origin") or (
                sub is None and name.lower() == "remote.origin"
            )
        setting = _URL.fullmatch(rest.strip()) if inside else None
        if setting:
            return normal_remote(_value(setting[1]), root)
    return ""


def _logical_lines(config: str) -> Iterator[str]:
    """The lines, joined after a backslash at the end."""
    waiting = ""
    for line in config.splitlines():
        if line.endswith("\\") and not line.endswith("\\\\"):
            waiting += line[:-1]
            continue
        yield waiting + line
        waiting = ""


def _value(text: str) -> str:
    """A value as git reads it: without quotes, escapes and a trailing comment."""
    found, quoted, at = "", False, 0
    while at < len(text):
        letter = text[at]
        if letter == "\\" and at + 1 < len(text):
            at += 1
            found += {"n": "\n", "t": "\t"}.get(text[at], text[at])
        elif letter == '"':
            quoted = not quoted
        elif letter in "#;" and not quoted:
            break
        else:
            found += letter
        at += 1
    return found.strip()


_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/?#]*)([^?#]*)")
_SCP = re.compile(r"(?:[^@/:]+@)?(\[[^\]]+\]|[^/:]+):(?!//)(.*)", re.DOTALL)
_PORTS = {"ssh": "22", "git+ssh": "22", "https": "443", "http": "80", "git": "9418"}


def normal_remote(url: str, root: Path) -> str:
    """A remote as `host/path`, the same for every protocol; a folder as its absolute path.

    User names, passwords and queries are left out, so that no secret gets into the store.
    """
    address = _SCHEME.match(url)
    scp = _SCP.fullmatch(url)
    if address and address[1].lower() != "file":
        scheme, host, path = address[1].lower(), address[2].rpartition("@")[2].lower(), address[3]
        found = f"{host.removesuffix(':' + _PORTS.get(scheme, ''))}/{path.strip('/')}"
    elif address:
        found = os.path.realpath(address[3] or "/")
    elif scp:
        found = f"{scp[1].lower()}/{scp[2].strip('/')}"
    elif url:
        found = os.path.realpath(root / os.path.expanduser(url))
    else:
        return ""
    found = found.removesuffix("/").removesuffix(".git").removesuffix("/")
    return found if found.isprintable() and len(found) <= LONGEST_REMOTE else ""
