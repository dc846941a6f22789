"""Badges and the learning order: what the policies and the person's own past say of rows."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePath
from typing import NamedTuple

from reviewer.clock import Clock, from_iso, iso
from reviewer.extraction.candidates import PRIORS, RuleClass
from reviewer.extraction.flags import INJECTION
from reviewer.promotion.acceptance_model import (
    Preference,
    Score,
    Traits,
    decision,
    features_of,
    learn,
)
from reviewer.promotion.looked_at import LookedAt
from reviewer.promotion.policies import WITHIN, Hint, Recent, Reference, Standing, hints, recent
from reviewer.promotion.queue import Queue
from reviewer.promotion.views import QueueQuery, Sort
from reviewer.proposing.values import Proposer
from reviewer.sources.records import Role
from reviewer.store.acts import chunks
from reviewer.store.database import Database, failures_as_sentences

_FIRST_EVIDENCE = (
    " LEFT JOIN evidence e ON e.id = (SELECT min(id) FROM evidence WHERE memory_id = m.id)"
    " LEFT JOIN record r ON r.id = e.record_id LEFT JOIN source s ON s.id = r.source_id"
)
_TRAITS = (
    "SELECT m.id, m.type, m.rule, coalesce(r.role, '') AS role, coalesce(s.format, '') AS format,"
    " coalesce(s.path, '') AS path, length(m.content) AS length, m.confidence, m.flags,"
    " (SELECT count(*) FROM memory n WHERE n.leader_id = m.id) AS members, m.status, m.deferred,"
    " m.proposer, m.need, m.reason"
    f" FROM memory m{_FIRST_EVIDENCE} WHERE m.kind <> 'conflict' AND "
)
_BY_PRIOR = {prior: rule_class for rule_class, prior in PRIORS.items()}


class _Decision(NamedTuple):
    status: str
    deferred: bool
    reason: str


class Insight:
    """Evaluates hints and the learning order. Nothing here decides or writes anything."""

    def __init__(self, database: Database, clock: Clock, queue: Queue, looked_at: LookedAt) -> None:
        self._database = database
        self._looked_at = looked_at
        self._clock = clock
        self._queue = queue
        self._learned: tuple[int, Preference | None] | None = None

    def hints(self, ids: Sequence[int]) -> dict[int, tuple[Hint, ...]]:
        """The policies that speak for those candidates; rows without any are left out."""
        found: dict[int, tuple[Hint, ...]] = {}
        for number, standing in self._standings(ids):
            if spoken := hints(standing):
                found[number] = spoken
        return found

    def preference(self) -> Preference | None:
        """What this store's decisions say of their person; None until there are 30 of them."""
        with failures_as_sentences(self._database.path):
            reader = self._database.reader()
            last = reader.execute("SELECT max(id) FROM ledger WHERE scope = 'decision'").fetchone()
            stamp = int(last[0] or 0)
            if self._learned is None or self._learned[0] != stamp:
                rows = reader.execute(
                    f"{_TRAITS} m.status IN ('active', 'graduated', 'invalid')"
                    " AND m.decided_at IS NOT NULL"
                )
                decisions = (
                    decision(traits, promoted=made.status != "invalid", reason=made.reason)
                    for _, traits, made in map(_traits, rows)
                )
                self._learned = stamp, learn(each for each in decisions if each is not None)
        return self._learned[1]

    def score(self, number: int) -> Score | None:
        """How likely the person promotes a candidate, with the three strongest reasons."""
        preference = self.preference()
        if preference is None:
            return None
        for _, traits, _ in self._traits([number]):
            return preference.score(features_of(traits))
        return None

    def order(
        self, query: QueueQuery, *, cancelled: Callable[[], bool] | None = None
    ) -> array[int]:
        """The ids of a query, the likeliest first, conflicts before, excerpts and deferred ones
        behind them; in order of rank while nothing is learned.

        Raises FilterError, and ReadStoppedError as soon as `cancelled` says that nobody waits.
        """
        by_rank = QueueQuery(query.project, query.status, query.filter, Sort.RANK)
        ids = self._queue.ids(by_rank, cancelled=cancelled)
        preference = self.preference()
        if preference is None:
            return ids
        known: dict[Traits, float] = {}
        places: dict[int, tuple[bool, bool, float]] = {}
        with self._database.reading_until(cancelled):
            for number, traits, standing in self._traits(ids):
                if traits not in known:
                    known[traits] = preference.score(features_of(traits)).log_odds
                excerpt = traits.proposer == Proposer.EXCERPT
                places[number] = standing.deferred, excerpt, -known[traits]
        first = (False, False, -math.inf)
        return array("q", sorted(ids, key=lambda number: places.get(number, first)))

    def _traits(self, ids: Sequence[int]) -> Iterator[tuple[int, Traits, _Decision]]:
        for chunk in chunks(ids):
            sql = f"{_TRAITS} m.id IN ({','.join('?' * len(chunk))})"
            with failures_as_sentences(self._database.path):
                yield from map(_traits, self._database.reader().execute(sql, tuple(chunk)))

    def _standings(self, ids: Sequence[int]) -> Iterator[tuple[int, Standing]]:
        looked_at = self._looked_at.ids()
        for chunk in chunks(ids):
            marks = ",".join("?" * len(chunk))
            sql = (
                "SELECT m.id, m.kind, m.type, m.content, m.prior, m.confidence, m.deferred,"
                f" m.flags, r.role FROM memory m{_FIRST_EVIDENCE} WHERE m.status = 'candidate'"
                f" AND m.kind <> 'conflict' AND m.id IN ({marks})"
            )
            with failures_as_sentences(self._database.path):
                rows = self._database.reader().execute(sql, tuple(chunk)).fetchall()
            references = self._references(chunk)
            for row in rows:
                yield (
                    row["id"],
                    Standing(
                        type=row["type"],
                        content=row["content"],
                        rule_class=_BY_PRIOR.get(row["prior"], RuleClass.SENTENCE),
                        confidence=row["confidence"],
                        role=Role(row["role"]) if row["role"] else Role.NOTE,
                        entity=row["kind"] == "entity",
                        recent=references.get(row["id"], Recent()),
                        looked_at=bool(row["deferred"]) or row["id"] in looked_at,
                        planted=INJECTION in row["flags"].split(),
                    ),
                )

    def _references(self, ids: Sequence[int]) -> dict[int, Recent]:
        """How often each was repeated in the period of the reference policy.

        A statement that is proved by several quotes of one session was said there once.
        """
        now = self._clock()
        sql = (
            "SELECT e.memory_id, coalesce(r.at, m.last_seen), coalesce(r.session, r.source_id),"
            " m.proof <> '{}'"
            " FROM evidence e JOIN record r ON r.id = e.record_id"
            " JOIN memory m ON m.id = e.memory_id"
            f" WHERE coalesce(r.at, m.last_seen) >= ? AND m.id IN ({','.join('?' * len(ids))})"
        )
        repeated: dict[int, list[Reference]] = {}
        at_places: set[tuple[int, str]] = set()
        with failures_as_sentences(self._database.path):
            for row in self._database.reader().execute(sql, (iso(now - WITHIN)[:10], *ids)):
                moment, place = from_iso(row[1]), (int(row[0]), str(row[2]))
                if moment is None or (row[3] and place in at_places):
                    continue
                at_places.add(place)
                repeated.setdefault(row[0], []).append(Reference(moment, place[1]))
        return {number: recent(references, now) for number, references in repeated.items()}


def _traits(row: tuple[object, ...]) -> tuple[int, Traits, _Decision]:
    number, type_, rule, role, format_, path, length, confidence, flags, members, *rest = row
    status, deferred, proposer, need, reason = rest
    traits = Traits(
        type=str(type_),
        rule=str(rule),
        role=str(role),
        format=str(format_),
        folder=PurePath(str(path)).parent.name,
        length=int(str(length)),
        confidence=float(str(confidence)),
        flags=tuple(str(flags).split()),
        members=int(str(members)),
        proposer=str(proposer),
        need=str(need),
    )
    return int(str(number)), traits, _Decision(str(status), bool(deferred), str(reason))
