"""The patterns of a `.gitignore` (git-scm.com/docs/gitignore), matched in bounded time.

One name of a path is matched by `fnmatch`, whose stars never backtrack; so do the runs between `**`
here. A translation of the whole line, as `pathspec` has, takes a third of a second for four stars
and one long name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import translate

from msgspec import Struct

_ANY_FOLDERS = "**"
_STARS = re.compile(r"\*{3,}")
_ESCAPED = re.compile(r"\\([*?[])|\\(.)")
_ODD_SET = re.compile(r"(?<!\\)\[[!^]?\]?[^\]]*(?:\\|\[:)")
"""An escape or a named class in brackets, which `fnmatch` does not know."""

Name = re.Pattern[str]
"""Matches one name of a path."""


class IgnorePattern(Struct, frozen=True):
    """One line of an ignore file.

    `runs` are matched in order, with any number of folders between two of them. A pattern that is
    not `anchored` has one name, which is matched in any folder.
    """

    negated: bool
    folders_only: bool
    anchored: bool
    runs: tuple[tuple[Name, ...], ...]

    def matches(self, names: Sequence[str], is_folder: bool) -> bool:
        """Whether it matches a path, given as names relative to the ignore file."""
        if self.folders_only and not is_folder:
            return False
        if not self.anchored:
            return self.runs[0][0].match(names[-1]) is not None
        first, last = self.runs[0], self.runs[-1]
        if len(self.runs) == 1:
            return len(names) == len(first) and _matches_at(first, names, 0)
        end = len(names) - len(last)
        at = len(first)
        if end < at or not (_matches_at(first, names, 0) and _matches_at(last, names, end)):
            return False
        for run in self.runs[1:-1]:
            while at + len(run) <= end and not _matches_at(run, names, at):
                at += 1
            at += len(run)
            if at > end:
                return False
        return True


def parse_pattern(line: str) -> IgnorePattern | None:
    """The pattern of a line without its line end; None for a blank line or a comment.

    Raises ValueError for a line that cannot be read.
    """
    text = _without_trailing_spaces(line)
    if not text or text.startswith("#"):
        return None
    if _ODD_SET.search(text) or text.endswith("\\"):
        raise ValueError("an escape or a named class in brackets, or at the end")
    negated = text.startswith("!")
    text = _STARS.sub(_ANY_FOLDERS, text[negated:])
    folders_only = text.endswith("/")
    text = text[: len(text) - folders_only]
    anchored = "/" in text
    text = text.removeprefix("/")
    if not text:
        return None
    if not anchored:
        return IgnorePattern(negated, folders_only, anchored, ((_name(text),),))
    runs: list[list[Name]] = [[]]
    parts = text.split("/")
    for part in parts:
        if part != _ANY_FOLDERS:
            runs[-1].append(_name(part))
        elif len(runs) == 1 or runs[-1]:  # `**/**` is one `**`
            runs.append([])
    if parts[-1] == _ANY_FOLDERS:
        runs[-1].append(_name("*"))  # everything inside, but not the folder itself
    return IgnorePattern(negated, folders_only, anchored, tuple(map(tuple, runs)))


def stars_of(line: str) -> int:
    """How many wildcards of variable length a line has; adjacent ones count once."""
    return len(re.findall(r"\*+", line))


def _matches_at(run: Sequence[Name], names: Sequence[str], at: int) -> bool:
    return all(name.match(names[at + number]) for number, name in enumerate(run))


def _without_trailing_spaces(line: str) -> str:
    bare = line.rstrip(" ")
    escaped = (len(bare) - len(bare.rstrip("\\"))) % 2 == 1
    return bare + " " if escaped and len(bare) < len(line) else bare


def _name(glob: str) -> Name:
    plain = _ESCAPED.sub(lambda found: f"[{found[1]}]" if found[1] else found[2], glob)
    return re.compile(translate(plain.replace("[^", "[!")))
