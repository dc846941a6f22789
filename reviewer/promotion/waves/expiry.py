"""Proposes memories that were not used for a long time for retirement.

Each is a row of the queue, and nothing expires by itself: promoting the row retires the memory,
rejecting it keeps the memory, which is not proposed again for UNUSED.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from reviewer.clock import Clock, from_iso, iso
from reviewer.promotion import queue_order
from reviewer.promotion.rows.decided_rows import RETIRE
from reviewer.promotion.rows.finding_rows import GONE_AFTER
from reviewer.promotion.rows.memory_rows import insert_row, row_without_rules
from reviewer.promotion.views import proposed_by
from reviewer.proposing.values import Proposer
from reviewer.store.acts import Act, Scope
from reviewer.store.ledger import Ledger
from reviewer.text.clip import clip
from reviewer.text.normalise import duplicate_key

UNUSED = timedelta(days=90)
MAX_WAITING = 10
"""Proposals waiting at a time."""
QUOTED_CHARS = 160
"""Characters of a memory quoted in its proposal."""


def propose_retirements(ledger: Ledger, clock: Clock, project: str) -> int:
    """Queue a row for each active memory that may be retired, withdraw rows whose reason is gone,
    and lower old failures of services; returns the number of new rows.
    """
    now = clock()
    with ledger.act(RETIRE, scope=Scope.INTAKE) as act:
        rows = act.query("SELECT id FROM project WHERE name = ?", (project,))
        if not rows:
            return 0
        ((number,),) = rows
        new = _queue(act, number, _unused(act, number, now), now)
        _lower_stale_failures(act, number, iso(now - GONE_AFTER))
        act.title = f"Proposed {new} for retirement" if new else "Updated the queue"
    return new


def _unused(act: Act, project: int, now: datetime) -> dict[int, str]:
    """The memories that were not used for a long time, each with how long, in words; without those
    that are meant for packets only.
    """
    rows = act.query(
        "SELECT m.id, coalesce(m.decided_at, m.first_seen),"
        " coalesce((SELECT max(u.at) FROM use_of_memory u WHERE u.memory_id = m.id"
        " AND u.moment <> 'start'), '') FROM memory m WHERE m.project_id = ?"
        " AND m.status = 'active' AND m.kind IN ('memory', 'entity') AND m.moments <> 'always'"
        " ORDER BY m.id",
        (project,),
    )
    if all(used < iso(now - UNUSED) for *_, used in rows):
        return {}  # agents are handed no memories of the project, so no use means nothing
    times = {number: from_iso(max(decided, used)) for number, decided, used in rows}
    return {
        number: f"not used for {(now - since).days} days"
        for number, since in times.items()
        if since is not None and now - since >= UNUSED
    }


def _queue(act: Act, project: int, reasons: Mapping[int, str], now: datetime) -> int:
    known = {
        int(signature.rpartition("#")[2]): row
        for signature, *row in act.query(
            "SELECT signature, id, status, coalesce(decided_at, '') FROM memory"
            " WHERE project_id = ? AND rule = ?",
            (project, RETIRE),
        )
    }
    waiting = 0
    for memory, (row, status, _) in known.items():
        if status == "candidate" and memory in reasons:
            waiting += 1
        elif status == "candidate":
            act.update(
                "memory", row, status="superseded", superseded_by=memory, decided_at=iso(now)
            )
    new = 0
    for memory, why in reasons.items():
        if waiting + new >= MAX_WAITING:
            break
        ((type_, content),) = act.query("SELECT type, content FROM memory WHERE id = ?", (memory,))
        text = f"Retire #{memory} ({why}): “{clip(content, QUOTED_CHARS)}”"
        if memory not in known:
            columns = row_without_rules(project, type_, text, rule=RETIRE, version="1")
            columns |= {
                **proposed_by(Proposer.PROGRAM),
                "rank": queue_order.RETIREMENT,
                "flags": RETIRE,
                "signature": f"{RETIRE} #{memory}",
            }
            insert_row(act, columns, iso(now))
            new += 1
            continue
        row, status, decided = known[memory]
        if status != "candidate" and decided <= iso(now - UNUSED):
            act.update(
                "memory", row, content=text, key=duplicate_key(text), status="candidate",
                superseded_by=None, decided_at=None, pending_since=iso(now),
            )  # fmt: skip
            new += 1
    return new


def _lower_stale_failures(act: Act, project: int, before: str) -> None:
    rows = act.query(
        "SELECT m.id FROM memory m WHERE m.project_id = ?1 AND m.status = 'candidate'"
        " AND m.rule = 'finding.environment' AND m.rank > 0 AND ?2 > (SELECT max(f.last)"
        " FROM finding f WHERE f.project_id = ?1 AND f.signature = m.signature)",
        (project, before),
    )
    act.update_many("memory", [row[0] for row in rows], rank=queue_order.SUNK)
