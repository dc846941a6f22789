"""The patterns of a `.gitignore` (git-scm.com/docs/gitignore), matched in bounded time.

The usual translation turns each `*` into a loop of the regular expression, which backtracks: a line
with ten stars then takes hours. But the text between two stars of a glob has a fixed length, so its
leftmost match is always good enough and never has to be tried again. Here the time grows with the
length of the path times that of the pattern. The same goes for runs between `**`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from msgspec import Struct

_ANY_FOLDERS = "**"
_CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": " \\t",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": "\\s",
    "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
}
_CLASS_NAME = re.compile(r"\[:([a-z]*):\]")
_STARS = re.compile(r"\*{3,}")

Segment = Callable[[str], object]
"""Whether one name of a path matches."""


class _MatchesNothingError(ValueError):
    """Git does not accept the line as a pattern."""


class IgnorePattern(Struct, frozen=True):
    """One line of an ignore file.

    `runs` are matched in order, with any number of folders between two of them. A pattern that is
    not `anchored` has one segment, which matches a name in any folder.
    """

    negated: bool
    folders_only: bool
    anchored: bool
    runs: tuple[tuple[Segment, ...], ...]

    def matches(self, names: Sequence[str], is_folder: bool) -> bool:
        """Whether it matches a path, given as names relative to the ignore file."""
        if self.folders_only and not is_folder:
            return False
        if not self.anchored:
            return bool(self.runs[0][0](names[-1]))
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
    """The pattern of a line without its line end; None for a blank line or a comment."""
    try:
        return _parsed(line)
    except _MatchesNothingError:
        return None


def stars_of(line: str) -> int:
    """How many wildcards of variable length a line has; adjacent ones count once."""
    return len(re.findall(r"\*+", line))


def _parsed(line: str) -> IgnorePattern | None:
    text = _without_trailing_spaces(line)
    if not text or text.startswith("#"):
        return None
    negated = text.startswith("!")
    text = _STARS.sub(_ANY_FOLDERS, text[negated:])
    folders_only = text.endswith("/")
    text = text[: len(text) - folders_only]
    anchored = "/" in text
    text = text.removeprefix("/")
    if not text:
        return None
    if not anchored:
        return IgnorePattern(negated, folders_only, anchored, ((_segment(text),),))
    runs: list[list[Segment]] = [[]]
    parts = text.split("/")
    for part in parts:
        if part != _ANY_FOLDERS:
            runs[-1].append(_segment(part))
        elif len(runs) == 1 or runs[-1]:  # `**/**` is one `**`
            runs.append([])
    if parts[-1] == _ANY_FOLDERS:
        runs[-1].append(_segment("*"))  # everything inside, but not the folder itself
    return IgnorePattern(negated, folders_only, anchored, tuple(map(tuple, runs)))


def _matches_at(run: Sequence[Segment], names: Sequence[str], at: int) -> bool:
    return all(segment(names[at + number]) for number, segment in enumerate(run))


def _without_trailing_spaces(line: str) -> str:
    bare = line.rstrip(" ")
    escaped = (len(bare) - len(bare.rstrip("\\"))) % 2 == 1
    return bare + " " if escaped and len(bare) < len(line) else bare


def _segment(glob: str) -> Segment:
    """A matcher for one name."""
    chunks = _chunks(glob)
    if len(chunks) == 1 and not any(sign in glob for sign in "?["):
        return re.sub(r"\\(.)", r"\1", glob).__eq__
    if len(chunks) == 1:
        return re.compile(chunks[0], re.DOTALL).fullmatch
    # `(?>...)` never backtracks.
    first, *middle, last = chunks
    between = "".join(f"(?>.*?{chunk})" for chunk in middle if chunk)
    return re.compile(f"{first}{between}.*{last}", re.DOTALL).fullmatch


def _chunks(glob: str) -> list[str]:
    """The parts between the stars, as regular expressions of fixed length."""
    chunks = [""]
    at = 0
    while at < len(glob):
        sign = glob[at]
        at += 1
        if sign == "*":
            chunks.append("")
        elif sign == "?":
            chunks[-1] += "."
        elif sign == "[":
            found, at = _set(glob, at)
            chunks[-1] += found
        else:
            if sign == "\\":
                if at == len(glob):
                    raise _MatchesNothingError("its last character is a backslash")
                sign = glob[at]
                at += 1
            chunks[-1] += re.escape(sign)
    return chunks


def _set(glob: str, at: int) -> tuple[str, int]:
    """The regular expression of the `[...]` whose bracket is before `at`, and where it ends."""
    negated = glob[at : at + 1] in ("!", "^")
    at += negated
    found: list[str] = []
    first = True
    while first or glob[at : at + 1] != "]":
        first = False
        if at >= len(glob):
            raise _MatchesNothingError("its [ is never closed")
        if named := _CLASS_NAME.match(glob, at):
            if named[1] not in _CLASSES:
                raise _MatchesNothingError("it names an unknown character class")
            found.append(_CLASSES[named[1]])
            at = named.end()
            continue
        low, at = _one(glob, at)
        if glob[at : at + 1] == "-" and glob[at + 1 : at + 2] not in ("", "]"):
            high, at = _one(glob, at + 1)
            if low <= high:  # otherwise the range is empty
                found.append(f"{re.escape(low)}-{re.escape(high)}")
        else:
            found.append(re.escape(low))
    inner = "".join(found)
    if not inner:
        return "." if negated else "(?!)", at + 1
    return f"[{'^' if negated else ''}{inner}]", at + 1


def _one(glob: str, at: int) -> tuple[str, int]:
    """A character of a set, possibly after a backslash, and where it ends."""
    if glob[at] == "\\":
        at += 1
        if at == len(glob):
            raise _MatchesNothingError("its last character is a backslash")
    return glob[at], at + 1
