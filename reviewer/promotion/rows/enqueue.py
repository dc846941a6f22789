"""Puts new rows into the queue, without duplicates of known statements."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from reviewer.extraction.candidates import Candidate
from reviewer.extraction.entities.entity import EntityCandidate, Structure
from reviewer.extraction.ranking import Ranking
from reviewer.promotion import queue_order
from reviewer.promotion.rows.conflict_rows import follow_conflicts
from reviewer.promotion.rows.decided_rows import hide_behind, no_longer_doubted
from reviewer.promotion.rows.evidence_rows import SourcePlace, add_places, record_ids
from reviewer.promotion.rows.known_rows import Key, StoredStatements, row_with_key
from reviewer.promotion.rows.memory_rows import counted_again, insert_row, new_columns
from reviewer.promotion.views import OVER_CAP, RowKind
from reviewer.proposing.values import Proposer
from reviewer.sources.records import Role, Shape
from reviewer.store.acts import AMONG, Act, listed
from reviewer.store.changes import Image
from reviewer.text.normalise import duplicate_key

COVERED_FROM = 0.8
"""The share of a cited span inside a quote, or of the quote inside the span, from which a statement
covers an excerpt that the rules found there.
"""
SHORTEST_QUOTE = 40
"""Characters; a shorter quote inside a span does not cover it."""


KeyedPlace = tuple[str, int, int, str, str]
"""Key of a record, start and end of the span, rule, and version of the extractor."""


class NewRow(Struct, frozen=True):
    """A row for the queue, with its sources; beyond the cap, a line of the wave's report."""

    columns: Image
    places: tuple[KeyedPlace, ...]
    score: float
    """Its rank among those beyond the cap."""
    structure: Structure | None = None
    """For entities only."""
    reason: str = OVER_CAP

    @classmethod
    def of(cls, ranking: Ranking) -> NewRow:
        """The row of a candidate found by the rules."""
        candidate = ranking.candidate
        kind, type_, _ = key_of(candidate)
        said = candidate.record.role is Role.USER and candidate.record.shape is Shape.TURN
        rank = queue_order.rank(own_words=said, sessions=1, cost=0, quality=ranking.score)
        columns = new_columns(
            type_,
            candidate.content,
            kind=kind,
            rule=candidate.rule,
            version=candidate.extractor_version,
            proposer=Proposer.NOTES,
            rank=rank,
            prior=candidate.prior,
            signal=candidate.signal,
            freshness=candidate.freshness,
        )
        if times := [each.record.at for each in (candidate, *ranking.also) if each.record.at]:
            columns |= {"first_seen": min(times), "last_seen": max(times)}
        return cls(
            columns={**columns, "flags": " ".join(candidate.flags), "seen": ranking.seen},
            places=tuple(map(place_of, (candidate, *ranking.also))),
            score=ranking.score,
            structure=candidate.structure if isinstance(candidate, EntityCandidate) else None,
        )


def key_of(candidate: Candidate) -> Key:
    kind = RowKind.ENTITY if isinstance(candidate, EntityCandidate) else RowKind.MEMORY
    return str(kind), str(candidate.type), duplicate_key(candidate.content)


def keys_of(candidate: Candidate) -> tuple[Key, ...]:
    """Its key, and the one that the decision of a record had before it named its subject."""
    kind, type_, key = key_of(candidate)
    _, subject, rest = candidate.content.partition(": ")
    if candidate.rule == "decision_section" and subject:
        return (kind, type_, key), (kind, type_, duplicate_key(rest))
    return ((kind, type_, key),)


class QueueWriter:
    """Writes proposed rows into the queue of a project, inside an act: as new rows, or as evidence
    of rows that say the same, whatever their status.
    """

    def __init__(self, act: Act, project_id: int, now: str) -> None:
        self.act = act
        self.project_id = project_id
        self.now = now
        self.stored = StoredStatements(act, project_id)
        self.new: list[int] = []
        """The new rows, each followed by the conflicts that it opens."""
        self.again: defaultdict[int, list[KeyedPlace]] = defaultdict(list)
        """Where known rows were found again, by id."""

    def add(self, row: NewRow, wave_id: int) -> bool:
        """Queue a row, unless another one says the same and is found again; returns whether it is
        new.
        """
        kind, content = str(row.columns["kind"]), str(row.columns["content"])
        known = self.stored.look_up(kind, content).row
        if known is not None:
            self.again[known] += row.places
            return False
        self.insert(row, wave_id)
        return True

    def insert(self, row: NewRow, wave_id: int) -> int:
        """Insert a row with its evidence; returns its id, or 0 if there is one with its key."""
        kind, type_, key = (row.columns[name] for name in ("kind", "type", "key"))
        if row_with_key(self.act, self.project_id, (kind, type_, key)):
            return 0
        columns = {**row.columns, "project_id": self.project_id, "wave_id": wave_id}
        number = insert_row(self.act, columns, self.now, row.structure)
        keys = (place[0] for place in row.places)
        places = in_store(row.places, record_ids(self.act, self.project_id, keys))
        is_statement = row.columns.get("proof", "{}") != "{}"
        (add_quotes if is_statement else add_places)(self.act, number, places)
        self.stored.add(number, str(kind), str(row.columns["content"]))
        self.new += [number, *follow_conflicts(self.act, [number], self.now)[0]]
        return number

    def count_again(self) -> None:
        """Add the evidence of the rows that were found again, and raise their counts; those that
        their proposers doubted wait.
        """
        keys = (place[0] for places in self.again.values() for place in places)
        records = record_ids(self.act, self.project_id, keys)
        dated = f"SELECT id, at FROM record WHERE at IS NOT NULL AND id {AMONG}"
        said_at = dict(self.act.query(dated, (listed(records.values()),)))
        sql = f"SELECT id, status, seen, refs, first_seen, last_seen FROM memory WHERE id {AMONG}"
        updates: list[tuple[int, Image]] = []
        for number, status, seen, refs, *times in self.act.query(sql, (listed(self.again),)):
            again = self.again[number]
            times += (said_at.get(records.get(place[0]), self.now) for place in again)
            updates.append((number, counted_again(status, seen, refs, times, len(again))))
        self.act.update_each("memory", updates)
        no_longer_doubted(self.act, self.again)
        for number, places in sorted(self.again.items()):
            add_places(self.act, number, in_store(places, records))


def in_store(places: Iterable[KeyedPlace], records: Mapping[str, int]) -> list[SourcePlace]:
    """The places in records of the store, by their keys."""
    return [SourcePlace(records[each[0]], *each[1:]) for each in places if each[0] in records]


def add_quotes(act: Act, number: int, places: Sequence[SourcePlace]) -> None:
    """Add the quotes of a statement, and hide the excerpts that rules found there behind it."""
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
            (*place[:3], number, COVERED_FROM, SHORTEST_QUOTE),
        )
        hide_behind(act, [row for (row,) in covered], number)


def place_of(of: Candidate) -> KeyedPlace:
    return of.record.key, of.span_start, of.span_end, of.rule, of.extractor_version
