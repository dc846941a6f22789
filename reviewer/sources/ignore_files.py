"""Ignore files (git-scm.com/docs/gitignore): small plain files, matched in bounded time.

Each name of a path is matched by `fnmatch`, whose stars never backtrack, and `**` is any number of
names. Translating the whole line, as `pathspec` does, takes a third of a second for four stars and
one long name.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from msgspec import Struct

from reviewer.files import read_file_within, reason_of

NAME = ".gitignore"
LARGEST = 30_000
"""Maximum bytes of an ignore file, three times the largest public template."""

UNREADABLE = "ignore file cannot be read"

_ANY_NAMES = "**"
_ESCAPED = re.compile(r"\\([*?[])|\\(.)")


class IgnorePattern(Struct, frozen=True):
    """One line of an ignore file. `names` are globs for the names of a path, or `**`."""

    negated: bool
    folders_only: bool
    names: tuple[str, ...]

    def matches(self, path: Sequence[str], is_folder: bool) -> bool:
        """Whether it matches a path, given as names relative to the ignore file."""
        if self.folders_only and not is_folder:
            return False
        at = number = again = 0
        any_names = -1  # position of the last `**`
        while at < len(path):
            name = self.names[number] if number < len(self.names) else ""
            if name == _ANY_NAMES:
                any_names, again = number, at
                number += 1
            elif name and fnmatchcase(path[at], name):
                at, number = at + 1, number + 1
            elif any_names >= 0:
                again += 1
                at, number = again, any_names + 1
            else:
                return False
        return number == len(self.names)


class IgnoreRules(Struct, frozen=True):
    """The patterns of one ignore file, relative to its folder. `trouble`: why it is not used."""

    folder: str
    patterns: tuple[IgnorePattern, ...] = ()
    trouble: str = ""


def read_ignore_file(folder: str) -> IgnoreRules:
    """The rules of a folder's own ignore file, which must exist.

    Like git, it does not follow links. Never blocks and never reads more than LARGEST bytes.
    """
    path = Path(folder, NAME)
    try:
        if path.is_symlink():
            raise OSError(errno.ELOOP, "it is a link")
        data = read_file_within(path, LARGEST)
    except OSError as problem:
        return IgnoreRules(folder, (), f"{UNREADABLE}: {reason_of(problem)}")
    lines = (line.rstrip("\r ") for line in data.decode("utf-8-sig", "replace").split("\n"))
    patterns = (
        IgnorePattern(line.startswith("!"), line.endswith("/"), names)
        for line in lines
        if not line.startswith("#") and (names := _names(line.removeprefix("!").removesuffix("/")))
    )
    return IgnoreRules(folder, tuple(patterns))


def is_ignored(path: str, rules: Sequence[IgnoreRules], *, is_folder: bool) -> bool:
    """Whether a path is excluded by the nearest ignore file with a matching pattern.

    The rules are those of the folders above it, outermost first, none of which is ignored itself.
    """
    for each in reversed(rules):
        if not each.patterns:
            continue
        names = os.path.relpath(path, each.folder).split(os.sep)
        for pattern in reversed(each.patterns):
            if pattern.matches(names, is_folder):
                return not pattern.negated
    return False


def repository_of(path: Path) -> Path | None:
    """The root of the repository around an absolute path, which may be the root itself."""
    return next((each for each in (path, *path.parents) if (each / ".git").exists()), None)


def ignores_above(folder: Path) -> tuple[IgnoreRules, ...]:
    """Ignore files between a repository's root and a folder inside it.

    Empty if they exclude that very folder: a folder named by the user is always read.
    """
    here = Path(os.path.abspath(folder))
    above = [here, *here.parents]
    root = above.index(repository_of(here) or here)
    rules: tuple[IgnoreRules, ...] = ()
    for depth in range(root, 0, -1):
        if os.path.lexists(above[depth] / NAME):
            rules += (read_ignore_file(str(above[depth])),)
        if is_ignored(str(above[depth - 1]), rules, is_folder=True):
            return ()
    return rules


def _names(text: str) -> tuple[str, ...]:
    """The globs of a pattern; empty for a blank one."""
    names = [_glob(part) for part in text.removeprefix("/").split("/")]
    if names == [""]:
        return ()
    if "/" not in text:
        return (_ANY_NAMES, *names)
    if names[-1] == _ANY_NAMES:
        names.append("*")  # everything inside, but not the folder itself
    return tuple(names)


def _glob(part: str) -> str:
    plain = _ESCAPED.sub(lambda found: f"[{found[1]}]" if found[1] else found[2], part)
    return plain.replace("[^", "[!")
