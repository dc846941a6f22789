"""Proposes the most reliable findings of all sessions."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from heapq import nsmallest

import msgspec

from reviewer.extraction.candidates import MemoryType
from reviewer.extraction.rules import LONGEST_STATEMENT
from reviewer.promotion import queue_order
from reviewer.promotion.rows.enqueue import NewRow, QueueWriter
from reviewer.promotion.rows.evidence_rows import SourcePlace, add_places, record_row
from reviewer.promotion.rows.finding_rows import (
    CUT,
    REPLACED,
    SESSIONS,
    WORD,
    FindingRow,
    FindingView,
    costliest_first,
    groups_of,
    latest_of,
    quotes_of,
    recurring,
    refusals,
    view_of,
)
from reviewer.promotion.rows.memory_rows import new_columns
from reviewer.promotion.views import Status
from reviewer.proposing.values import Proof, Proposer, QuoteProof
from reviewer.sessions.findings import Evidence, Kind
from reviewer.sessions.signatures import (
    failing_lines,
    is_of_the_day,
    normalised,
    without_place,
)
from reviewer.sources.records import Record, RecordUse, Role
from reviewer.store.acts import Act
from reviewer.store.changes import Image
from reviewer.text.clip import clip
from reviewer.text.numerals import count

VERSION = "1.1.0"
"""The extractor version of rows made from findings."""
REFUSALS = 2
"""Refusals of one command with words, in one session or several, required for a proposal: a single
one is mostly about the next step.
"""
SAID = " and said: "
SAME_REMEDY_SHARE = 0.6
"""The share of common words from which two remedies are the same."""
PRIOR = 0.6
MAX_RECURRING = 20
"""Recurring findings listed in a report."""


def _in_a_line(view: FindingView) -> str:
    """A command and a signature: `bun run lint: format (3 sessions, 9 calls)`."""
    what = view.words if view.kind in (Kind.REFUSAL, Kind.CORRECTION) else view.signature
    where = f"`{view.command}`: " if view.command else ""
    price = f"{count(view.sessions, 'session')}, {count(view.cost, 'call')}"
    return f"{where}{clip(what, 100)} ({price})"


def propose(writer: QueueWriter, wave_id: int, first: int) -> list[str]:
    """Queue recurring findings from the id `first` on, and count known ones again; returns the ones
    that other sessions have too, without errors in the day's code, costliest first, a line each.

    A failure is proposed with its remedy, in a fixed wording; a command that the person refused
    more than once, with their last words, to be reworded.
    """
    again: list[FindingView] = []
    for group in recurring(writer.act, writer.project_id, first):
        view = view_of(group)
        if view.sessions >= SESSIONS and not _is_of_the_day(view):
            again.append(view)
        if content := _failure(group):
            _queue(writer, wave_id, group, content)
    for command, group in _by_command(refusals(writer.act, writer.project_id, first)).items():
        if content := _refusal(command, group):
            _queue(writer, wave_id, group, content)
    return list(map(_in_a_line, nsmallest(MAX_RECURRING, again, costliest_first)))


# Wordings


def _failure(group: Sequence[FindingRow]) -> str:
    """A recurring failure with a lasting remedy, as a statement; else empty.

    The remedy is a command that was used again in another session or, for a linter, a replacement:
    an addition or removal (an import, an unused name) is a one-time slip.
    """
    view = view_of(group)
    if view.kind not in (Kind.FAILURE, Kind.ENVIRONMENT) or view.sessions < SESSIONS:
        return ""
    failing = failing_lines(view.text)
    if not view.fix or not failing or _is_of_the_day(view):
        return ""
    fix, remedy = view.fix, "What fixed it"
    if fix.startswith("`"):
        if not _was_taken_again(fix, group):
            return ""
    else:
        is_of_linter = failing[0].rule and failing[0].path and ": " in view.signature
        if not is_of_linter or REPLACED not in fix:
            return ""
        fix, remedy = fix[fix.index("`") :], "One fix"  # of one place, in whatever file it was
    lines = {" ".join(without_place(row.finding.text).split()) for row in group}
    if len(lines) > 1:  # other names in other sessions
        lines = {view.signature.replace("*", "…")}
    command = f" from `{view.command}`" if view.command else ""
    return f"“{lines.pop()}”{command}. {remedy}: {fix}"


def _is_of_the_day(view: FindingView) -> bool:
    return any(map(is_of_the_day, failing_lines(view.text)))


def _was_taken_again(fix: str, group: Sequence[FindingRow]) -> bool:
    """Whether most words of a command are those of another session's, paths and names apart."""
    words = _words(fix)
    shared = [
        row.seen_in
        for row in group
        if (other := _words(row.finding.fix))
        and len(words & other) >= SAME_REMEDY_SHARE * len(words | other)
    ]
    return len(set(shared)) >= SESSIONS


def _words(fix: str) -> set[str]:
    return set(WORD.findall(normalised(fix.strip("`"))))


def _by_command(rows: Iterable[FindingRow]) -> dict[str, list[FindingRow]]:
    found: defaultdict[str, list[FindingRow]] = defaultdict(list)
    for group in groups_of(rows):  # a session in two files counts once
        for row in group:
            found[row.finding.command].append(row)
    return found


def _refusal(command: str, group: Sequence[FindingRow]) -> str:
    if sum(row.finding.times for row in group) < REFUSALS:
        return ""
    text = f"The person refused `{command}`{SAID}"
    return text + f"“{clip(latest_of(group).finding.words, LONGEST_STATEMENT - len(text) - 2)}”"


def words_to_reword(content: str) -> str:
    """The person's words in the row of a refusal, for wording a memory."""
    return content.partition(SAID)[2].strip("“”") or content


# Rows of the queue


def _queue(writer: QueueWriter, wave_id: int, group: Sequence[FindingRow], content: str) -> None:
    """Queue the row of a group, or give the one that it has the new figures. An incomplete or too
    long statement is not queued.
    """
    act, now, view = writer.act, writer.now, view_of(group)
    refused = view.kind == Kind.REFUSAL
    signature = f"refused {view.command}" if refused else view.signature
    figures: Image = {
        "sessions": view.sessions,
        "times": sum(row.finding.times for row in group),
        "cost": sum(row.finding.cost for row in group),
        "last_seen": view.last or now,
    }
    rank = queue_order.rank(
        own_words=refused, sessions=view.sessions, cost=view.cost, quality=PRIOR
    )
    known = act.query(
        "SELECT id, status FROM memory WHERE project_id = ? AND signature = ?",
        (writer.project_id, signature),
    )
    if known:
        for number, status in known:
            waits = {"rank": rank} if status == Status.CANDIDATE else {}
            act.update("memory", number, **figures, **waits)
        return
    if CUT in content or len(content) > LONGEST_STATEMENT:
        return
    quotes = quotes_of(group)
    proof = Proof(tuple(QuoteProof(each.line, each.text, found=True) for _, each in quotes))
    columns = new_columns(
        MemoryType.PREFERENCE if refused else MemoryType.KNOWLEDGE,
        content,
        rule=f"finding.{view.kind}",
        version=VERSION,
        proposer=Proposer.FINDING,
        rank=rank,
        prior=PRIOR,
    )
    columns |= {
        "flags": "reword" if refused else "",
        "seen": len(group),
        "first_seen": view.first or now,
        "need": "instruction" if refused else "trap",
        "proof": msgspec.json.encode(proof).decode(),
        "signature": signature,
        **figures,
    }
    if number := writer.insert(NewRow(columns, (), rank), wave_id):
        places = [_place(act, writer.project_id, wave_id, row, each) for row, each in quotes]
        add_places(act, number, places)


def _place(
    act: Act, project_id: int, wave_id: int, row: FindingRow, shown: Evidence
) -> SourcePlace:
    """The place of a finding's words in the store. The result of a call becomes a record of its
    own, with the failing line as its text.
    """
    found = act.query(
        "SELECT id, text FROM record WHERE project_id = ? AND key = ?",
        (project_id, shown.record),
    )
    for number, text in found:
        if (start := text.find(shown.text)) >= 0:
            return SourcePlace(number, start, start + len(shown.text), "finding", VERSION)
    digest = hashlib.sha256(f"{shown.record}\0{shown.sha256}\0{shown.text}".encode()).hexdigest()
    record = Record(
        key=f"finding:{digest}",
        line_start=shown.line,
        line_end=shown.line + 1,
        byte_start=shown.bytes[0],
        byte_end=shown.bytes[1],
        sha256=shown.sha256,
        role=Role.TOOL,
        use=RecordUse.TOOL,
        at=shown.at or None,
        session=row.finding.session or None,
        text=shown.text,
    )
    number = record_row(act, record, project_id=project_id, source_id=row.source, wave_id=wave_id)
    return SourcePlace(number, 0, len(shown.text), "finding", VERSION)
