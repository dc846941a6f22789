"""Decisions of a person as a file, and the decisions of somebody else applied to this store.

A decision is found again by project, kind, type and key, never by a row's number, which differs
from store to store. A file is applied as one act; what was decided otherwise here is refused.
"""

from __future__ import annotations

import hashlib
import os
import re
import sqlite3
from collections.abc import Iterator, Sequence
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct

from reviewer.clock import Clock, from_iso, iso, written_moment
from reviewer.errors import ReviewerError, SourceError
from reviewer.extraction.candidates import MemoryType
from reviewer.extraction.entities.entity import EntityType
from reviewer.extraction.flags import flags_of
from reviewer.files import open_file, reason_of
from reviewer.promotion.decisions.triage import promote_rows, reject_rows, reword_row
from reviewer.promotion.rows.decided_rows import OF_DECISION, RETIRE, STATUS_WORDS
from reviewer.promotion.rows.entity_rows import (
    insert_row,
    parse_structure,
    row_without_rules,
)
from reviewer.promotion.rows.evidence_rows import (
    SourcePlace,
    add_places,
    record_row,
    source_row,
    wave_row,
)
from reviewer.promotion.rows.wordings import require_wording
from reviewer.promotion.views import RejectReason, RowKind, Status
from reviewer.sources.records import Record, Role, Shape
from reviewer.store.acts import Act, chunks
from reviewer.store.database import Database, failures_as_sentences
from reviewer.store.ledger import Ledger
from reviewer.store.project_rows import project_row
from reviewer.text.normalise import duplicate_key
from reviewer.text.secrets import mask

FORMAT = "reviewer-decisions"
VERSION = 1
LARGEST = 64_000_000
"""Bytes of a file of decisions."""
MAX_QUOTES = 3
AHEAD = timedelta(days=1)
"""How far another clock may be ahead of this one."""
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Control characters except line breaks, and marks that change the direction of text."""
Line = TypeVar("Line", bound=Struct)

DECISION_COLUMNS = (
    "m.id, m.kind, m.type, m.key, m.content, m.status, m.decided_at, m.reason, m.scope"
)

IMPORT = "import decisions"


class Verdict(StrEnum):
    """What was decided."""

    PROMOTED = "promoted"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"
    """Waits again. In the files of `sync` only."""


VERDICTS = {
    "active": Verdict.PROMOTED,
    "graduated": Verdict.PROMOTED,
    "invalid": Verdict.REJECTED,
    "candidate": Verdict.WITHDRAWN,
}
"""What the status of a row says; a superseded row has its say in the one that took its place."""


class EvidencePlace(Struct, frozen=True):
    """A place that a memory comes from: the name of the file, 0-based lines, and what they say."""

    file: str
    line_start: int
    line_end: int
    sha256: str
    text: str


class Decision(Struct, frozen=True, omit_defaults=True):
    """One decision. `earlier` are the keys of former wordings.

    Files of `sync` also say which `item` it is about, and `after` which decisions on it they knew
    of (see `syncing.py`).
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
    scope: str = "project"
    item: str = ""
    after: tuple[str, ...] = ()


class Header(Struct, frozen=True):
    """The first line of a file."""

    format: str
    version: int
    project: str
    remote: str
    """Always empty; kept for readers of earlier files."""
    actor: str
    at: str
    head: str
    """Hash of the last entry of the ledger that the decisions were read from."""


class DecisionFile(Struct, frozen=True):
    """A file of decisions. `lines` are the bytes of its lines, header included."""

    header: Header
    decisions: tuple[Decision, ...]
    lines: tuple[bytes, ...]


class Refused(Struct, frozen=True):
    """A decision that was not applied, and why."""

    content: str
    verdict: str
    why: str
    row: int = 0
    """The row that was decided otherwise; 0 where there is none."""


class ImportedDecisions(Struct, frozen=True):
    """What became of the decisions of a file. `same` were decided like that already."""

    act: int
    title: str
    promoted: tuple[int, ...]
    rejected: tuple[int, ...]
    added: tuple[int, ...]
    """Promoted memories that this store did not have."""
    same: int
    refused: tuple[Refused, ...]


class Decisions:
    """Reads a person's decisions from the ledger, and applies those of others."""

    def __init__(self, database: Database, ledger: Ledger, clock: Clock) -> None:
        self._database = database
        self._ledger = ledger
        self._clock = clock

    def export(self, project: str, actor: str) -> bytes:
        """What `actor` has decided in a project, as it stands now: one JSON object a line.

        Raises ReviewerError when there is nothing, StoreError.
        """
        with failures_as_sentences(self._database.path):
            found = list(self._decided(project, actor))
            head = (
                self._database.reader()
                .execute("SELECT hash FROM ledger ORDER BY id DESC LIMIT 1")
                .fetchone()
            )
        if not found:
            raise ReviewerError(f"{actor} has promoted and rejected nothing in {project}.")
        header = Header(
            FORMAT, VERSION, project, "", actor, iso(self._clock()),
            head[0] if head else "",
        )  # fmt: skip
        encode = msgspec.json.encode
        return b"".join(encode(each) + b"\n" for each in (header, *found))

    def _decided(self, project: str, actor: str) -> Iterator[Decision]:
        reader = self._database.reader()
        rows = reader.execute(
            f"SELECT {DECISION_COLUMNS} FROM memory m JOIN project p ON p.id = m.project_id"
            " WHERE p.name = ?1"
            " AND m.status IN ('active', 'invalid') AND m.kind IN ('memory', 'entity')"
            f" AND m.rule <> '{RETIRE}'"
            " AND (SELECT l.actor FROM ledger_touch t JOIN ledger l ON l.id = t.act"
            "      WHERE t.memory_id = m.id AND l.scope = 'decision'"
            "      ORDER BY t.act DESC LIMIT 1) = ?2 ORDER BY m.id",
            (project, actor),
        ).fetchall()
        for row in rows:
            yield decision_of(reader, row, row["decided_at"] or iso(self._clock()))

    def apply(self, path: Path, file: DecisionFile, project: str) -> ImportedDecisions:
        """Apply a file to a project as one act of the ledger's actor. The newer of two decisions
        of the same person counts; what somebody else has decided otherwise is refused.

        Raises ReviewerError for a file from the future or a decision that cannot be a memory;
        nothing is written then.
        """
        latest = iso(self._clock() + AHEAD)
        if _is_after(file.header.at, latest):
            raise ReviewerError(
                f"{path} says that it was exported on {file.header.at[:40]}, which is still to"
                " come. Set the clock of this machine right, or have the decisions exported again."
            )
        done = _Applied()
        with self._ledger.act(IMPORT) as act:
            (number,) = act.query("SELECT max(id) FROM project WHERE name = ?", (project,))[0]
            for line, each in enumerate(file.decisions, start=1):
                if self._apply_one(act, number or 0, each, done, latest):
                    done.to_add.append((line, each))
            now = iso(self._clock())
            added = add_memories(act, project, path, file.lines, done.to_add, now)
            for (_, each), memory in zip(done.to_add, added, strict=True):
                promote_rows(act, [memory], now=min(each.at, now))
            act.title = _title(self._ledger.actor, done, added)
        return ImportedDecisions(
            act.id, act.title, tuple(done.promoted), tuple(done.rejected), tuple(added),
            done.same, tuple(done.refused),
        )  # fmt: skip

    def _apply_one(
        self, act: Act, project: int, each: Decision, done: _Applied, latest: str
    ) -> bool:
        """Apply a decision to its row; true for a promotion of which this store has no row."""

        def refuse(why: str, row: int = 0) -> bool:
            done.refused.append(Refused(each.content, each.verdict, why, row))
            return False

        promoted = each.verdict is Verdict.PROMOTED
        if why := unfit(each, latest):
            return refuse(why)
        if each.verdict is Verdict.WITHDRAWN:
            return refuse("what was taken back is for sync only")
        row = row_of(act, project, each)
        if row is None:
            return promoted or refuse("this store has no such candidate")
        number, status, content, decided_at = row
        reworded = promoted and content != each.content
        if status == ("active" if promoted else "invalid") and not reworded:
            done.same += 1
            return False
        if number in done.decided:
            return refuse(f"the file has another decision about #{number}", number)
        if status != "candidate":
            by = _decided_by(act, number)
            if by != self._ledger.actor or (decided_at or "") >= each.at or status == "graduated":
                return refuse(_otherwise(number, status, by), number)
            act.update(
                "memory", number, status="candidate", decided_at=None, superseded_by=None, reason=""
            )
        if reworded and (problem := reword(act, number, each, iso(self._clock()))):
            return refuse(problem, number)
        at = min(each.at, iso(self._clock()))
        done.decided.add(number)
        if promoted:
            promote_rows(act, [number], now=at)
            done.promoted.append(number)
        else:
            reject_rows(act, [number], reason=each.reason, now=at)
            done.rejected.append(number)
        return False


def decision_of(
    reader: sqlite3.Connection, row: sqlite3.Row, at: str, *, quoted: bool = True
) -> Decision:
    """The decision that a row of DECISION_COLUMNS shows; a promoted one with quotes of its evidence
    where `quoted`.
    """
    earlier = reader.execute(
        "SELECT content FROM content_history WHERE memory_id = ? ORDER BY id", (row["id"],)
    ).fetchall()
    verdict = VERDICTS[row["status"]]
    key = duplicate_key(row["content"])
    keys = (row["key"], *(duplicate_key(each[0]) for each in earlier))
    return Decision(
        verdict=verdict,
        kind=row["kind"],
        type=row["type"],
        key=key,
        content=row["content"],
        at=at,
        reason=row["reason"] if verdict is Verdict.REJECTED else "",
        earlier=tuple(dict.fromkeys(each for each in keys if each != key)),
        passages=(
            tuple(passages_of(reader, row["id"])) if verdict is Verdict.PROMOTED and quoted else ()
        ),
        scope=row["scope"],
    )


def passages_of(reader: sqlite3.Connection, memory: int) -> Iterator[EvidencePlace]:
    """What the evidence of a memory quotes."""
    rows = reader.execute(
        "SELECT s.path, r.line_start, r.line_end, r.sha256, r.text, e.span_start, e.span_end"
        " FROM evidence e JOIN record r ON r.id = e.record_id JOIN source s"
        " ON s.id = r.source_id WHERE e.memory_id = ? ORDER BY e.id LIMIT ?",
        (memory, MAX_QUOTES),
    )
    for path, start, end, digest, text, first, last in rows.fetchall():
        yield EvidencePlace(Path(path).name, start, end, digest, text[first:last])


class _Applied:
    """What has become of the decisions so far."""

    def __init__(self) -> None:
        self.promoted: list[int] = []
        self.rejected: list[int] = []
        self.decided: set[int] = set()
        self.same = 0
        self.refused: list[Refused] = []
        self.to_add: list[tuple[int, Decision]] = []


def read_decisions(path: Path) -> DecisionFile:
    """A file of decisions. Raises SourceError, naming the line that cannot be understood."""
    try:
        with open_file(path) as file:
            data = file.read(LARGEST + 1)
    except OSError as problem:
        raise SourceError(f"{path} cannot be read: {reason_of(problem)}.") from problem
    if len(data) > LARGEST:
        raise SourceError(f"{path} is larger than {LARGEST // 1_000_000} MB.")
    lines = data.splitlines(keepends=True)
    header = _decoded(lines[0] if lines else b"", Header, path, 1)
    if header.format != FORMAT:
        raise SourceError(f"{path} is not a file of decisions: see reviewer decisions export.")
    if header.version != VERSION:
        raise SourceError(
            f"{path} is of version {header.version}; this program reads version {VERSION}."
        )
    found = []
    for number, line in enumerate(lines[1:], start=2):
        each = _decoded(line, Decision, path, number)
        if fault := fault_of(each):
            raise SourceError(f"{path}, line {number}: {fault}")
        found.append(each)
    return DecisionFile(header, tuple(found), tuple(lines))


def _decoded(line: bytes, type_: type[Line], path: Path, number: int) -> Line:
    try:
        return msgspec.json.decode(line, type=type_)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise SourceError(f"{path}, line {number}: {problem}.") from problem


def fault_of(each: Decision) -> str:
    """Why a decision cannot be applied; empty when it can."""
    types: tuple[str, ...] = tuple(MemoryType) if each.kind == RowKind.MEMORY else tuple(EntityType)
    if each.kind not in (RowKind.MEMORY, RowKind.ENTITY) or each.type not in types:
        return f"there is no {each.kind} of type {each.type}."
    if written_moment(each.at) is None:
        return f"{each.at[:40]!r} is not a time."
    if each.scope not in ("project", "person"):
        return f"there is no scope {each.scope[:40]!r}."
    if each.reason not in ("", *RejectReason):
        return f"there is no reason {each.reason[:40]!r}."
    if mask(each.content).text != each.content:
        return "the wording holds a secret."
    try:
        require_wording(each.content, named=each.kind == RowKind.ENTITY)
    except ReviewerError as problem:
        return str(problem)
    return ""


def unfit(each: Decision, latest: str) -> str:
    """Why a decision is refused whatever the store has; empty when it is not."""
    if _UNSEEN.search(each.content):
        return "the wording has control characters or marks that change the direction of text"
    if each.key != duplicate_key(each.content):
        return f"its key belongs to another wording ({each.key[:80]})"
    if _is_after(each.at, latest):
        return f"its time is still to come ({each.at[:40]})"
    return ""


def _is_after(moment: str, other: str) -> bool:
    written, end = written_moment(moment), from_iso(other)
    first = from_iso(written) if written is not None else None
    return first is not None and end is not None and first > end


def row_of(act: Act, project: int, each: Decision) -> tuple[int, str, str, str | None] | None:
    """Id, status, wording and time of decision of the row that a decision is about."""
    keys = list(dict.fromkeys((duplicate_key(each.content), each.key, *each.earlier)))
    for chunk in chunks(keys):
        rows = act.query(
            "SELECT id, status, content, decided_at, key FROM memory WHERE project_id = ?"
            f" AND kind = ? AND type = ? AND key IN ({','.join('?' * len(chunk))})",
            (project, each.kind, each.type, *chunk),
        )
        if rows:
            best = min(rows, key=lambda row: keys.index(row[4]))
            return best[0], best[1], best[2], best[3]
    return None


def add_memories(
    act: Act, name: str, path: Path, lines: Sequence[bytes],
    wanted: Sequence[tuple[int, Decision]], now: str,
) -> list[int]:  # fmt: skip
    """Candidates that this store does not have, each with its line of the file as evidence."""
    if not wanted:
        return []
    project = project_row(act, name)
    wave = wave_row(act, project, [os.path.abspath(path)], now)
    stat = path.stat()
    source = source_row(
        act, path, OF_DECISION, project_id=project, wave_id=wave, size=stat.st_size,
        modified_ns=stat.st_mtime_ns,
    )  # fmt: skip
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    added = []
    for number, each in wanted:
        text = "\n".join((each.content, *(quote.text for quote in each.passages)))
        digest = hashlib.sha256(lines[number]).hexdigest()
        record = Record(
            key=f"sha256:{digest}", line_start=number, line_end=number + 1,
            byte_start=starts[number], byte_end=starts[number + 1], sha256=digest, role=Role.NOTE,
            text=mask(text).text, shape=Shape.ENTRY, at=each.at,
        )  # fmt: skip
        row = record_row(act, record, project_id=project, source_id=source, wave_id=wave)
        memory = _insert(act, each, project=project, wave=wave, now=now)
        add_places(act, memory, [SourcePlace(row, 0, len(each.content), OF_DECISION, str(VERSION))])
        added.append(memory)
    return added


def _insert(act: Act, each: Decision, *, project: int, wave: int, now: str) -> int:
    values = {
        **row_without_rules(
            project, each.type, each.content, now, rule=OF_DECISION, version=str(VERSION)
        ),
        "wave_id": wave,
        "flags": " ".join(flags_of(each.content, Role.NOTE)),
        "scope": each.scope,
    }
    entity = each.kind == RowKind.ENTITY
    structure = parse_structure(each.content, EntityType(each.type)) if entity else None
    return insert_row(act, values, structure)


def _decided_by(act: Act, number: int) -> str:
    rows = act.query(
        "SELECT l.actor FROM ledger_touch t JOIN ledger l ON l.id = t.act WHERE t.memory_id = ?"
        " AND l.scope = 'decision' ORDER BY t.act DESC LIMIT 1",
        (number,),
    )
    return rows[0][0] if rows else ""


def _otherwise(number: int, status: str, by: str) -> str:
    state = STATUS_WORDS[Status(status)].removeprefix("already ")
    return f"#{number} is {state} here" + (f" by {by}" if by else "")


def reword(act: Act, number: int, each: Decision, now: str) -> str:
    """Give a row the wording and type of a decision; returns why it cannot, or nothing."""
    if same := reword_row(act, number, each.content, now, type_=each.type):
        return f"#{same[0]} says the same already"
    known = act.query("SELECT flags FROM memory WHERE id = ?", (number,))[0][0].split()
    flags = " ".join(dict.fromkeys((*known, *flags_of(each.content, Role.NOTE))))
    act.update("memory", number, flags=flags)
    return ""


def _title(actor: str, done: _Applied, added: Sequence[int]) -> str:
    parts = [
        f"{number} {word}"
        for number, word in (
            (len(done.promoted), "promoted"),
            (len(added), "added"),
            (len(done.rejected), "rejected"),
            (len(done.refused), "refused"),
        )
        if number
    ]
    return f"Decisions of {actor}: {', '.join(parts) or 'nothing new'}"
