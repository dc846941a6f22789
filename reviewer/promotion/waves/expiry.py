"""Proposes memories for retirement: long unused, or no longer in their source.

Each is a row of the queue, and nothing expires by itself: promoting the row retires the memory,
rejecting it keeps the memory, which is not proposed again for UNUSED.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from reviewer.clock import Clock, from_iso, iso
from reviewer.promotion import queue_order
from reviewer.promotion.lists.source_view import QUOTE, SEARCHED, record_state
from reviewer.promotion.rows.decided_rows import OF_DECISION, RETIRE
from reviewer.promotion.rows.finding_rows import GONE_AFTER
from reviewer.promotion.rows.memory_rows import insert_row, row_without_rules
from reviewer.promotion.views import SourceState, proposed_by
from reviewer.proposing.values import Proposer
from reviewer.sources.records import Shape
from reviewer.store.acts import Act, Scope
from reviewer.store.ledger import Ledger
from reviewer.text.clip import clip
from reviewer.text.normalise import duplicate_key

UNUSED = timedelta(days=90)
MAX_WAITING = 10
"""Proposals waiting at a time."""
QUOTED_CHARS = 160
"""Characters of a memory quoted in its proposal."""
GIT_SECONDS = 5
SAFE_SETTINGS = ("-c", "core.fsmonitor=false", "-c", "log.showSignature=false")
"""Overrides of repository settings that would start programs."""
NO_FETCH = {"GIT_ALLOW_PROTOCOL": "none"}
"""Keeps git from fetching missing objects with any program named in a repository's settings."""
MAX_NAMES = 20
"""Missing files looked up in git."""

_PATH = re.compile(r"`([\w.-]+(?:/[\w.-]+)+\.\w{1,8})`")
"""A file in backticks with its folder; a bare name may be anything."""


def propose_retirements(ledger: Ledger, clock: Clock, project: str) -> int:
    """Queue a row for each active memory that may be retired, withdraw rows whose reason is gone,
    and lower old failures of services; returns the number of new rows.
    """
    now = clock()
    with ledger.act(RETIRE, scope=Scope.INTAKE) as act:
        rows = act.query("SELECT id, root FROM project WHERE name = ?", (project,))
        if not rows:
            return 0
        number, roots = rows[0]
        reasons = _reasons(act, number, roots.split("\n"), now)
        new = _queue(act, number, reasons, now)
        _lower_stale_failures(act, number, iso(now - GONE_AFTER))
        act.title = f"Proposed {new} for retirement" if new else "Updated the queue"
    return new


def _reasons(act: Act, project: int, roots: Sequence[str], now: datetime) -> dict[int, str]:
    """Why memories may be retired, in words, by id."""
    rows = act.query(_ACTIVE, (OF_DECISION, project))
    names = {row[0]: _PATH.findall(row[1]) for row in rows}
    removed = removed_files(roots, {name for each in names.values() for name in each})
    in_use = any(used >= iso(now - UNUSED) for _, _, _, used, *_ in rows)
    """Agents are handed memories of the project; otherwise no use means nothing."""
    found: dict[int, str] = {}
    for number, _, decided, used, *place in rows:
        since = from_iso(max(decided, used))
        if gone := next(filter(removed.get, names[number]), ""):
            found[number] = f"`{gone}` was removed in {removed[gone]}"
        elif lost := _lost(*place):
            found[number] = lost
        elif in_use and since is not None and now - since >= UNUSED:
            found[number] = f"not used for {(now - since).days} days"
    return found


def _lost(path: str | None, start: int, end: int, digest: str, quote: str) -> str:
    """Why a note no longer supports a memory; empty if it does, or if there is none."""
    if path is None:
        return ""
    state = record_state(path, start, end, digest, searched=SEARCHED, quote=quote)
    name = Path(path).name
    if state is SourceState.GONE:
        return f"{name} is gone"
    return f"{name} no longer says it" if state is SourceState.CHANGED else ""


_ACTIVE = f"""
SELECT m.id, m.content, coalesce(m.decided_at, m.first_seen),
  coalesce((SELECT max(u.at) FROM use_of_memory u WHERE u.memory_id = m.id
    AND u.moment <> 'start'), ''),
  s.path, r.byte_start, r.byte_end, r.sha256, {QUOTE}
FROM memory m
LEFT JOIN evidence e ON e.id = (SELECT min(id) FROM evidence WHERE memory_id = m.id)
LEFT JOIN record r ON r.id = e.record_id AND r.shape <> '{Shape.TURN}'
LEFT JOIN source s ON s.id = r.source_id AND s.format NOT IN ('seed', ?)
WHERE m.project_id = ? AND m.status = 'active' AND m.kind IN ('memory', 'entity') ORDER BY m.id
"""
"""Only notes count as lost sources: agents delete their sessions after a while."""


def removed_files(roots: Sequence[str], names: set[str]) -> dict[str, str]:
    """The names that git knows as removed from a work tree, with the commit; empty without git."""
    found: dict[str, str] = {}
    for root in filter(None, roots) if names else ():
        tracked = _git(root, "ls-files", "-z").split("\0")
        for name in sorted(names)[:MAX_NAMES]:
            if any(each == name or each.endswith(f"/{name}") for each in tracked):
                continue
            pattern = f":(glob)**/{name}"
            commit = _git(root, "log", "-1", "--diff-filter=D", "--format=%h", "--", pattern)
            if commit.strip():
                found[name] = commit.strip()
    return found


def _git(root: str, *words: str) -> str:
    try:
        done = subprocess.run(  # noqa: S603
            ["git", "-C", root, *SAFE_SETTINGS, *words],  # noqa: S607
            capture_output=True, text=True, check=False, timeout=GIT_SECONDS, errors="replace",
            env={**os.environ, **NO_FETCH},
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout


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
            act.update("memory", row, status="superseded", decided_at=iso(now))
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
                decided_at=None, pending_since=iso(now),
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
