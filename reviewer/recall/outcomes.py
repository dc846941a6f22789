"""Outcomes of uses: whether the failure came back after the memory was handed over."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum

from msgspec import Struct

from reviewer.clock import from_iso
from reviewer.recall.event_kinds import ERROR, GUARD

SAME_CALL = timedelta(seconds=2)
"""Allowed between a hook's time and that of the call it belongs to."""


class UseOutcome(StrEnum):
    """UNKNOWN: the session has not been read yet, or says nothing about the memory."""

    HELD = "held"
    BROKEN = "broken"
    UNKNOWN = "unknown"


class MemoryUse(Struct, frozen=True):
    """A memory handed to a session. `event`: its kind; `cue`: its commands and signatures;
    `of_memory`: signatures of the failures that the memory is about; `calls`: the average cost of
    one of these, shared by the memories that were handed over together.
    """

    memory: int
    session: str
    event: str
    cue: frozenset[str]
    at: str
    of_memory: frozenset[str] = frozenset()
    calls: float = 0


class SessionFailure(Struct, frozen=True):
    signature: str
    command: str
    first: str
    last: str


def outcome(use: MemoryUse, failures: Sequence[SessionFailure]) -> UseOutcome:
    """The outcome of a use, judged by the failures of its session.

    HELD: the failure had occurred and did not come back. A guard or a prompt proves nothing: the
    failure might not have occurred at all.
    """
    at = from_iso(use.at)
    if at is None:
        return UseOutcome.UNKNOWN
    known = use.cue | use.of_memory
    own = [failure for failure in failures if failure.signature in known or (
        use.event == GUARD and failure.command in use.cue)]  # fmt: skip
    if any(_after(failure.last, at + SAME_CALL) for failure in own):
        return UseOutcome.BROKEN
    return UseOutcome.HELD if use.event == ERROR and own else UseOutcome.UNKNOWN


def uses_of(
    store: sqlite3.Connection, project: str | None, memory: int | None = None
) -> list[tuple[MemoryUse, UseOutcome]]:
    """Every use of the memories of a project, of all projects, or of one memory, with its outcome.
    Packets count only for memories with an error moment.
    """
    one, number = ("", ()) if memory is None else (" AND u.memory_id = ?", (memory,))
    uses = [
        MemoryUse(found, session, event, _lines(cue), at, _lines(own), calls)
        for found, session, event, cue, at, own, calls in store.execute(
            _USES + one, (project, project, *number)
        )
    ]
    if not uses:
        return []
    failed: dict[str, list[SessionFailure]] = defaultdict(list)
    for session, *failure in store.execute(_FAILED):
        failed[session].append(SessionFailure(*failure))
    return [(use, outcome(use, failed.get(use.session, ()))) for use in uses]


def _lines(text: str | None) -> frozenset[str]:
    return frozenset((text or "").split("\n")) - {""}


_USES = """
SELECT u.memory_id, u.session, u.moment, u.cue, u.at,
    (SELECT group_concat(t.value, char(10)) FROM moment t
        WHERE t.memory_id = u.memory_id AND t.kind = 'error'),
    1.0 * m.cost / max(m.times, m.sessions, 1) / together.memories
FROM use_of_memory u JOIN memory m ON m.id = u.memory_id
JOIN (SELECT session, at, count(*) AS memories FROM use_of_memory GROUP BY session, at) together
    ON together.session = u.session AND together.at = u.at
WHERE (? IS NULL OR m.project_id = (SELECT id FROM project WHERE name = ?))
    AND (u.moment <> 'start' OR EXISTS
        (SELECT 1 FROM moment t WHERE t.memory_id = u.memory_id AND t.kind = 'error'))
"""
_FAILED = """
SELECT session, signature, command, first, last FROM finding
WHERE kind IN ('failure', 'environment')
    AND session IN (SELECT session FROM use_of_memory)
"""


def _after(time: str, limit: datetime) -> bool:
    found = from_iso(time)
    return found is not None and found > limit
