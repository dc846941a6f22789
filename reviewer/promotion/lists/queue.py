"""Reading the queue: snapshots of ids, windows of rows, one candidate with its evidence."""

from __future__ import annotations

import sqlite3
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TypeVar

import msgspec

from reviewer.clock import Clock, iso
from reviewer.errors import UnknownIdError
from reviewer.promotion.lists.filters import Condition, parse_filter
from reviewer.promotion.rows.evidence_rows import UNTRUE, record_of
from reviewer.promotion.views import (
    CandidateView,
    Counts,
    EvidenceView,
    Member,
    QueueQuery,
    QueueRow,
    RecordView,
    SourceRef,
    Status,
    line_of_span,
)
from reviewer.proposing.values import Proof
from reviewer.store.acts import AMONG, listed
from reviewer.store.changes import Value
from reviewer.store.database import Database
from reviewer.store.disputed import IS_DISPUTED

_MEMBERS = "(SELECT count(*) FROM memory n WHERE n.leader_id = m.id AND n.status = 'candidate')"
_BEHIND = (
    "(b.id = m.id OR (b.leader_id = m.id AND b.status = m.status"
    f" AND b.flags NOT LIKE '%{UNTRUE}%'))"
)
"""A row, and those hidden behind it."""
_SESSIONS = (
    "max(m.sessions, (SELECT count(*) FROM (SELECT coalesce(r.session, 's' || r.source_id)"
    " FROM memory b JOIN evidence e ON e.memory_id = b.id JOIN record r ON r.id = e.record_id"
    f" WHERE {_BEHIND} UNION SELECT coalesce(nullif(f.session, ''), 's' || f.source_id)"
    " FROM memory b JOIN finding f ON f.project_id = b.project_id AND f.signature = b.signature"
    " AND f.kind IN ('failure', 'environment', 'refusal', 'correction')"  # all: for the index
    f" WHERE b.signature <> '' AND {_BEHIND})))"
)
"""The sessions of `evidence_behind`; a job over many files has counted more than are here."""
_BEST_FIRST = "m.deferred, m.excerpt, m.rank DESC, m.id"
_COSTLIEST_FIRST = "m.cost DESC, m.decided_at DESC, m.id DESC"
_COLUMNS = (
    "m.id, m.kind, m.status, m.deferred, m.edited, m.type, m.content, m.confidence, m.rank,"
    f" {_MEMBERS} AS members, m.seen, m.flags, p.name AS project, m.rule, m.leader_id,"
    f" m.pending_since, m.proposer, m.need, {_SESSIONS} AS sessions, m.authors,"
    " m.cost, m.times, m.reason"
)
Row = TypeVar("Row", QueueRow, CandidateView)
_RECORD = "SELECT r.*, s.path FROM record r JOIN source s ON s.id = r.source_id WHERE "


class Queue:
    """Reads memories. Safe to call from several threads at once."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def check(self, query: QueueQuery) -> None:
        """Raise FilterError for a filter that cannot be parsed, without reading rows."""
        self._condition(query)

    def ids(
        self,
        query: QueueQuery,
        *,
        limit: int | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> array[int]:
        """A snapshot of the matching ids, in order; near duplicates are hidden behind their row.

        Raises FilterError for an invalid filter, ReadStoppedError as soon as `cancelled` returns
        true.
        """
        condition = self._condition(query)
        order = _COSTLIEST_FIRST if query.costliest_first else _BEST_FIRST
        sql = f"SELECT m.id FROM memory m WHERE {condition.sql} ORDER BY {order} LIMIT ?"
        with self._database.reading_until(cancelled):
            cursor = self._database.reader().cursor()
            cursor.row_factory = None  # plain rows take a third of the time for a million
            cursor.execute(sql, (*condition.parameters, -1 if limit is None else limit))
            return array("q", (number for (number,) in cursor))

    def count(self, query: QueueQuery) -> int:
        condition = self._condition(query)
        sql = f"SELECT count(*) FROM memory m WHERE {condition.sql}"
        return int(self._database.query(sql, condition.parameters)[0][0])

    def rows(self, ids: Sequence[int]) -> list[QueueRow]:
        """The rows of those ids, in that order; missing ids are left out."""
        sql = (
            f"SELECT {_COLUMNS} FROM memory m JOIN project p ON p.id = m.project_id"
            f" WHERE m.id {AMONG}"
        )
        rows = self._database.query(sql, (listed(ids),))
        found = {row["id"]: _view(row, QueueRow) for row in rows}
        return [found[i] for i in ids if i in found]

    def promoted_with(self, project: str | None, words: Iterable[str]) -> list[QueueRow]:
        """The promoted facts with any of these words, best match first; longer words match as
        prefixes.
        """
        match = " OR ".join(f'"{word}"{"*" if len(word) > 3 else ""}' for word in words)
        where, parameters = self._in_project(project)
        found = self._database.query(
            "SELECT m.id FROM memory_text t JOIN memory m ON m.id = t.rowid"
            " WHERE memory_text MATCH ? AND m.status = 'active' AND m.kind <> 'conflict'"
            f" AND NOT {IS_DISPUTED} AND {where} ORDER BY t.rank",
            (match, *parameters),
        )
        return self.rows([number for (number,) in found])

    def counts(self, project: str | None) -> Counts:
        """The number of waiting, deferred and decided rows, in one project or in all."""
        where, parameters = self._in_project(project)
        waiting = self.count(QueueQuery(project=project))
        deferred = self.count(QueueQuery(project=project, status="deferred"))
        midnight = self._clock().astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
        decided: Counter[tuple[str, bool]] = Counter()
        # A settled conflict is not a decision on a fact; subtracted, because no index has the kind.
        settled = "conflict c JOIN memory m ON m.id = c.memory_id"
        for count, rows in (("count(*)", "memory m"), ("-count(*)", settled)):
            for status, today, number in self._database.query(
                f"SELECT m.status, m.decided_at >= ?, {count} FROM {rows}"
                f" WHERE m.decided_at IS NOT NULL AND {where} GROUP BY 1, 2",
                (iso(midnight), *parameters),
            ):
                decided[status, bool(today)] += number
        return Counts(
            waiting=waiting,
            deferred=deferred,
            promoted=decided["active", False] + decided["active", True],
            rejected=decided["invalid", False] + decided["invalid", True],
            promoted_today=decided["active", True],
            rejected_today=decided["invalid", True],
            beyond_cap=self._beyond_cap(project),
            refusals=0 if project is None else self._refusals(project),
        )

    def waiting_by_project(self) -> dict[str, int]:
        """The number of waiting rows of each project that has any, most first."""
        condition = self._condition(QueueQuery())
        found = self._database.query(
            f"SELECT p.name, (SELECT count(*) FROM memory m WHERE {condition.sql}"
            " AND m.project_id = p.id) AS waiting FROM project p WHERE waiting"
            " ORDER BY waiting DESC, p.name",
            condition.parameters,
        )
        return {str(name): int(number) for name, number in found}

    def _refusals(self, project: str) -> int:
        sql = (
            "SELECT count(DISTINCT f.kind || f.signature) FROM finding f"
            " JOIN project p ON p.id = f.project_id WHERE p.name = ?"
            " AND f.kind IN ('refusal', 'correction') AND f.evidence <> '[]'"
            " AND NOT EXISTS (SELECT 1 FROM memory m"
            " WHERE (m.project_id, m.signature) = (f.project_id, f.signature)"
            " AND m.signature <> '')"
        )
        return int(self._database.query(sql, (project,))[0][0])

    def _beyond_cap(self, project: str | None) -> int:
        """The rows waiting in the reports of waves; a row in two reports counts twice."""
        sql = (
            "SELECT coalesce(sum(json_extract(w.counts, '$.over_cap_left')), 0) FROM wave w"
            " JOIN project p ON p.id = w.project_id WHERE ?1 IS NULL OR p.name = ?1"
        )
        return int(self._database.query(sql, (project,))[0][0])

    def candidate(self, number: int) -> CandidateView:
        """Everything about one memory.

        Raises UnknownIdError, also for a memory of another project than the current one.
        """
        rows = self._database.query(
            f"SELECT {_COLUMNS}, m.prior, m.signal, m.freshness, m.extractor_version, m.refs,"
            " m.first_seen, m.last_seen, m.decided_at, m.superseded_by, m.proof"
            " FROM memory m JOIN project p ON p.id = m.project_id WHERE m.id = ?",
            (number,),
        )
        if not rows:
            raise UnknownIdError(f"There is no candidate or memory #{number}.")
        row = rows[0]
        self._database.ownership.require_name(f"#{number}", row["project"])
        proof = msgspec.json.decode(row["proof"], type=Proof)
        return _view(
            row,
            CandidateView,
            proof=proof if proof.quotes else None,
            source=self._source(number),
        )

    def evidence(self, number: int, *, around: int = 2) -> list[EvidenceView]:
        """The records behind a memory, each with up to `around` records before and after it."""
        found = self._database.query(
            "SELECT * FROM evidence WHERE memory_id = ? ORDER BY id", (number,)
        )
        views = []
        for row in found:
            (record,) = self._records(f"{_RECORD} r.id = ?", (row["record_id"],))
            views.append(
                EvidenceView(
                    memory_id=number,
                    record=record,
                    span_start=row["span_start"],
                    span_end=row["span_end"],
                    rule=row["rule"],
                    before=tuple(reversed(self._neighbours(record.id, "<", "DESC", around))),
                    after=tuple(self._neighbours(record.id, ">", "ASC", around)),
                )
            )
        return views

    def evidence_behind(self, number: int, *, around: int = 2) -> list[EvidenceView]:
        """The evidence of a row and of those hidden behind it, each quote once, then the lines of
        their findings in the sessions without any: something from every session that it counts.
        """
        rows = self._database.query(
            f"SELECT b.id, b.signature FROM memory m JOIN memory b ON {_BEHIND}"
            " WHERE m.id = ? ORDER BY b.id <> m.id, b.id",
            (number,),
        )
        found: dict[tuple[str, int, str], EvidenceView] = {}
        for row in rows:
            for view in self.evidence(row["id"], around=around):
                found.setdefault((view.record.path, view.line, view.quote), view)
        cited = {view.record.seen_in for view in found.values()}
        lines = self._finding_lines(number, {row["signature"] for row in rows} - {""})
        return [*found.values(), *(each for each in lines if each.record.seen_in not in cited)]

    def _finding_lines(self, number: int, signatures: Collection[str]) -> list[EvidenceView]:
        """The lines of the findings with these signatures, as evidence of a row."""
        if not signatures:
            return []
        from reviewer.promotion.rows.finding_rows import lines_of  # late: few reads need them

        return [
            EvidenceView(number, record, 0, len(record.text), "finding", (), ())
            for record in lines_of(self._database, number, signatures)
        ]

    def members(self, number: int) -> list[Member]:
        """The near duplicates behind a row, most similar first."""
        from reviewer.extraction.similarity import similarity

        found = self.rows([number])
        if not found:
            raise UnknownIdError(f"There is no candidate or memory #{number}.")
        rows = self._database.query(
            "SELECT id, content, confidence, status FROM memory WHERE leader_id = ?", (number,)
        )
        members = [
            Member(
                id=row["id"],
                content=row["content"],
                confidence=row["confidence"],
                similarity=similarity(found[0].content, row["content"]),
                status=Status(row["status"]),
                source=self._source(row["id"]),
            )
            for row in rows
        ]
        return sorted(members, key=lambda member: -member.similarity)

    def count_behind(self, ids: Sequence[int]) -> int:
        """The number of near duplicates that wait behind these rows."""
        sql = f"SELECT count(*) FROM memory WHERE status = 'candidate' AND leader_id {AMONG}"
        return int(self._database.query(sql, (listed(ids),))[0][0])

    def wordings(self, number: int) -> list[tuple[str, str]]:
        """Earlier wordings as (time of replacement, content), newest first."""
        return [
            (row["replaced_at"], row["content"])
            for row in self._database.query(
                "SELECT * FROM content_history WHERE memory_id = ? ORDER BY id DESC", (number,)
            )
        ]

    def _condition(self, query: QueueQuery) -> Condition:
        where, parameters = self._in_project(query.project)
        parsed = parse_filter(query.filter)
        kept = ""
        if query.status == "waiting" and "m.deferred" not in parsed.sql:
            kept = " AND m.deferred = 0"
        return Condition(
            f"{_STATUS[query.status]} AND {where} AND {parsed.sql}{kept}",
            (*parameters, *parsed.parameters),
        )

    def _in_project(self, project: str | None) -> tuple[str, tuple[Value, ...]]:
        if project is None:
            return "1", ()
        return "m.project_id = (SELECT id FROM project WHERE name = ?)", (project,)

    def places(self, number: int, *, limit: int = -1) -> tuple[SourceRef, ...]:
        """The sources of a memory, in order; empty if it was written by hand."""
        rows = self._database.query(
            "SELECT e.span_start, r.line_start, r.line_end, r.key, r.text, s.path"
            " FROM evidence e JOIN record r ON r.id = e.record_id"
            " JOIN source s ON s.id = r.source_id WHERE e.memory_id = ? ORDER BY e.id LIMIT ?",
            (number, limit),
        )
        return tuple(map(_source_ref, rows))

    def _source(self, number: int) -> SourceRef | None:
        return next(iter(self.places(number, limit=1)), None)

    def _neighbours(self, record: int, sign: str, order: str, limit: int) -> list[RecordView]:
        return self._records(
            f"{_RECORD} r.source_id = (SELECT source_id FROM record WHERE id = ?1)"
            f" AND r.line_start {sign} (SELECT line_start FROM record WHERE id = ?1)"
            f" ORDER BY r.line_start {order} LIMIT ?2",
            (record, limit),
        )

    def _records(self, sql: str, parameters: Sequence[Value]) -> list[RecordView]:
        return [record_of(row, RecordView) for row in self._database.query(sql, parameters)]


_STATUS = {
    "waiting": "m.status = 'candidate' AND m.leader_id IS NULL AND m.excerpt = 0",
    "candidate": "m.status = 'candidate'",
    "deferred": "m.status = 'candidate' AND m.leader_id IS NULL AND m.deferred = 1",
    "active": "m.status = 'active'",
    "invalid": "m.status = 'invalid'",
    "superseded": "m.status = 'superseded'",
    "graduated": "m.status = 'graduated'",
    "all": "1",
}
STATUSES = tuple(_STATUS)
"""The values of `QueueQuery.status`."""


def _source_ref(row: sqlite3.Row) -> SourceRef:
    end = row["line_end"]
    start = line_of_span(row["text"], row["line_start"], end, row["span_start"])
    return SourceRef(row["path"], start, end, row["key"])


def _view(row: sqlite3.Row, type_: type[Row], **more: object) -> Row:
    """A row of the store as a value with the same names."""
    return msgspec.convert(
        {**dict(row), "flags": tuple(row["flags"].split()), **more}, type_, strict=False
    )
