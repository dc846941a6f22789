"""The file format of decisions: a header and one decision per line, as JSON, for both `decisions
export` and the folder of `sync`. A decision is found again by project, kind, type and key, never by
a row's number, which differs from store to store.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path

import msgspec
from msgspec import Struct

from reviewer.clock import written_moment
from reviewer.errors import ReviewerError, SourceError
from reviewer.extraction.candidates import MemoryType
from reviewer.extraction.entities.entity import EntityType
from reviewer.files import read_own, reason_of, write_atomic
from reviewer.promotion.exchange.signatures import sign, signature_of
from reviewer.promotion.rows.known_rows import Key
from reviewer.promotion.rows.wordings import require_wording
from reviewer.promotion.views import RejectReason, RowKind
from reviewer.text.normalise import duplicate_key
from reviewer.text.secrets import mask

FORMAT = "reviewer-decisions"
VERSION = 1
LARGEST = 64_000_000
"""Bytes of a file of decisions."""
HASH = 32
"""Hex digits of a line's hash."""
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Control characters except line breaks, and marks that change the direction of text."""


class Verdict(StrEnum):
    """What was decided."""

    PROMOTED = "promoted"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"
    """Waits again. In the files of `sync` only."""


class EvidencePlace(Struct, frozen=True):
    """A source of a memory: the name of the file, 0-based lines, and their text."""

    file: str
    line_start: int
    line_end: int
    sha256: str
    text: str


class Decision(Struct, frozen=True, omit_defaults=True):
    """One decision. `earlier` are the keys of former wordings.

    In files of `sync`, `item` is its subject, and `after` names the earlier decisions on it that
    were known (see `syncing.py`).
    """

    verdict: Verdict
    kind: str
    type: str
    key: str
    content: str
    at: str
    reason: str = ""
    earlier: tuple[str, ...] = ()
    passages: tuple[EvidencePlace, ...] = ()
    item: str = ""
    after: tuple[str, ...] = ()


class Header(Struct, frozen=True):
    """The first line of a file."""

    format: str
    version: int
    project: str
    actor: str
    at: str
    remote: str = ""
    head: str = ""
    """Both empty: earlier versions of the program ask for them."""

    @classmethod
    def of(cls, project: str, actor: str, at: str) -> Header:
        return cls(FORMAT, VERSION, project, actor, at)


class Line(Struct, frozen=True):
    """A decision as a line of a file: the bytes from `start` on."""

    hash: str
    decision: Decision
    path: Path
    number: int
    start: int
    raw: bytes

    @property
    def key(self) -> Key:
        return (self.decision.kind, self.decision.type, self.decision.key)


class Fault(Struct, frozen=True):
    """A line that is left out, and why; `decision` if it has a valid one."""

    number: int
    why: str
    decision: Decision | None = None


class DecisionFile(Struct, frozen=True):
    """A file of decisions: its content, the valid lines, and the faults."""

    path: Path
    header: Header
    data: bytes
    lines: tuple[Line, ...] = ()
    faults: tuple[Fault, ...] = ()

    @property
    def whole_lines(self) -> bytes:
        """The content without a truncated last line."""
        return self.data[: self.data.rfind(b"\n") + 1]


def read_decisions(path: Path) -> DecisionFile:
    """Read a file of decisions. A line that is cut off, unreadable or unfit for a memory is a
    fault.

    Raises SourceError for a file that cannot be opened, or is something else.
    """
    try:
        data = read_own(path, LARGEST)
    except OSError as problem:
        raise SourceError(f"{path} cannot be read: {reason_of(problem)}.") from problem
    first, *rest = data.splitlines(keepends=True) or [b""]
    try:
        header = msgspec.json.decode(first, type=Header)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        header = Header("", 0, "", "", "")
    if (header.format, header.version) != (FORMAT, VERSION):
        raise SourceError(f"{path} is not a file of decisions that this version reads.")
    lines: list[Line] = []
    faults: list[Fault] = []
    start = len(first)
    for number, raw in enumerate(rest, start=1):
        read = decision_line(raw, path, number, start)
        if isinstance(read, Line):
            lines.append(read)
        else:
            faults.append(read)
        start += len(raw)
    return DecisionFile(path, header, data, tuple(lines), tuple(faults))


def decision_line(raw: bytes, path: Path, number: int, start: int = 0) -> Line | Fault:
    """The decision in a line, or why the line is left out."""
    if not raw.endswith(b"\n"):
        return Fault(number, "its end has not arrived yet")
    try:
        each = msgspec.json.decode(raw, type=Decision)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        return Fault(number, str(problem).rstrip("."))
    if why := fault_of(each):
        return Fault(number, why, each)
    digest = hashlib.sha256(raw.rstrip(b"\r\n")).hexdigest()[:HASH]
    return Line(digest, each, path, number, start, raw)


def write_decisions(path: Path, before: bytes, lines: Iterable[bytes], key: str) -> None:
    """Replace a file by the text it had `before` and new lines, signed if a `key` is named.

    Raises SignatureError and OSError.
    """
    data = b"".join((before, *lines))
    signature = sign(data, Path(key).expanduser()) if key else b""
    write_atomic(path, data)
    if key:
        write_atomic(signature_of(path), signature)


def encoded(value: Header | Decision) -> bytes:
    return msgspec.json.encode(value) + b"\n"


def fault_of(each: Decision) -> str:
    """Why a decision cannot be a memory; empty when it can."""
    types: tuple[str, ...] = tuple(MemoryType) if each.kind == RowKind.MEMORY else tuple(EntityType)
    if each.kind not in (RowKind.MEMORY, RowKind.ENTITY) or each.type not in types:
        return f"there is no {each.kind[:40]} of type {each.type[:40]}"
    if written_moment(each.at) is None:
        return f"{each.at[:40]!r} is not a time"
    if each.reason not in ("", *RejectReason):
        return f"there is no reason {each.reason[:40]!r}"
    if mask(each.content).text != each.content:
        return "the wording contains a secret"
    if _UNSEEN.search(each.content):
        return "the wording has control characters or marks that change the direction of text"
    if each.key != duplicate_key(each.content):
        return f"its key belongs to another wording ({each.key[:80]})"
    try:
        require_wording(each.content, named=each.kind == RowKind.ENTITY)
    except ReviewerError as problem:
        return str(problem).rstrip(".")
    return ""
