"""The task as people and programs hand it over: a sentence, a diff, a list of files, a transcript.

In a diff the names of files and the changed lines count, in a list of files their names, in a
transcript what was asked, said and touched, the latest most.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec

from reviewer.errors import ReviewerError
from reviewer.files import open_plain
from reviewer.packets.relevance import Query, query_of

LARGEST_TASK = 4_000_000
"""Characters of a task; more is refused."""

Parts = list[tuple[str, float]]
"""Texts with their weights."""


class TaskKind(StrEnum):
    """What the text of a task looks like."""

    TEXT = "text"
    DIFF = "diff"
    FILES = "list of files"
    TRANSCRIPT = "transcript"


_DIFF = re.compile(r"^(?:diff --git |\+\+\+ \S|@@ -\d+(?:,\d+)? \+\d+)", re.MULTILINE)
_DIFF_FILE = re.compile(r"(?:\+\+\+|---|rename (?:from|to)) (?:[ab]/)?(\S[^\t\n]*)")
_GIT_FILE = re.compile(r"diff --git a/(\S+) b/(\S+)")
_HUNK = re.compile(r"@@ -\S+ \+\S+ @@ ?(.*)")
_STATUS = re.compile(r"^(?:[MADRCU?!]{1,2}\d*\s+)?([^\s].*)$")
_PATH = re.compile(r"[\w.@+~-]*+(?:/[\w.@+~ -]++)*+(?<=[\w-])")
_NULL = "/dev/null"

_LONGEST_RESULT = 2_000
"""Longer strings of a transcript are mostly output of tools, and are cut."""
_SPOKEN = {"text", "content", "prompt", "message", "summary", "description"}
_TOUCHED = {"file_path", "path", "command", "pattern", "query", "filename", "notebook_path"}
_OLDEST_SHARE = 0.2
"""What the first record of a transcript counts against the last."""


def kind_of(text: str) -> TaskKind:
    """The form of a text."""
    if _DIFF.search(text):
        return TaskKind.DIFF
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if lines and lines[0].startswith("{") and isinstance(_record(lines[0]), dict):
        return TaskKind.TRANSCRIPT
    if lines and all(_is_path(line) for line in lines[:200]):
        return TaskKind.FILES
    return TaskKind.TEXT


def parts_of(text: str) -> Parts:
    """The parts of a task with their weights.

    Raises ReviewerError for more than `LARGEST_TASK` characters.
    """
    if len(text) > LARGEST_TASK:
        raise ReviewerError(
            f"The task has {len(text):,} characters, and at most {LARGEST_TASK:,} are read: "
            "give the part that the packet is for."
        )
    match kind_of(text):
        case TaskKind.DIFF:
            return list(_of_diff(text))
        case TaskKind.FILES:
            return [(_named(line), 1.0) for line in text.splitlines() if line.strip()]
        case TaskKind.TRANSCRIPT:
            return list(_of_transcript(text))
    return [(text, 1.0)]


def read_task(path: Path) -> str:
    """The task in a file. Raises ReviewerError for one that is too large, OSError."""
    with open_plain(path) as file:
        raw = file.read(LARGEST_TASK + 1)
    if len(raw) > LARGEST_TASK:
        raise ReviewerError(f"it has more than {LARGEST_TASK:,} bytes.")
    return raw.decode("utf-8", "replace").strip()


def query_of_task(text: str) -> Query:
    """The query of a task."""
    return query_of(parts_of(text))


def _of_diff(text: str) -> Iterator[tuple[str, float]]:
    begun = False
    for line in text.splitlines():
        if found := _GIT_FILE.match(line):
            begun = True
            yield found[2], 2.0
        elif found := _DIFF_FILE.match(line):
            begun = True
            if found[1] != _NULL:
                yield found[1], 1.0
        elif found := _HUNK.match(line):
            begun = True
            yield found[1], 1.0
        elif not begun:  # the message above
            yield line, 2.0
        elif line[:1] in ("+", "-"):
            yield line[1:], 0.5


def _is_path(line: str) -> bool:
    named = _named(line)
    return bool(_PATH.fullmatch(named)) and ("/" in named or "." in named[1:])


def _named(line: str) -> str:
    """The path of a line, without the letters of `git status` before it."""
    found = _STATUS.match(line.strip())
    return found[1].removesuffix("/") if found else line.strip()


def _record(line: str) -> Any:
    try:
        return msgspec.json.decode(line)
    except msgspec.DecodeError:
        return None


def _of_transcript(text: str) -> Iterator[tuple[str, float]]:
    lines = [line for line in text.splitlines() if line.strip()]
    for at, line in enumerate(lines, 1):
        latest = _OLDEST_SHARE + (1 - _OLDEST_SHARE) * (at / len(lines)) ** 2
        record = _record(line)
        if record is None:
            yield line[:_LONGEST_RESULT], latest
        else:
            yield from ((words, weight * latest) for words, weight in _strings(record, ""))


def _strings(value: Any, name: str, depth: int = 0) -> Iterator[tuple[str, float]]:
    """The words and files of a record, from its fields."""
    if isinstance(value, str):
        if name in _TOUCHED:
            yield value[:_LONGEST_RESULT], 1.5
        elif name in _SPOKEN:
            yield value[:_LONGEST_RESULT], 1.0
    elif depth < 12 and isinstance(value, dict):
        for key, inner in value.items():
            yield from _strings(inner, str(key), depth + 1)
    elif depth < 12 and isinstance(value, list):
        for inner in value:
            yield from _strings(inner, name, depth + 1)
