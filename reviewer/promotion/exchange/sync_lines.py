"""The combined result of the lines in the folder of `sync`. It depends on the lines alone, so that
all machines get the same: each memory is an item with its own lines, and items that end up with the
same wording form a group.
"""

from __future__ import annotations

import hashlib
import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import Struct

from reviewer.errors import ReviewerError, SourceError
from reviewer.files import reason_of
from reviewer.promotion.exchange.decision_lines import (
    HASH,
    Decision,
    DecisionFile,
    Line,
    Verdict,
    read_decisions,
)
from reviewer.promotion.exchange.signatures import signer
from reviewer.promotion.rows.known_rows import Key

ENDING = ".reviewer.jsonl"


class SyncItem(Struct, frozen=True):
    """The latest lines about one memory: those that no other line follows."""

    latest: tuple[Line, ...]
    earlier: frozenset[str]
    """The hashes of the others."""


class Group(Struct, frozen=True):
    """Items that end up with the same wording, and their latest lines, in an order that is the same
    on every machine."""

    items: Mapping[str, SyncItem]
    lines: tuple[Line, ...]

    @property
    def first(self) -> Decision:
        return self.lines[0].decision

    @property
    def agrees(self) -> bool:
        """Whether the lines have one result; without a promotion, wordings may differ."""
        verdicts = {each.decision.verdict for each in self.lines}
        keys = {each.key for each in self.lines}
        return len(verdicts) == 1 and (len(keys) == 1 or Verdict.PROMOTED not in verdicts)

    @property
    def verdict(self) -> Verdict:
        """The result; if the lines disagree, a person decides again."""
        return self.first.verdict if self.agrees else Verdict.WITHDRAWN


def merged(lines: Iterable[Line]) -> dict[str, SyncItem]:
    """The items of those lines, by name."""
    by_item: dict[str, dict[str, Line]] = defaultdict(dict)
    for each in lines:
        by_item[each.decision.item].setdefault(each.hash, each)
    found: dict[str, SyncItem] = {}
    for item, some in by_item.items():
        earlier = frozenset(name for each in some.values() for name in each.decision.after)
        found[item] = SyncItem(_sorted(some[name] for name in some.keys() - earlier), earlier)
    return found


def grouped(items: Mapping[str, SyncItem]) -> dict[Key, Group]:
    """The groups of those items, by the key of their rows."""
    by_key: dict[Key, dict[str, SyncItem]] = defaultdict(dict)
    for item, each in sorted(items.items()):
        by_key[each.latest[0].key][item] = each
    return {
        key: Group(some, _sorted(line for each in some.values() for line in each.latest))
        for key, some in sorted(by_key.items())
    }


def _sorted(lines: Iterable[Line]) -> tuple[Line, ...]:
    """By key first, so that the first line of a group has its key."""
    return tuple(sorted(lines, key=lambda each: (each.key, each.decision.content, each.hash)))


def read_folder(
    folder: Path, own: Path, project: str, signers: str
) -> tuple[dict[Path, DecisionFile], list[str]]:
    """The files of a project, and the problems of the others and of lines. `own` is this machine's;
    with `signers`, another machine's file counts only if one of them signed it.

    Raises SourceError for a folder that cannot be read.
    """
    files: dict[Path, DecisionFile] = {}
    problems: list[str] = []
    try:
        names = sorted(os.listdir(folder))
    except OSError as problem:
        raise SourceError(f"{folder} cannot be read: {reason_of(problem)}.") from problem
    for path in (folder / name for name in names if name.endswith(ENDING)):
        try:
            found = read_decisions(path)
            if found.header.project != project:
                continue
            if signers and path != own:
                signer(path, found.data, Path(signers).expanduser())
        except ReviewerError as problem:
            problems.append(str(problem))
            continue
        files[path] = found
        problems += (
            f"{path}, line {each.number + 1}, is left out: {each.why}." for each in found.faults
        )
    return files, problems


def item_of(kind: str, type_: str, key: str, number: int) -> str:
    """The name of an item: by its first wording, so that two machines give it the same. Items of
    one machine with the same first wording are numbered.
    """
    parts = (kind, type_, key, *([str(number)] if number > 1 else []))
    return _hash("\n".join(parts))


def outcome_of(verdict: str, kind: str, type_: str, content: str) -> str:
    """The hash of a verdict on a row or group, with its wording."""
    return _hash("\n".join((verdict, kind, type_, content)))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:HASH]
