"""Puts new rows into the queue, without duplicates of known statements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from msgspec import Struct

from reviewer.extraction.candidates import Candidate
from reviewer.extraction.entities.entity import EntityCandidate, Structure
from reviewer.extraction.ranking import Ranking
from reviewer.extraction.similarity import NEAR, similarity
from reviewer.promotion import queue_order
from reviewer.promotion.rows.conflict_rows import follow_conflicts, may_lead
from reviewer.promotion.rows.decided_rows import hide
from reviewer.promotion.rows.entity_rows import insert_row
from reviewer.promotion.rows.evidence_rows import SourcePlace, add_places, record_ids
from reviewer.promotion.rows.known_facts import SHORTLIST, query_of
from reviewer.promotion.rows.known_keys import Key, known_keys, row_with_key
from reviewer.promotion.views import OVER_CAP, RowKind, proposed_by
from reviewer.proposing.values import Proposer
from reviewer.sources.records import Record, Role, Shape
from reviewer.store.acts import AMONG, Act, listed
from reviewer.store.changes import Image
from reviewer.text.normalise import duplicate_key

MAX_COVERED = 0.8
"""The share of a cited span inside a quote, or of the quote inside the span, from which a statement
covers what the rules found there.
"""
SHORT_QUOTE = 40
"""Characters; a shorter quote inside a span does not cover it."""


Place = tuple[str, int, int, str, str]
"""Key of a record, start and end of the span, rule, and version of the extractor."""


class NewRow(Struct, frozen=True):
    """A row for the queue, with its sources; beyond the cap, a line of the wave's report."""

    columns: Image
    places: tuple[Place, ...]
    score: float
    """Its rank among those beyond the cap."""
    structure: Structure | None = None
    """For entities only."""
    reason: str = OVER_CAP

    @classmethod
    def of(cls, ranking: Ranking) -> NewRow:
        """The row of a candidate found by the rules."""
        candidate = ranking.candidate
        kind, type_, key = KnownRows.key_of(candidate)
        own_words = is_said_by_the_person(candidate.record)
        return cls(
            columns={
                "kind": kind,
                "type": type_,
                "content": candidate.content,
                "key": key,
                "rule": candidate.rule,
                "extractor_version": candidate.extractor_version,
                "prior": candidate.prior,
                "signal": candidate.signal,
                "freshness": candidate.freshness,
                "confidence": round(candidate.confidence, 4),
                "rank": queue_order.rank(
                    own_words=own_words, sessions=1, cost=0, quality=ranking.score
                ),
                "flags": " ".join(candidate.flags),
                "seen": ranking.seen,
                **proposed_by(Proposer.NOTES),
            },
            places=tuple(map(_place, (candidate, *ranking.also))),
            score=ranking.score,
            structure=candidate.structure if isinstance(candidate, EntityCandidate) else None,
        )


class KnownRows:
    """Looks up the memories and entities of a project by wording, inside an act."""

    def __init__(self, act: Act, project_id: int) -> None:
        self._act = act
        self._project_id = project_id
        self._near = cache(self._search)

    @staticmethod
    def key_of(candidate: Candidate) -> Key:
        """The key, unique in a project: kind, type and normalised wording."""
        kind = RowKind.ENTITY if isinstance(candidate, EntityCandidate) else RowKind.MEMORY
        return str(kind), str(candidate.type), duplicate_key(candidate.content)

    def keys(self, candidates: Iterable[Candidate]) -> dict[Key, int]:
        """Ids of the rows with any status, by the key of a candidate."""
        return known_keys(self._act.query, self._project_id, map(self.key_of, candidates))

    def novelty(self, candidate: Candidate) -> float:
        """1 minus the highest similarity to a memory of the project."""
        return 1.0 - self._near(candidate.content)[0]

    def leader(self, content: str) -> int | None:
        """The waiting row for a near duplicate to be hidden behind."""
        return self._near(content)[1]

    def _search(self, content: str) -> tuple[float, int | None]:
        query = query_of(content)
        if not query:
            return 0.0, None
        rows = self._act.query(
            "SELECT m.content, m.status, coalesce(m.leader_id, m.id) FROM memory_text t"
            " JOIN memory m ON m.id = t.rowid WHERE memory_text MATCH ? AND m.project_id = ?"
            " ORDER BY t.rank LIMIT ?",
            (query, self._project_id, SHORTLIST),
        )
        best, leader, leader_score = 0.0, None, NEAR
        for other, status, row in rows:
            score = similarity(content, other)
            best = max(best, score)
            if status == "candidate" and score >= leader_score:
                leader, leader_score = row, score
        return best, leader


def queue_rows(
    act: Act,
    rows: Sequence[NewRow],
    *,
    project_id: int,
    wave_id: int,
    now: str,
    known: KnownRows | None = None,
    leaders: Sequence[int | None] = (),
) -> list[int]:
    """Insert rows with their evidence; near duplicates are hidden behind a waiting row.

    `leaders`: for each row, the index in `rows` of an earlier near duplicate; otherwise such a row
    is looked up in `known`. Returns the ids, in order, and those of the conflicts opened by
    entities. Rows whose key has appeared meanwhile are left out.
    """
    records = record_ids(act, project_id, (place[0] for row in rows for place in row.places))
    written: list[int | None] = []
    for row, leader in zip(rows, leaders or [None] * len(rows), strict=True):
        kind, type_, key = (row.columns[name] for name in ("kind", "type", "key"))
        if row_with_key(act, project_id, (kind, type_, key)):
            written.append(None)
            continue
        columns: Image = {
            "first_seen": now,
            "last_seen": now,
            **row.columns,
            "status": "candidate",
            "project_id": project_id,
            "wave_id": wave_id,
            "pending_since": now,
        }
        behind = None if leader is None else written[leader]
        if leader is None and known is not None:
            behind = known.leader(str(row.columns["content"]))
        behind = _first_of(act, behind)
        if behind is not None and may_lead(act, behind, row.columns, row.structure):
            columns["leader_id"] = behind
        number = insert_row(act, columns, row.structure)
        is_statement = row.columns.get("proof", "{}") != "{}"
        (add_quotes if is_statement else add_places)(act, number, stored(row.places, records))
        written.append(number)
    ids = [number for number in written if number is not None]
    return ids + follow_conflicts(act, ids, now)[0]


def stored(places: Iterable[Place], records: Mapping[str, int]) -> list[SourcePlace]:
    """The places in records of the store, by their keys."""
    return [SourcePlace(records[each[0]], *each[1:]) for each in places if each[0] in records]


def add_quotes(act: Act, number: int, places: Sequence[SourcePlace]) -> None:
    """Add the quotes of a statement, and hide what the rules found there behind it."""
    add_places(act, number, places)
    for place in places:
        covered = act.query(
            "SELECT DISTINCT m.id FROM evidence e JOIN memory m ON m.id = e.memory_id"
            " WHERE e.record_id = ?1 AND m.proof = '{}' AND m.status = 'candidate'"
            " AND m.kind = 'memory' AND m.id <> ?4"
            # Its first evidence is its own place; the others say the same elsewhere.
            " AND e.id = (SELECT min(f.id) FROM evidence f WHERE f.memory_id = m.id)"
            " AND min(e.span_end, ?3) - max(e.span_start, ?2) >= ?5"
            "  * min(e.span_end - e.span_start, max(?3 - ?2, ?6))",
            (place.record, place.start, place.end, number, MAX_COVERED, SHORT_QUOTE),
        )
        hide(act, [row for (row,) in covered], number)


def count_again(
    act: Act, sightings: Sequence[tuple[int, Candidate]], *, project_id: int, now: str
) -> None:
    """Record that known memories, by id, were repeated: add evidence and raise the count.

    An active one gains references, any other is `seen` more often; a rejected one stays rejected.
    """
    again: dict[int, list[Candidate]] = {}
    for number, candidate in sightings:
        again.setdefault(number, []).append(candidate)
    records = record_ids(act, project_id, (each.record.key for _, each in sightings))
    sql = f"SELECT id, status, seen, refs FROM memory WHERE id {AMONG}"
    updates: list[tuple[int, Image]] = []
    for number, status, seen, refs in act.query(sql, (listed(again),)):
        times = len(again[number])
        counted = {"refs": refs + times} if status == "active" else {"seen": seen + times}
        updates.append((number, {**counted, "last_seen": now}))
    act.update_each("memory", updates)
    for number, candidates in sorted(again.items()):
        add_places(act, number, stored(map(_place, candidates), records))


def is_said_by_the_person(record: Record) -> bool:
    """Whether a record is the person's own words in a dialogue."""
    return record.role is Role.USER and record.shape is Shape.TURN


def _place(of: Candidate) -> Place:
    return of.record.key, of.span_start, of.span_end, of.rule, of.extractor_version


def _first_of(act: Act, number: int | None) -> int | None:
    """The leader of a near duplicate, or the row itself."""
    for (leader,) in act.query("SELECT leader_id FROM memory WHERE id = ?", (number,)):
        return number if leader is None else int(leader)
    return None
