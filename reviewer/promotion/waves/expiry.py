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

from msgspec import Struct

from reviewer.clock import Clock, from_iso, iso
from reviewer.promotion import queue_order
from reviewer.promotion.lists.source_view import QUOTE, SEARCHED, record_state
from reviewer.promotion.rows.decided_rows import OF_DECISION, RETIRE
from reviewer.promotion.rows.entity_rows import row_without_rules
from reviewer.promotion.rows.finding_rows import SUNK
from reviewer.promotion.views import SourceState, proposed_by
from reviewer.proposing.values import Proposer
from reviewer.sources.records import Shape
from reviewer.store.acts import Act, Scope
from reviewer.store.ledger import Ledger
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


class ActiveMemory(Struct, frozen=True):
    """The facts about an active memory that decide on its retirement."""

    content: str
    decided: str
    used: str
    """When it was last handed to an agent; empty if never."""
    file: str = ""
    """The note it came from."""
    state: SourceState = SourceState.UNKNOWN


def why_retire(
    kept: ActiveMemory, now: datetime, removed: Mapping[str, str], *, in_use: bool
) -> str:
    """Why a memory may be retired, in words; empty for no reason.

    `removed`: deleted files of the project, with the commit that removed each. `in_use`: whether
    agents are handed memories of the project at all; otherwise no use means nothing.
    """
    for name in _PATH.findall(kept.content):
        if name in removed:
            return f"`{name}` was removed in {removed[name]}"
    if kept.state is SourceState.GONE:
        return f"{kept.file} is gone"
    if kept.state is SourceState.CHANGED:
        return f"{kept.file} no longer says it"
    since = from_iso(max(kept.decided, kept.used))
    if in_use and since is not None and now - since >= UNUSED:
        return f"not used for {(now - since).days} days"
    return ""


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
        _lower_stale_failures(act, number, iso(now - SUNK))
        act.title = f"Proposed {new} for retirement" if new else "Updated the queue"
    return new


def _reasons(act: Act, project: int, roots: Sequence[str], now: datetime) -> dict[int, str]:
    kept = {row[0]: _kept(row[1:]) for row in act.query(_ACTIVE, (OF_DECISION, project))}
    in_use = any(each.used >= iso(now - UNUSED) for each in kept.values())
    names = {name for each in kept.values() for name in _PATH.findall(each.content)}
    removed = removed_files(roots, names)
    found = ((row, why_retire(each, now, removed, in_use=in_use)) for row, each in kept.items())
    return {row: why for row, why in found if why}


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


def _kept(row: Sequence[object]) -> ActiveMemory:
    content, decided, used, path, start, end, digest, quote = row
    kept = ActiveMemory(str(content), str(decided), str(used))
    if path is None:
        return kept
    state = record_state(
        str(path), int(str(start)), int(str(end)), str(digest), searched=SEARCHED, quote=str(quote)
    )
    return ActiveMemory(kept.content, kept.decided, kept.used, Path(str(path)).name, state)


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
        row[1]: row
        for row in act.query(
            "SELECT id, signature, status, coalesce(decided_at, '') FROM memory"
            " WHERE project_id = ? AND rule = ?",
            (project, RETIRE),
        )
    }
    waiting = 0
    for number, signature, status, _ in known.values():
        if status != "candidate":
            continue
        if int(signature.rpartition("#")[2]) in reasons:
            waiting += 1
        else:
            act.update("memory", number, status="superseded", decided_at=iso(now))
    new = 0
    for memory, why in reasons.items():
        if waiting + new >= MAX_WAITING:
            break
        ((type_, content),) = act.query("SELECT type, content FROM memory WHERE id = ?", (memory,))
        short = (
            content if len(content) <= QUOTED_CHARS else f"{content[: QUOTED_CHARS - 1].rstrip()}…"
        )
        text = f"Retire #{memory} ({why}): “{' '.join(short.split())}”"
        about = f"{RETIRE} #{memory}"
        again = known.get(about)
        if again is None:
            row = row_without_rules(project, type_, text, iso(now), rule=RETIRE, version="1")
            row |= {
                **proposed_by(Proposer.PROGRAM),
                "rank": queue_order.RETIREMENT,
                "flags": RETIRE,
            }
            act.insert("memory", **row, kind="memory", status="candidate", signature=about)
        elif again[2] != "candidate" and again[3] <= iso(now - UNUSED):
            act.update(
                "memory", again[0], content=text, key=duplicate_key(text), status="candidate",
                decided_at=None, pending_since=iso(now),
            )  # fmt: skip
        else:
            continue
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
