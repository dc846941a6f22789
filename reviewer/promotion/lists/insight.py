"""Auto-promotion policies, evaluated as hints (`docs/design.md`, Promotion).

No policy acts: a hint is a badge, and a person decides. The document's confidence policy is left
out, because no confidence reaches its threshold: the highest is .70 x 1.1 x 1.05.
"""

from __future__ import annotations

import math
import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from msgspec import Struct

from reviewer.clock import Clock, from_iso
from reviewer.extraction.flags import INJECTION
from reviewer.promotion.lists.filters import MINE
from reviewer.store.acts import AMONG, listed
from reviewer.store.database import Database
from reviewer.text.numerals import count

REFERENCES = 5
"""N: the sessions or files required by the first policy."""
WITHIN = timedelta(days=7)
"""M: the period in which they say it."""

_TOO_CONSEQUENTIAL = ("validation_claim", "decision")
_CANDIDATES = (
    f"SELECT m.id, m.kind, m.type, m.deferred, m.flags, {MINE} AS mine FROM memory m"
    f" WHERE m.status = 'candidate' AND m.kind <> 'conflict' AND m.id {AMONG}"
)
_REFERENCES = (
    "SELECT e.memory_id, max(coalesce(r.at, m.last_seen)) FROM evidence e"
    " JOIN record r ON r.id = e.record_id JOIN memory m ON m.id = e.memory_id"
    f" WHERE m.id {AMONG} GROUP BY e.memory_id, coalesce(r.session, r.source_id)"
)


class Hint(Struct, frozen=True):
    """A policy in favour of a candidate, and the reason in a few words, for a badge."""

    policy: str
    text: str


class Insight:
    """Evaluates hints. Nothing here decides or writes anything."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def hints(self, ids: Sequence[int]) -> dict[int, tuple[Hint, ...]]:
        """The policies in favour of these candidates; rows without any are omitted."""
        found: dict[int, tuple[Hint, ...]] = {}
        references = self._references(ids, self._clock())
        for row in self._database.query(_CANDIDATES, (listed(ids),)):
            if spoken := tuple(_hints(row, [] if row["deferred"] else references[row["id"]])):
                found[row["id"]] = spoken
        return found

    def _references(self, ids: Sequence[int], now: datetime) -> dict[int, list[datetime]]:
        """The latest time of each session or file that said it WITHIN; one in the future (of
        another clock) counts as now.
        """
        found: dict[int, list[datetime]] = defaultdict(list)
        for number, written in self._database.query(_REFERENCES, (listed(ids),)):
            moment = from_iso(written)
            if moment is not None and moment >= now - WITHIN:
                found[number].append(min(moment, now))
        return found


def _hints(row: sqlite3.Row, times: Sequence[datetime]) -> Iterator[Hint]:
    """The policies in favour of a candidate; none for a row that reads like a planted order."""
    if INJECTION in row["flags"].split():
        return
    entity = row["kind"] == "entity"
    too_consequential = entity and row["type"] in _TOO_CONSEQUENTIAL
    if len(times) >= REFERENCES and not too_consequential:
        days = max(1, math.ceil((max(times) - min(times)) / timedelta(days=1)))
        yield Hint("reference count", f"seen {len(times)} times in {count(days, 'day')}")
    if row["mine"]:
        yield Hint("own words", "from what you wrote")
