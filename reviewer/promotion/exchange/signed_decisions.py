"""Exports a person's decisions to a file, and applies somebody else's to this store. A file is
applied as one act; decisions that conflict with those made here are refused.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct, structs

from reviewer.clock import from_iso, iso, written_moment
from reviewer.errors import ReviewerError
from reviewer.extraction.entities.entity import EntityType
from reviewer.extraction.flags import flags_of
from reviewer.files import modified_ns
from reviewer.promotion.decisions.triage import promote_rows, reject_rows, reword_row
from reviewer.promotion.exchange.decision_lines import (
    VERSION,
    Decision,
    DecisionFile,
    EvidencePlace,
    Header,
    Line,
    Verdict,
    encoded,
)
from reviewer.promotion.rows.decided_rows import OF_DECISION, RETIRE, STATUS_WORDS
from reviewer.promotion.rows.entity_rows import parse_structure
from reviewer.promotion.rows.evidence_rows import (
    SourcePlace,
    add_places,
    record_row,
    source_row,
    wave_row,
)
from reviewer.promotion.rows.memory_rows import insert_row, row_without_rules
from reviewer.promotion.views import RowKind, Status
from reviewer.sources.records import Record, Role, Shape
from reviewer.store.acts import Act, chunks
from reviewer.store.database import failures_as_sentences
from reviewer.store.project_rows import project_row
from reviewer.store.service import Service
from reviewer.text.normalise import duplicate_key
from reviewer.text.secrets import mask

MAX_QUOTES = 3
AHEAD = timedelta(days=1)
"""How far ahead another machine's clock may be."""

DECISION_COLUMNS = "m.id, m.kind, m.type, m.key, m.content, m.status, m.decided_at, m.reason"

DECIDED_BY = (
    "(SELECT l.actor FROM ledger_touch t JOIN ledger l ON l.id = t.act"
    " WHERE t.memory_id = m.id AND l.scope = 'decision' ORDER BY t.act DESC LIMIT 1)"
)
IMPORT = "import decisions"

VERDICTS = {
    "active": Verdict.PROMOTED,
    "graduated": Verdict.PROMOTED,
    "invalid": Verdict.REJECTED,
    "candidate": Verdict.WITHDRAWN,
}
"""The verdict for each status; a superseded row counts through the row that replaced it."""


class StoredRow(NamedTuple):
    """The current state of a row, and who last decided on it, if anybody."""

    id: int
    status: str
    content: str
    decided_at: str | None
    by: str | None


class Refused(Struct, frozen=True):
    """A decision that was not applied, and why."""

    content: str
    verdict: str
    why: str
    row: int = 0
    """The row with the conflicting decision; 0 if there is none."""


class ImportedDecisions(Struct):
    """The result of importing a file. `same`: already decided the same way."""

    act: int = 0
    title: str = ""
    promoted: list[int] = []
    rejected: list[int] = []
    added: list[int] = []
    """Promoted memories that this store did not have."""
    same: int = 0
    refused: list[Refused] = []


class SignedDecisions(Service):
    """Reads a person's decisions from the ledger, and applies those of others."""

    def export(self, project: str, actor: str) -> tuple[bytes, list[bytes]]:
        """The current decisions of `actor` in a project as lines, after the header. Raises
        ReviewerError if there are none, StoreError.
        """
        with failures_as_sentences(self._database.path):
            found = list(self._decided(project, actor))
        if not found:
            raise ReviewerError(f"{actor} has promoted and rejected nothing in {project}.")
        header = Header.of(project, actor, iso(self._clock()))
        return encoded(header), [encoded(each) for each in found]

    def _decided(self, project: str, actor: str) -> Iterator[Decision]:
        reader = self._database.reader()
        rows = reader.execute(
            f"SELECT {DECISION_COLUMNS} FROM memory m JOIN project p ON p.id = m.project_id"
            " WHERE p.name = ?1"
            " AND m.status IN ('active', 'invalid') AND m.kind IN ('memory', 'entity')"
            f" AND m.rule <> '{RETIRE}'"
            f" AND {DECIDED_BY} = ?2 ORDER BY m.id",
            (project, actor),
        ).fetchall()
        for row in rows:
            decision = decision_of(reader, row, row["decided_at"] or iso(self._clock()))
            if decision.verdict is Verdict.PROMOTED:
                quotes = tuple(passages_of(reader, row["id"]))
                decision = structs.replace(decision, passages=quotes)
            yield decision

    def apply(self, file: DecisionFile, project: str) -> ImportedDecisions:
        """Apply a file to a project as one act of the ledger's actor. Of two decisions by the same
        person the newer counts; those that conflict with somebody else's are refused.

        Raises ReviewerError for a file from the future; nothing is written then.
        """
        latest = self._clock() + AHEAD
        if _is_after(file.header.at, latest):
            raise ReviewerError(
                f"{file.path} says that it was exported on {file.header.at[:40]}, which is still to"
                " come. Set the clock of this machine right, or have the decisions exported again."
            )
        done = ImportedDecisions()
        absent: list[Line] = []
        with self._ledger.act(IMPORT) as act:
            for fault in file.faults:
                done.refused.append(
                    _refused(fault.decision, f"line {fault.number + 1}: {fault.why}")
                )
            ((number,),) = act.query("SELECT max(id) FROM project WHERE name = ?", (project,))
            for line in file.lines:
                each = line.decision
                row = row_of(act, number or 0, each)
                if _is_after(each.at, latest):
                    why = f"its time is still to come ({each.at[:40]})"
                elif each.verdict is Verdict.WITHDRAWN:
                    why = "decisions taken back are for sync only"
                elif row is not None:
                    why = self._decide(act, done, each, row)
                elif each.verdict is Verdict.PROMOTED:
                    why = ""
                    absent.append(line)
                else:
                    why = "this store has no such candidate"
                if why:
                    done.refused.append(_refused(each, why, row.id if row else 0))
            now = iso(self._clock())
            done.added = add_memories(act, project, file.path, absent, now)
            for line, memory in zip(absent, done.added, strict=True):
                promote_rows(act, [memory], now=min(line.decision.at, now))
            counts = {name: len(getattr(done, name)) for name in _COUNTED}
            parts = ", ".join(f"{number} {name}" for name, number in counts.items() if number)
            parts += " by this store" if done.refused else ""
            act.title = f"Decisions of {self._ledger.actor}: {parts or 'nothing new'}"
        done.act, done.title = act.id, act.title
        return done

    def _decide(self, act: Act, done: ImportedDecisions, each: Decision, row: StoredRow) -> str:
        """Apply a decision to its row; returns the reason if that is impossible, else an empty
        text."""
        number, status = row.id, row.status
        now = iso(self._clock())
        promoted = each.verdict is Verdict.PROMOTED
        reworded = promoted and row.content != each.content
        if status == ("active" if promoted else "invalid") and not reworded:
            done.same += 1
            return ""
        if number in (*done.promoted, *done.rejected):
            return f"the file has another decision about #{number}"
        if status != "candidate":
            older = row.by == self._ledger.actor and (row.decided_at or "") < each.at
            if not older or status == "graduated":
                state = STATUS_WORDS[Status(status)].removeprefix("already ")
                return f"#{number} is {state} here" + (f" by {row.by}" if row.by else "")
        if reworded and (problem := reword(act, number, each, now)):
            return problem  # before anything else: the row stays as it is
        if status != "candidate":
            act.update(
                "memory", number, status="candidate", decided_at=None, superseded_by=None, reason=""
            )
        if promoted:
            promote_rows(act, [number], now=min(each.at, now))
            done.promoted.append(number)
        else:
            reject_rows(act, [number], reason=each.reason, now=min(each.at, now))
            done.rejected.append(number)
        return ""


_COUNTED = ("promoted", "added", "rejected", "refused")


def _refused(each: Decision | None, why: str, row: int = 0) -> Refused:
    content, verdict = (each.content, str(each.verdict)) if each else ("", "")
    return Refused(content, verdict, why, row)


def decision_of(reader: sqlite3.Connection, row: sqlite3.Row, at: str) -> Decision:
    """The decision in a row of DECISION_COLUMNS, without quotes."""
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
    )


def passages_of(reader: sqlite3.Connection, memory: int) -> Iterator[EvidencePlace]:
    rows = reader.execute(
        "SELECT s.path, r.line_start, r.line_end, r.sha256, r.text, e.span_start, e.span_end"
        " FROM evidence e JOIN record r ON r.id = e.record_id JOIN source s"
        " ON s.id = r.source_id WHERE e.memory_id = ? ORDER BY e.id LIMIT ?",
        (memory, MAX_QUOTES),
    )
    for path, start, end, digest, text, first, last in rows.fetchall():
        yield EvidencePlace(Path(path).name, start, end, digest, text[first:last])


def _is_after(moment: str, other: datetime) -> bool:
    written = written_moment(moment)
    first = from_iso(written) if written is not None else None
    return first is not None and first > other


def row_of(act: Act, project: int, each: Decision) -> StoredRow | None:
    keys = list(dict.fromkeys((duplicate_key(each.content), each.key, *each.earlier)))
    for chunk in chunks(keys):
        rows = act.query(
            f"SELECT m.id, m.status, m.content, m.decided_at, {DECIDED_BY}, m.key FROM memory m"
            " WHERE m.project_id = ? AND m.kind = ? AND m.type = ?"
            f" AND m.key IN ({','.join('?' * len(chunk))})",
            (project, each.kind, each.type, *chunk),
        )
        if rows:
            *best, _ = min(rows, key=lambda row: keys.index(row[-1]))
            return StoredRow(*best)
    return None


def add_memories(act: Act, name: str, path: Path, lines: Sequence[Line], now: str) -> list[int]:
    """Candidates that this store does not have, each with its line of the file as evidence."""
    if not lines:
        return []
    project = project_row(act, name)
    wave = wave_row(act, project, [os.path.abspath(path)], now)
    stat = path.stat()
    source = source_row(
        act, path, OF_DECISION, project_id=project, wave_id=wave, size=stat.st_size,
        modified_ns=modified_ns(stat),
    )  # fmt: skip
    added = []
    for line in lines:
        each = line.decision
        text = "\n".join((each.content, *(quote.text for quote in each.passages)))
        digest = hashlib.sha256(line.raw).hexdigest()
        record = Record(
            key=f"sha256:{digest}", line_start=line.number, line_end=line.number + 1,
            byte_start=line.start, byte_end=line.start + len(line.raw), sha256=digest,
            role=Role.NOTE, text=mask(text).text, shape=Shape.ENTRY, at=each.at,
        )  # fmt: skip
        row = record_row(act, record, project_id=project, source_id=source, wave_id=wave)
        memory = _insert(act, each, project=project, wave=wave, now=now)
        add_places(act, memory, [SourcePlace(row, 0, len(each.content), OF_DECISION, str(VERSION))])
        added.append(memory)
    return added


def _insert(act: Act, each: Decision, *, project: int, wave: int, now: str) -> int:
    values = {
        **row_without_rules(
            project, each.type, each.content, rule=OF_DECISION, version=str(VERSION)
        ),
        "wave_id": wave,
        "flags": " ".join(flags_of(each.content, Role.NOTE)),
    }
    entity = each.kind == RowKind.ENTITY
    structure = parse_structure(each.content, EntityType(each.type)) if entity else None
    return insert_row(act, values, now, structure)


def reword(act: Act, number: int, each: Decision, now: str) -> str:
    """Give a row the wording and type of a decision; returns the reason if that is impossible, else
    an empty text."""
    if same := reword_row(act, number, each.content, now, type_=each.type):
        return f"#{same[0]} says the same already"
    known = act.query("SELECT flags FROM memory WHERE id = ?", (number,))[0][0].split()
    flags = " ".join(dict.fromkeys((*known, *flags_of(each.content, Role.NOTE))))
    act.update("memory", number, flags=flags)
    return ""
