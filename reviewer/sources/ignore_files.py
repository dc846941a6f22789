"""Ignore files: reading them as small plain files, and testing paths against them."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from reviewer.sources.ignore_patterns import IgnorePattern, parse_pattern, stars_of
from reviewer.system import BINARY, NO_FOLLOW, NO_WAIT, NOT_INHERITED

NAME = ".gitignore"
LARGEST = 100_000
"""Maximum bytes of an ignore file; the largest public template has a tenth of it."""
MOST_LINES = 2_000
LONGEST_LINE = 400
MOST_STARS = 16
"""Maximum wildcards of variable length in one line; adjacent ones count once."""

UNREADABLE = "ignore file cannot be read"
ODD_LINES = "ignore file with lines that cannot be read"


class IgnoreRules(Struct, frozen=True):
    """The patterns of one ignore file, and the problems with it.

    `folder`: the folder that its patterns are relative to. `trouble`: why it, or some of its lines,
    were not used; empty if all were. `odd_lines`: the unused lines, 0-based.
    """

    folder: str
    patterns: tuple[IgnorePattern, ...]
    trouble: str = ""
    odd_lines: tuple[int, ...] = ()


def read_ignore_file(folder: str) -> IgnoreRules:
    """The rules of a folder's own ignore file, which must exist.

    Like git, it does not follow links. Never blocks and never reads more than LARGEST bytes.
    """
    try:
        # Without O_NONBLOCK, opening a named pipe blocks until it has a writer.
        handle = os.open(
            os.path.join(folder, NAME), os.O_RDONLY | NO_WAIT | NO_FOLLOW | NOT_INHERITED | BINARY
        )
    except OSError as problem:
        if os.path.islink(os.path.join(folder, NAME)):
            return IgnoreRules(folder, (), f"{UNREADABLE}: it is a link")
        return IgnoreRules(folder, (), f"{UNREADABLE}: {_why(problem)}")
    try:
        with open(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                return IgnoreRules(folder, (), f"{UNREADABLE}: it is not a regular file")
            data = file.read(LARGEST + 1)
    except OSError as problem:
        return IgnoreRules(folder, (), f"{UNREADABLE}: {_why(problem)}")
    if len(data) > LARGEST:
        return IgnoreRules(folder, (), f"{UNREADABLE}: it is larger than {LARGEST // 1000} kB")
    return _rules(folder, data.decode("utf-8-sig", "replace"))


def is_ignored(path: str, rules: Sequence[IgnoreRules], *, is_folder: bool) -> bool:
    """Whether the nearest ignore file with a pattern for a path excludes it.

    The rules are those of the folders above it, from the outermost inwards, none of which is
    ignored itself.
    """
    for each in reversed(rules):
        if not each.patterns:
            continue
        names = _below(each.folder, path).split(os.sep)
        for pattern in reversed(each.patterns):
            if pattern.matches(names, is_folder):
                return not pattern.negated
    return False


def ignores_above(folder: Path) -> tuple[IgnoreRules, ...]:
    """Ignore files between a repository's root and a folder inside it.

    Empty when they exclude that very folder: a folder that the user names is always read.
    """
    here = Path(os.path.abspath(folder))
    above = [here, *here.parents]
    root = next((n for n, each in enumerate(above) if (each / ".git").exists()), 0)
    rules: tuple[IgnoreRules, ...] = ()
    for depth in range(root, 0, -1):
        if os.path.lexists(above[depth] / NAME):
            rules += (read_ignore_file(str(above[depth])),)
        if is_ignored(str(above[depth - 1]), rules, is_folder=True):
            return ()
    return rules


def _below(folder: str, path: str) -> str:
    start = folder if folder.endswith(os.sep) else folder + os.sep
    return path[len(start) :] if path.startswith(start) else os.path.relpath(path, folder)


def _rules(folder: str, text: str) -> IgnoreRules:
    patterns: list[IgnorePattern] = []
    odd: list[int] = []
    lines = text.removesuffix("\n").split("\n")
    for number, line in enumerate(lines[:MOST_LINES]):
        if line.startswith("#"):
            continue
        if len(line) > LONGEST_LINE or stars_of(line) > MOST_STARS:
            odd.append(number)
            continue
        try:
            pattern = parse_pattern(line.removesuffix("\r"))
        except ValueError:
            odd.append(number)
            continue
        if pattern is not None:
            patterns.append(pattern)
    odd += range(MOST_LINES, len(lines))
    return IgnoreRules(folder, tuple(patterns), ODD_LINES if odd else "", tuple(odd))


def _why(problem: OSError) -> str:
    return (problem.strerror or str(problem)).lower()
