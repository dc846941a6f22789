"""Puts ranked candidates into the queue, without a second row for a known statement."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from reviewer.extraction.candidates import Candidate
from reviewer.extraction.entities.entity import EntityCandidate
from reviewer.extraction.entities.facts import Structure
from reviewer.extraction.ranking import Ranking
from reviewer.extraction.similarity import NEAR, similarity
from reviewer.promotion import queue_order
from reviewer.promotion.conflict_rows import may_lead, open_conflicts
from reviewer.promotion.entity_rows import insert_entity
from reviewer.promotion.evidence_rows import add_evidence, record_ids
from reviewer.promotion.known_facts import SHORTLIST, query_of
from reviewer.promotion.known_keys import Key, known_keys, row_with_key
from reviewer.promotion.statement_rows import covering
from reviewer.promotion.views import Kind, proposed_by
from reviewer.proposing.values import Proposer
from reviewer.sources.records import Record, Role, Shape
from reviewer.store.acts import Act, chunks
from reviewer.store.changes import Image
from reviewer.store.database import Database, failures_as_sentences
from reviewer.text.normalise import duplicate_key


class Known:
    """Looks up the memories and entities of a project by wording."""

    def __init__(self, database: Database, project_id: int) -> None:
        self._database = database
        self._connection = database.writer
        self._project_id = project_id
        self._nearest: dict[str, tuple[float, int | None]] = {}

    @staticmethod
    def key_of(candidate: Candidate) -> Key:
        """The key that no two rows of a project share: kind, type and normalised wording."""
        kind = Kind.ENTITY if isinstance(candidate, EntityCandidate) else Kind.MEMORY
        return str(kind), str(candidate.type), duplicate_key(candidate.content)

    def keys(self, candidates: Iterable[Candidate]) -> dict[Key, int]:
        """Ids of the rows, whatever their status, by the key of a candidate."""
        with failures_as_sentences(self._database.path):
            return known_keys(self._connection, self._project_id, map(self.key_of, candidates))

    def novelty(self, candidate: Candidate) -> float:
        """1 minus the highest similarity to a memory of the project."""
        return 1.0 - self._look_up(candidate.content)[0]

    def leader(self, content: str) -> int | None:
        """The waiting row behind which a near duplicate belongs."""
        return self._look_up(content)[1]

    def _look_up(self, content: str) -> tuple[float, int | None]:
        if content not in self._nearest:
            self._nearest[content] = self._search(content)
        return self._nearest[content]

    def _search(self, content: str) -> tuple[float, int | None]:
        query = query_of(content)
        if not query:
            return 0.0, None
        with failures_as_sentences(self._database.path):
            rows = self._connection.execute(
                "SELECT m.content, m.status, coalesce(m.leader_id, m.id) FROM memory_text t"
                " JOIN memory m ON m.id = t.rowid WHERE memory_text MATCH ? AND m.project_id = ?"
                " ORDER BY t.rank LIMIT ?",
                (query, self._project_id, SHORTLIST),
            ).fetchall()
        best, leader, leader_score = 0.0, None, NEAR
        for other, status, row in rows:
            score = similarity(content, other)
            best = max(best, score)
            if status == "candidate" and score >= leader_score:
                leader, leader_score = row, score
        return best, leader


def queue_new(
    act: Act, known: Known, rankings: Sequence[Ranking], *, project_id: int, wave_id: int, now: str
) -> list[int]:
    """Insert ranked candidates with their evidence; near duplicates are queued behind their row.

    Returns the ids, in order. Rows whose key has appeared meanwhile are left out.
    """
    records = record_ids(act, project_id, _candidates(rankings))
    queueing = _Queueing(act, project_id, wave_id, records, now)
    ids: list[int] = []
    for ranking in rankings:
        number = queueing.insert(ranking, known.leader(ranking.candidate.content))
        behind = None if number is None else _first_of(act, number)
        members = [queueing.insert(member, behind) for member in ranking.members]
        ids += (each for each in (number, *members) if each is not None)
    return ids + open_conflicts(act, ids, now)


def count_again(
    act: Act, sightings: Sequence[tuple[int, Candidate]], *, project_id: int, now: str
) -> None:
    """Record that known memories, by id, were repeated: add evidence and raise the count.

    An active one gains references, any other is `seen` more often; a rejected one stays rejected.
    """
    again: dict[int, list[Candidate]] = {}
    for number, candidate in sightings:
        again.setdefault(number, []).append(candidate)
    records = record_ids(act, project_id, (candidate for _, candidate in sightings))
    for chunk in chunks(sorted(again)):
        marks = ",".join("?" * len(chunk))
        sql = f"SELECT id, status, seen, refs FROM memory WHERE id IN ({marks})"
        updates: list[tuple[int, Image]] = []
        for number, status, seen, refs in act.query(sql, chunk):
            times = len(again[number])
            counted = {"refs": refs + times} if status == "active" else {"seen": seen + times}
            updates.append((number, {**counted, "last_seen": now}))
        act.update_each("memory", updates)
        for number in chunk:
            add_evidence(act, number, again[number], records)


class _Queueing(NamedTuple):
    """Candidates of one wave on their way into the queue. `records`: row ids by key."""

    act: Act
    project_id: int
    wave_id: int
    records: dict[str, int]
    now: str

    def insert(self, ranking: Ranking, leader: int | None) -> int | None:
        """The id of the new row, behind its leader; None for a statement that is known by now."""
        act, records = self.act, self.records
        candidate = ranking.candidate
        kind, type_, key = Known.key_of(candidate)
        if row_with_key(act, self.project_id, (kind, type_, key)):
            return None
        if kind == Kind.MEMORY and candidate.record.key in records:
            place = (records[candidate.record.key], candidate.span_start, candidate.span_end)
            if (statement := covering(act, *place)) is not None:
                if statement.status != "candidate":
                    return None  # what it says was decided on in better words
                leader = statement.id
        row: Image = {
            "project_id": self.project_id,
            "wave_id": self.wave_id,
            "kind": kind,
            "type": type_,
            "content": candidate.content,
            "key": key,
            "status": "candidate",
            "rule": candidate.rule,
            "extractor_version": candidate.extractor_version,
            "prior": candidate.prior,
            "signal": candidate.signal,
            "freshness": candidate.freshness,
            "confidence": round(candidate.confidence, 4),
            "rank": queue_order.rank(
                own_words=is_said_by_the_person(candidate.record),
                sessions=1,
                cost=0,
                quality=ranking.score,
            ),
            "flags": " ".join(candidate.flags),
            "leader_id": leader if leader and may_lead(act, leader, candidate) else None,
            "seen": ranking.seen,
            "first_seen": self.now,
            "last_seen": self.now,
            "pending_since": self.now,
            **proposed_by(Proposer.NOTES),
        }
        if isinstance(candidate, EntityCandidate):
            number = insert_entity(act, row, Structure.of(candidate))
        else:
            number = act.insert("memory", **row)
        add_evidence(act, number, (candidate, *ranking.also), records)
        return number


def is_said_by_the_person(record: Record) -> bool:
    """Whether a record is the person's own words in a dialogue."""
    return record.role is Role.USER and record.shape is Shape.TURN


def _first_of(act: Act, number: int) -> int:
    """The row that leads a near duplicate, or the row itself."""
    (leader,) = act.query("SELECT leader_id FROM memory WHERE id = ?", (number,))[0]
    return number if leader is None else int(leader)


def _candidates(rankings: Sequence[Ranking]) -> Iterator[Candidate]:
    for ranking in rankings:
        for row in (ranking, *ranking.members):
            yield row.candidate
            yield from row.also
