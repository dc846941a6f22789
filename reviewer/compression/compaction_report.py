"""Reports what past compactions of a transcript lost: needs of whoever went on, and names.

A name was needed when the agent's later tool inputs or the person's later messages use it and it
occurs in the conversation before the compaction.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from reviewer.compression.needs import carried, needs_of
from reviewer.compression.salient_terms import is_markup, without_escapes
from reviewer.compression.session import read_session
from reviewer.sources.calls import read_call
from reviewer.sources.claude_words import SUMMARY_START as CLAUDE_START
from reviewer.sources.event_maker import events_of, origin_of
from reviewer.sources.events import Act
from reviewer.sources.open import open_blocks, recognise
from reviewer.sources.records import Block, Role, Use
from reviewer.text.identifiers import IdentifierKind, identifiers
from reviewer.text.secrets import mask
from reviewer.text.tokens import counter

LOOK_AHEAD = 400
"""Blocks after a compaction in which needed names are searched."""
SHORTEST = 5
"""Characters below which a name is not counted."""
_CODE_NAME = re.compile(r"[\w.$/:@#+-]+(?:\(\))?")
_FILE = re.compile(r"[^/\s]+\.\w{1,8}")
UNREADABLE = "compaction without"
"""How the reason begins for which a reader leaves a compaction out."""
_UUID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", re.IGNORECASE)
_ADDRESS = re.compile(r"(?<![\w.+-])[\w.+-]++@[\w-]++(?:\.[\w-]+)+")
_NOT_NEEDED = re.compile(r"/dev/\w+|(?:[\w-]+\.)+(?:com|org|net)|in_progress|--\w{1,4}")
"""Names that nobody has to remember: devices, hosts, states of a to-do list, short flags."""
_NO_NAMES = frozenset({IdentifierKind.QUANTITY, IdentifierKind.URL})


class Dropped(Struct, frozen=True):
    """A name that the summary dropped and that was needed later."""

    text: str
    before: int
    """Occurrences in the conversation before the compaction."""
    needed: int
    """Occurrences afterwards."""
    is_file: bool
    by_person: bool
    """Whether the person used it, not only the agent's tools."""


class LostNeed(Struct, frozen=True):
    """Something that somebody who goes on needs. `kind`: request, instruction, decision, ..."""

    kind: str
    text: str


class CompactionReport(Struct, frozen=True):
    """One compaction. Lines are 0-based. Shares are None where no names were needed later."""

    path: str
    line: int
    summary_tokens: int
    before_tokens: int
    needed: int
    needed_files: int
    needed_by_person: int
    kept: float | None
    kept_files: float | None
    kept_by_person: float | None
    dropped: tuple[Dropped, ...]
    """Most needed first."""
    needs_lost: tuple[LostNeed, ...] = ()
    """Requests, instructions, decisions, state and next steps that the summary does not say."""
    needs: int = 0
    """How many there were."""

    def to_json(self) -> dict[str, Any]:
        """The fields that scripts read."""
        return {
            "path": self.path,
            "line": self.line,
            "summary_tokens": self.summary_tokens,
            "before_tokens": self.before_tokens,
            "needed": self.needed,
            "needed_files": self.needed_files,
            "needed_by_person": self.needed_by_person,
            "kept": self.kept,
            "kept_files": self.kept_files,
            "kept_by_person": self.kept_by_person,
            "dropped": [
                {
                    "text": each.text,
                    "before": each.before,
                    "needed": each.needed,
                    "file": each.is_file,
                    "by_person": each.by_person,
                }
                for each in self.dropped
            ],
            "needs": self.needs,
            "needs_lost": [{"kind": each.kind, "text": each.text} for each in self.needs_lost],
        }


class Compactions(Struct, frozen=True):
    """The compactions of one session of a file."""

    path: str
    session: str
    """Its id in a file that has several sessions; else empty."""
    reports: tuple[CompactionReport, ...]
    unreadable: int
    """Compactions whose summary is encrypted, or left out of the file."""


def report_compactions(path: Path) -> Iterator[Compactions]:
    """Every compaction of a file in order, session by session.

    Raises SourceError, also while iterating.
    """
    outlines = recognise(path).outlines
    if outlines is None:
        yield _of_session(path, "")
        return
    for outline in outlines(path):
        yield _of_session(path, outline.session)


def _of_session(path: Path, session: str) -> Compactions:
    scan = open_blocks(path, sessions=frozenset((session,)) if session else None)
    blocks = [block for block in scan if block.text.strip()]
    begins = CLAUDE_START if scan.format == "claude-code" else ""
    places = [at for at, block in enumerate(blocks) if _is_compaction(block, begins)]
    found = []
    start = 0
    for number, place in enumerate(places):
        end = places[number + 1] if number + 1 < len(places) else len(blocks)
        after = blocks[place + 1 : min(end, place + 1 + LOOK_AHEAD)]
        found.append(_report(path, blocks[start:place], blocks[place], after, scan.format))
        start = place
    unreadable = sum(number for why, number in scan.tally.items() if why.startswith(UNREADABLE))
    return Compactions(str(path), session, tuple(found), unreadable)


def _is_compaction(block: Block, begins: str) -> bool:
    """Claude Code also tells a person who was away what happened; that replaced nothing."""
    return block.use is Use.SUMMARY and block.text.lstrip().startswith(begins)


def _report(
    path: Path,
    before: Sequence[Block],
    summary: Block,
    after: Iterable[Block],
    format_name: str,
) -> CompactionReport:
    count = counter().count
    known = _names(before)
    in_summary = _names([summary])
    by_agent: Counter[str] = Counter()
    by_person: Counter[str] = Counter()
    for block in after:
        if block.kind == "tool_use" and not _is_plan(block):
            by_agent.update(_names([block]))
        elif block.kind == "text" and block.role is Role.USER and block.use is Use.MESSAGE:
            by_person.update(_names([block]))
    needed = Counter({n: c for n, c in (by_agent + by_person).items() if n in known})
    files = {name for name in needed if _FILE.fullmatch(name)}
    person = {name for name in needed if name in by_person}
    dropped = [
        Dropped(mask(name).text, known[name], times, name in files, name in person)
        for name, times in needed.items()
        if name not in in_summary
    ]
    dropped.sort(key=lambda each: (-each.needed, -each.before, each.text))
    return CompactionReport(
        str(path),
        summary.line_start,
        count(summary.text),
        sum(count(block.text) for block in before),
        len(needed),
        len(files),
        len(person),
        _share(set(needed), in_summary),
        _share(files, in_summary),
        _share(person, in_summary),
        tuple(dropped),
        *_lost_needs(before, summary, count, format_name),
    )


def _lost_needs(
    before: Sequence[Block], summary: Block, count: Callable[[str], int], format_name: str
) -> tuple[tuple[LostNeed, ...], int]:
    """The needs of whoever goes on that the summary does not say, and how many there were."""
    session = read_session(events_of(before, format_name))
    needs = needs_of(session)
    missing = carried(needs, summary.text, count(summary.text)).missing
    return tuple(LostNeed(need.kind, mask(need.text).text) for need in missing), len(needs)


def _is_plan(block: Block) -> bool:
    return read_call(origin_of(block), block.call, block.name, block.text).act is Act.PLAN


def _share(wanted: set[str], in_summary: Counter[str]) -> float | None:
    return round(sum(name in in_summary for name in wanted) / len(wanted), 4) if wanted else None


def _names(blocks: Iterable[Block]) -> Counter[str]:
    """In how many of the blocks each name occurs; a path to a file counts as the file's name."""
    found: Counter[str] = Counter()
    for block in blocks:
        text = block.text if block.kind == "text" else without_escapes(block.text)
        text = _ADDRESS.sub(" ", _UUID.sub(" ", text))
        named = _named(text, tool=block.kind == "tool_use")
        found.update({name for name in named if _is_worth_keeping(name)})
    return found


def _is_worth_keeping(name: str) -> bool:
    return len(name) >= SHORTEST and not _NOT_NEEDED.fullmatch(name)


def _named(text: str, *, tool: bool = False) -> Iterable[str]:
    for each in identifiers(text):
        if each.kind in _NO_NAMES or (tool and is_markup(text, each.kind, each.end)):
            continue
        if each.kind is IdentifierKind.CODE and not _CODE_NAME.fullmatch(each.text):
            # Inline code of several words is a phrase; only the names in it count.
            yield from _named(each.text)
            continue
        name = re.sub(r":\d+$", "", each.text.rstrip("/"))
        tail = name.rpartition("/")[2]
        name = tail if _FILE.fullmatch(tail) else name
        yield name.removesuffix("()")
