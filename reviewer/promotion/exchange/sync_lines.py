"""The lines that machines write into the folder of `sync`, and what they say together.

That is a function of the lines alone, so that all machines come to the same: each memory is an item
with lines of its own, and items that come to one wording are a group.
"""

from __future__ import annotations

import hashlib
import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from reviewer.errors import ReviewerError, SourceError
from reviewer.files import read_own, reason_of
from reviewer.promotion.exchange.signatures import signer
from reviewer.promotion.exchange.signed_decisions import (
    FORMAT,
    LARGEST,
    VERSION,
    Decision,
    Header,
    Verdict,
    fault_of,
    unfit,
)
from reviewer.promotion.rows.known_keys import Key

ENDING = ".reviewer.jsonl"
HASH = 32
"""Hex digits of a line's hash."""


class Line(Struct, frozen=True):
    """A decision as a line of a machine's file."""

    hash: str
    decision: Decision
    path: Path
    number: int

    @property
    def key(self) -> Key:
        return (self.decision.kind, self.decision.type, self.decision.key)


class SyncItem(Struct, frozen=True):
    """The lines on one memory that no other one was made after."""

    latest: tuple[Line, ...]
    earlier: frozenset[str]
    """The hashes of the others."""


class Group(Struct, frozen=True):
    """The items that come to one wording, and their latest lines in an order of their own."""

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
        """The result; where the lines disagree, a person decides again."""
        return self.first.verdict if self.agrees else Verdict.WITHDRAWN


class MachineFile(Struct, frozen=True):
    """The complete lines of a file, and the problems of the others."""

    header: Header
    lines: tuple[bytes, ...]
    decisions: tuple[Line, ...]
    problems: tuple[str, ...] = ()


def merged(lines: Iterable[Line]) -> dict[str, SyncItem]:
    """The items of those lines."""
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
) -> tuple[dict[Path, MachineFile], list[str]]:
    """The files of a project, and the problems of the others. `own` is this machine's; with
    `signers` another counts only if one of them has signed it.

    Raises SourceError for a folder that cannot be read.
    """
    files: dict[Path, MachineFile] = {}
    problems: list[str] = []
    try:
        names = sorted(os.listdir(folder))
    except OSError as problem:
        raise SourceError(f"{folder} cannot be read: {reason_of(problem)}.") from problem
    for name in names:
        path = folder / name
        if not name.endswith(ENDING):
            continue
        try:
            found = read_machine(path)
            if found is None:
                fate = "written anew" if path == own else "left alone"
                problems.append(f"{path} is not a file of decisions, and is {fate}.")
            elif found.header.project == project:
                if signers and path != own:
                    signature = read_own(path.with_name(f"{name}.sig"))
                    signer(b"".join(found.lines), signature, Path(signers).expanduser())
                files[path] = found
                problems += found.problems
        except OSError as problem:
            problems.append(f"{path} is left out: its signature: {reason_of(problem)}.")
        except ReviewerError as problem:
            problems.append(str(problem))
    return files, problems


def read_machine(path: Path) -> MachineFile | None:
    """The file of a machine; None where it is something else. What was cut off, cannot be read or
    cannot be a memory is left out and named.

    Raises SourceError for a file that cannot be opened.
    """
    try:
        data = read_own(path, LARGEST)
    except OSError as problem:
        raise SourceError(f"{path} is not read: {reason_of(problem)}.") from problem
    raw = data.splitlines(keepends=True)
    problems = []
    if raw and not raw[-1].endswith(b"\n"):
        raw.pop()
        problems.append(f"The end of {path} has not arrived yet.")
    try:
        header = msgspec.json.decode(raw[0] if raw else b"", type=Header)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        header = None
    if header is None or (header.format, header.version) != (FORMAT, VERSION):
        return None
    found = []
    for number, line in enumerate(raw[1:], start=1):
        try:
            each = msgspec.json.decode(line, type=Decision)
            fault = refused(each) or ("" if each.item else "it is not one of sync.")
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
            fault = f"{problem}."
        if fault:
            problems.append(f"{path}, line {number + 1}, is left out: {fault}")
        else:
            found.append(Line(hash_of(line), each, path, number))
    return MachineFile(header, tuple(raw), tuple(found), tuple(problems))


def hash_of(line: bytes) -> str:
    return hashlib.sha256(line.rstrip(b"\r\n")).hexdigest()[:HASH]


def refused(each: Decision) -> str:
    """Why a decision is refused, whatever clock it was made by; empty when it is not."""
    if fault := fault_of(each):
        return fault
    why = unfit(each, each.at)
    return f"{why}." if why else ""


def item_of(kind: str, type_: str, key: str, number: int) -> str:
    """The name of an item: by its first wording, so that two machines give it the same. Those of
    one machine that have the same first wording are numbered.
    """
    parts = (kind, type_, key, *([str(number)] if number > 1 else []))
    return _hash("\n".join(parts))


def outcome_of(verdict: str, kind: str, type_: str, content: str) -> str:
    """The hash of what a row or a group says."""
    return _hash("\n".join((verdict, kind, type_, content)))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:HASH]
