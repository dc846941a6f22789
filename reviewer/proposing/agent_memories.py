"""Memories that agents wrote by themselves, proposed for review.

Reads Claude Code's `memory/` folders, Codex memories, and the memories that Gemini CLI adds to
GEMINI.md. Writes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path

from msgspec import Struct

from reviewer.extraction.candidates import MemoryType
from reviewer.extraction.rules import LONGEST_STATEMENT, SHORTEST_STATEMENT
from reviewer.proposing.values import (
    LineRole,
    Proposal,
    Proposer,
    Quote,
    SessionView,
    ViewLine,
)
from reviewer.sources.events import Speaker
from reviewer.sources.lines import opened_file
from reviewer.sources.markdown import front_matter, heading_of
from reviewer.sources.notes import without_own
from reviewer.text.secrets import mask
from reviewer.text.sentences import whole_sentences
from reviewer.text.units import UnitKind, units

_PROSE = (UnitKind.SENTENCE, UnitKind.LIST_ITEM)
GEMINI_HEADING = "gemini added memories"
FILE_LIMIT = 1_000_000
"""Maximum bytes read of a memory file; agents load far less."""

_CODEX_HEADINGS = (
    "user preferences",
    "reusable knowledge",
    "failures and how to do differently",
    "general tips",
)
"""Sections of Codex memories with lasting statements; the others are session indexes."""
_LINKED = re.compile(r"\[([^\]]+)\]\(([^)\s]+\.md)\)\s*(?:[—–:-]+\s*)?(.*)")
_TASKS = re.compile(r"(?: ?\[Task [^\[\]]{1,40}\])+$")
"""The tasks of Codex that an entry comes from: `[Task 3] [Task 5]`."""
_WHY = re.compile(r"\*{0,2}why\*{0,2}\s*:\*{0,2}\s*", re.IGNORECASE)
_POINTS_ON = re.compile(r":$|\b(?:below|above|following)\b")
"""A first paragraph that introduces the fact instead of stating it."""
_EMPHASIS = re.compile(r"(?<![\w*])(\*\*|__)(?=\S)(.+?)(?<=\S)\1(?![\w*])")
_WIKI = re.compile(r"\[\[([^\[\]|]+\|)?([^\[\]]+)\]\]")


class _Kind(Struct, frozen=True):
    """Memory type for each type in an agent's memory."""

    type: MemoryType
    kind: str


_KINDS = {
    "user": _Kind(MemoryType.IDENTITY, "preference"),
    "feedback": _Kind(MemoryType.PREFERENCE, "instruction"),
    "project": _Kind(MemoryType.PROJECT, ""),
    "reference": _Kind(MemoryType.KNOWLEDGE, "environment"),
}
_TYPE = re.compile(rf"\s*type:\s*[\"']?({'|'.join(_KINDS)})[\"']?\s*")
"""The type in front matter, at the top or below `metadata:`."""
_UNTYPED = _Kind(MemoryType.KNOWLEDGE, "")
_PREFERENCE = _Kind(MemoryType.PREFERENCE, "preference")


class MemoryEntry(Struct, frozen=True):
    """A bullet or paragraph of a file, with its first line (0-based) and the heading above."""

    start: int
    lines: tuple[str, ...]
    """Lines without list marks."""
    heading: str = ""

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.lines).split())


def is_memory_file(path: Path) -> bool:
    return _reader(path) is not None


def memory_proposals(path: Path) -> Iterator[Proposal]:
    """The memories in an agent's file; nothing for any other file.

    Raises SourceError if the file cannot be read.
    """
    read = _reader(path)
    if read is not None:
        yield from read(path, _text(path))


def memory_view(path: Path) -> SessionView:
    """The masked lines of a memory file, as the view to prove its memories against: read as a
    session, an instruction file would lose its boot text.

    Raises SourceError if the file cannot be read.
    """
    lines = (
        ViewLine(line=number, role=LineRole.ASSISTANT, speaker=Speaker.AGENT, text=mask(line).text)
        for number, line in enumerate(_text(path).splitlines())
        if line.strip()
    )
    return SessionView(path, "agent memories", tuple(lines))


def entries(text: str) -> Iterator[MemoryEntry]:
    """The bullets and paragraphs of a Markdown text, in order; code and comments are left out."""
    lines = text.splitlines()
    _, number = front_matter(lines)
    body, at = "\n".join(lines[number:]), 0
    prose = (unit for unit in units(body) if unit.kind in _PROSE)
    for _, found in groupby(prose, lambda unit: unit.block):
        first, *others = found
        number += body.count("\n", at, first.start)
        at, end = first.start, (others or [first])[-1].end
        yield MemoryEntry(number, tuple(body[at:end].split("\n")), first.heading)


def _text(path: Path) -> str:
    with opened_file(path) as stream:
        return without_own(stream.read(FILE_LIMIT).decode("utf-8", "replace"))


def _reader(path: Path) -> Callable[[Path, str], Iterator[Proposal]] | None:
    folders = path.parts[:-1]
    if path.suffix != ".md":
        return None
    if path.name == "GEMINI.md":
        return _gemini
    if "memories" in folders:
        below = folders[len(folders) - folders[::-1].index("memories") :]
        if not below and path.name in ("MEMORY.md", "memory_summary.md"):
            return _codex
        return _notes if below[:1] == ("extensions",) and below[-1:] == ("notes",) else None
    if path.parent.name == "memory":
        return _index if path.name == "MEMORY.md" else _topic
    return None


def _topic(path: Path, text: str) -> Iterator[Proposal]:
    """One Claude Code memory: front matter with a type, then the fact and why it matters.

    The statement is the first paragraph, plus the reason if both fit. The description is used
    instead if the paragraph is under a heading other than its own name, is too long or too short,
    or only introduces a list.
    """
    lines = text.splitlines()
    fields, size = front_matter(lines)
    kind = next((found[1] for found in map(_TYPE.fullmatch, lines[:size]) if found), "")
    if not kind:
        return
    if path.name.startswith("reviewer") and fields.get("name") == path.stem:
        return  # ours: `reviewer connect --memory` wrote it
    found = list(entries(text))
    stated = fields.get("description", "")
    described = _plain(stated)
    usable = [at for at, line in enumerate(lines) if stated and stated in line]
    statement = ""
    _, title = next(filter(None, map(heading_of, lines)), (0, ""))
    if found and found[0].heading in ("", title.strip("*_: ")):
        statement = _plain(found[0].text)
        why = next((each.text for each in found[1:] if _WHY.match(each.text)), "")
        reason = _plain(_WHY.sub("", why, count=1))
        if reason and len(statement) + len(reason) + 6 <= LONGEST_STATEMENT:
            statement = f"{statement.rstrip('.')}. Why: {reason}"
    points_on = _POINTS_ON.search(statement) or not 40 <= len(statement) <= LONGEST_STATEMENT
    if usable and SHORTEST_STATEMENT <= len(described) <= LONGEST_STATEMENT and points_on:
        found, statement = [MemoryEntry(usable[0], (stated,))], described
    if found:
        yield from _proposal(found[0], "memory.claude", _KINDS[kind], statement)


def _index(path: Path, text: str) -> Iterator[Proposal]:
    """MEMORY.md: links to topic files or, in older folders, the memories themselves."""
    for entry in entries(text):
        link = _LINKED.match(entry.text)
        if link is None:
            yield from _proposal(entry, "memory.claude", _UNTYPED)
        elif link[3] and not (path.parent / link[2]).is_file():
            yield from _proposal(entry, "memory.claude", _UNTYPED, link[3])


def _codex(path: Path, text: str) -> Iterator[Proposal]:
    for entry in entries(text):
        heading = entry.heading.lower().rstrip(":")
        if heading in _CODEX_HEADINGS:
            kind = _PREFERENCE if heading == "user preferences" else _UNTYPED
            yield from _proposal(entry, "memory.codex", kind, _TASKS.sub("", entry.text))


def _notes(path: Path, text: str) -> Iterator[Proposal]:
    for entry in entries(text):
        yield from _proposal(entry, "memory.codex", _UNTYPED)


def _gemini(path: Path, text: str) -> Iterator[Proposal]:
    for entry in entries(text):
        if entry.heading.lower() == GEMINI_HEADING:
            yield from _proposal(entry, "memory.gemini", _PREFERENCE)


def _proposal(
    entry: MemoryEntry, rule: str, kind: _Kind, statement: str | None = None
) -> Iterator[Proposal]:
    worded = _capitalised(
        whole_sentences(_plain(entry.text if statement is None else statement), LONGEST_STATEMENT)
    )
    fits = SHORTEST_STATEMENT <= len(worded) <= LONGEST_STATEMENT
    if not fits or worded.endswith(":") or " " not in worded:
        return
    quotes = [
        Quote(line=entry.start + number, text=line.strip())
        for number, line in enumerate(entry.lines)
        if line.strip()
    ]
    yield Proposal(
        statement=worded,
        type=kind.type,
        quotes=tuple(quotes[:3]),
        speaker=Speaker.AGENT,
        proposer=Proposer.MEMORY,
        rule=rule,
        kind=kind.kind,
    )


def _plain(text: str) -> str:
    """A statement without Markdown emphasis and wiki links; inline code stays."""
    return " ".join(_WIKI.sub(r"\2", _EMPHASIS.sub(r"\2", text)).split())


def _capitalised(text: str) -> str:
    first = text.partition(" ")[0].rstrip(",:;")
    return text[:1].upper() + text[1:] if first.isalpha() and first.islower() else text
