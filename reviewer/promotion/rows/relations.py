"""Relations between statements of all sessions: the choice for a comparison, and its result."""

from __future__ import annotations

from collections.abc import Sequence
from operator import add
from typing import NamedTuple

from reviewer.extraction.flags import flags_of
from reviewer.promotion import queue_order
from reviewer.promotion.rows.conflict_rows import (
    MAKES_UNTRUE,
    MAKES_UNTRUE_IN_PART,
    queue_contradiction,
)
from reviewer.promotion.rows.decided_rows import hide_behind, no_longer_doubted
from reviewer.promotion.rows.evidence_rows import JOINED, UNTRUE, copy_evidence, sessions_of
from reviewer.promotion.rows.known_rows import query_of, row_with_key
from reviewer.proposing.values import Relations, Sentence
from reviewer.sources.records import Role
from reviewer.store.acts import AMONG, Act, listed
from reviewer.store.database import Database
from reviewer.text.normalise import duplicate_key

MAX_STATEMENTS = 400
"""Statements in one question."""
NEAREST = 5
"""Statements compared with each new one, besides the other new ones."""


class Related(NamedTuple):
    """Counts of rows hidden behind others that say the same or make them untrue, of corrected ones,
    and of queued contradictions.
    """

    joined: int = 0
    untrue: int = 0
    corrected: int = 0
    contradictions: int = 0

    def plus(self, other: Related) -> Related:
        return Related(*map(add, self, other))


def to_compare(database: Database, project: str, new: Sequence[int]) -> list[Sentence]:
    """The new statements and those nearest to each of them, by number."""
    wanted = set(new)
    texts = {row[0]: Sentence(*row) for row in database.query(_ROWS, (project,))}
    for number in new:
        if number in texts and (query := query_of(texts[number].text)):
            near = database.query(_NEAR, (project, query, number, NEAREST))
            wanted.update(row[0] for row in near)
    return [texts[number] for number in sorted(wanted & texts.keys())][-MAX_STATEMENTS:]


_OF_PROJECT = (
    " WHERE m.project_id = (SELECT id FROM project WHERE name = ?) AND m.kind = 'memory'"
    " AND m.status IN ('candidate', 'active') AND m.excerpt = 0 AND m.leader_id IS NULL"
)
_ROWS = (
    "SELECT m.id, coalesce((SELECT substr(max(r.at), 1, 10) FROM evidence e"
    " JOIN record r ON r.id = e.record_id WHERE e.memory_id = m.id), ''), m.content FROM memory m"
    f"{_OF_PROJECT}"
)
_NEAR = (
    f"SELECT m.id FROM memory_text t JOIN memory m ON m.id = t.rowid{_OF_PROJECT}"
    " AND memory_text MATCH ? AND m.id <> ? ORDER BY t.rank LIMIT ?"
)


def relate(act: Act, relations: Relations, now: str) -> Related:
    """Hide duplicates behind the best-worded row, correct partly untrue rows, and queue a row for
    each contradiction. Nothing is decided.
    """
    found = Related(sum(_join(act, group) for group in relations.same))
    for old, later in relations.untrue:
        found = found.plus(make_untrue(act, old, later, now))
    for old, later, wording in relations.corrected:
        found = found.plus(_correct(act, old, later, wording, now))
    new = [row for pair in relations.contradict for row in queue_contradiction(act, *pair, now)]
    return found.plus(Related(contradictions=len(new)))


def make_untrue(act: Act, old: int, later: int, now: str) -> Related:
    """Hide a waiting row behind the later one that makes it untrue; for a memory, queue a row with
    both.
    """
    rows = {
        number: (status, leader)
        for number, status, leader in act.query(
            "SELECT id, status, leader_id FROM memory WHERE id IN (?, ?)"
            " AND kind = 'memory' AND status IN ('candidate', 'active')",
            (old, later),
        )
    }
    if len(rows) < 2:  # one was rejected, or forgotten meanwhile
        return Related()
    if rows[old][0] == "active" or rows[later][0] == "active":
        wording = MAKES_UNTRUE
        return Related(contradictions=len(queue_contradiction(act, old, later, now, wording)))
    leader = rows[later][1] or later
    if leader == old:  # the other way round: they were joined as the same
        return Related()
    hide_behind(act, [old], leader, JOINED, UNTRUE)
    no_longer_doubted(act, [leader])
    return Related(untrue=1)


def _correct(act: Act, old: int, later: int, wording: str, now: str) -> Related:
    """Give a waiting row the wording that is still true, and the evidence of the later row. A
    memory belongs to the person, so it is not changed: the contradiction is queued instead. The
    same without a usable wording.
    """
    found = act.query(
        "SELECT o.content, o.type, o.project_id, o.flags, max(o.last_seen, n.last_seen)"
        " FROM memory o JOIN memory n ON n.id = ? AND n.status IN ('candidate', 'active')"
        " WHERE o.id = ? AND o.status = 'candidate' AND o.kind = 'memory' AND o.edited = 0"
        " AND o.leader_id IS NULL",
        (later, old),
    )
    key = duplicate_key(wording)
    if not wording or not found or row_with_key(act, found[0][2], ("memory", found[0][1], key)):
        queued = queue_contradiction(act, old, later, now, MAKES_UNTRUE_IN_PART)
        return Related(contradictions=len(queued))
    ((content, _, _, known, last_seen),) = found
    flags = " ".join(sorted({*known.split(), *flags_of(wording, Role.ASSISTANT)}))
    act.insert("content_history", memory_id=old, content=content, replaced_at=now)
    act.update("memory", old, content=wording, key=key, flags=flags, last_seen=last_seen)
    copy_evidence(act, later, old)
    return Related(corrected=1)


def _join(act: Act, group: Sequence[int]) -> int:
    """Hide the waiting rows of a group behind its first one; if there is a memory among them, mark
    them as known instead.
    """
    status = dict(
        act.query(
            "SELECT id, status FROM memory WHERE kind = 'memory' AND leader_id IS NULL"
            f" AND id {AMONG}",
            (listed(group),),
        )
    )
    waiting = [number for number in group if status.get(number) == "candidate"]
    if "active" in status.values():
        for number, flags, confidence in act.query(
            f"SELECT id, flags, confidence FROM memory WHERE id {AMONG}", (listed(waiting),)
        ):
            known = " ".join(sorted({*flags.split(), "known"}))
            act.update("memory", number, flags=known, rank=confidence * queue_order.KNOWN)
        return len(waiting)
    if len(waiting) < 2:
        return 0
    leader, *members = waiting
    hide_behind(act, members, leader, JOINED)
    no_longer_doubted(act, [leader])
    ((cost, times, rank, quality),) = act.query(
        "SELECT max(cost), max(times), max(rank), (SELECT confidence FROM memory WHERE id = ?)"
        f" FROM memory WHERE id {AMONG}",
        (leader, listed(waiting)),
    )
    sessions = sessions_of(act, waiting)
    own_words = rank >= queue_order.OWN_WORDS
    rank = queue_order.rank(own_words=own_words, sessions=sessions, cost=cost, quality=quality)
    act.update("memory", leader, cost=cost, sessions=sessions, times=times, rank=rank)
    return len(members)
