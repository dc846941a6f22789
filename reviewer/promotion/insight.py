"""Policy hints of candidates, read from the store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reviewer.clock import Clock, from_iso, iso
from reviewer.extraction.flags import INJECTION
from reviewer.promotion.looked_at import LookedAt
from reviewer.promotion.policies import WITHIN, Hint, Recent, Reference, Standing, hints, recent
from reviewer.sources.records import Role
from reviewer.store.acts import chunks
from reviewer.store.database import Database, failures_as_sentences

_FIRST_EVIDENCE = (
    " LEFT JOIN evidence e ON e.id = (SELECT min(id) FROM evidence WHERE memory_id = m.id)"
    " LEFT JOIN record r ON r.id = e.record_id LEFT JOIN source s ON s.id = r.source_id"
)


class Insight:
    """Evaluates hints. Nothing here decides or writes anything."""

    def __init__(self, database: Database, clock: Clock, looked_at: LookedAt) -> None:
        self._database = database
        self._looked_at = looked_at
        self._clock = clock

    def hints(self, ids: Sequence[int]) -> dict[int, tuple[Hint, ...]]:
        """The policies that speak for those candidates; rows without any are left out."""
        found: dict[int, tuple[Hint, ...]] = {}
        for number, standing in self._standings(ids):
            if spoken := hints(standing):
                found[number] = spoken
        return found

    def _standings(self, ids: Sequence[int]) -> Iterator[tuple[int, Standing]]:
        looked_at = self._looked_at.ids()
        for chunk in chunks(ids):
            marks = ",".join("?" * len(chunk))
            sql = (
                "SELECT m.id, m.kind, m.type, m.deferred, m.flags, r.role"
                f" FROM memory m{_FIRST_EVIDENCE} WHERE m.status = 'candidate'"
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
