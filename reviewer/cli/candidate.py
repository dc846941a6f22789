"""One candidate in full: its words, its confidence taken apart, its evidence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from reviewer.cli.known import foresight, known_json, show_conflict, structure
from reviewer.cli.output import moment, safe, wrapped
from reviewer.cli.why import why

if TYPE_CHECKING:
    from reviewer.engine import CandidateView, Engine, EvidenceView

SPAN_CONTEXT = 400
"""Characters of a record shown at least on each side of the span."""

LONGEST_CONTEXT = 2000
"""The most of it, where a line is very long."""

SOURCE_STATES = {
    "same": "unchanged since it was read",
    "moved": "the same words, now on other lines",
    "changed": "CHANGED since it was read",
    "gone": "GONE since it was read",
    "unknown": "cannot be compared",
}


def show_candidate(engine: Engine, memory: int) -> Iterator[str]:
    """The lines that tell a person everything about one candidate. Raises UnknownIdError."""
    view = engine.queue.candidate(memory)
    state = f"{view.status}, deferred" if view.deferred else str(view.status)
    kind = "" if view.kind == "memory" or view.kind == view.type else f"  {view.kind}"
    yield f"#{view.id}  {safe(view.type)}{kind}  {state}  project {safe(view.project)}"
    yield from wrapped(view.content, "  ")
    if view.kind == "conflict":
        yield from show_conflict(engine, view)
        return
    yield from structure(engine, view)
    yield f"confidence  {_confidence(view)}"
    yield f"rule        {safe(view.rule)}, extractor {safe(view.extractor_version)}"
    yield f"seen        {_seen(view)}"
    if view.flags:
        yield f"flags       {safe(', '.join(view.flags))}"
    yield from foresight(engine, view)
    if view.superseded_by is not None:
        yield f"folded into #{view.superseded_by}"
    yield from show_evidence(engine, view)
    for member in engine.queue.members(memory):
        yield f"near        #{member.id} at {member.similarity:.2f}"
        yield from wrapped(member.content, "  ")
    for replaced_at, content in engine.queue.wordings(memory):
        yield f"was         until {moment(replaced_at)}"
        yield from wrapped(content, "  ")
    yield from why(engine.provenance.of(memory))


def show_evidence(engine: Engine, view: CandidateView) -> Iterator[str]:
    """Every place that a row was drawn from, and whether it is still so."""
    if view.hand_authored:
        yield "source      none: a person wrote this by hand"
        return
    for evidence in engine.queue.evidence(view.id, around=0):
        yield from _evidence(evidence)
    yield f"source      {SOURCE_STATES[engine.sources.state(view.id)]}"


def show_candidate_json(engine: Engine, memory: int) -> dict[str, Any]:
    """The same as one JSON object: a candidate's fields, and `evidence`, `members`, `wordings`,
    `entity`, `conflicts`, `graduated_to`, `hints`, `learned`, `provenance`.
    """
    view = engine.queue.candidate(memory)
    return {
        **view.to_json(),
        **known_json(engine, view),
        "source_state": str(engine.sources.state(memory)),
        "evidence": [
            {
                "path": one.record.path,
                "line_start": one.record.line_start,
                "line_end": one.record.line_end,
                "record_id": one.record.key,
                "role": one.record.role,
                "at": one.record.at,
                "session": one.record.session,
                "rule": one.rule,
                "span_start": one.span_start,
                "span_end": one.span_end,
                "text": one.record.text,
            }
            for one in engine.queue.evidence(memory, around=0)
        ],
        "members": [
            {
                "id": one.id,
                "content": one.content,
                "similarity": one.similarity,
                "status": str(one.status),
            }
            for one in engine.queue.members(memory)
        ],
        "wordings": [
            {"replaced_at": replaced_at, "content": content}
            for replaced_at, content in engine.queue.wordings(memory)
        ],
    }


def _confidence(view: CandidateView) -> str:
    return (
        f"{view.confidence:.2f} = {view.prior:.2f} rule x {view.signal:.2f} path "
        f"x {view.freshness:.2f} freshness"
    )


def _seen(view: CandidateView) -> str:
    times = "once" if view.seen == 1 else f"{view.seen} times"
    sessions = "1 session" if view.sessions == 1 else f"{view.sessions} sessions"
    return f"{times}, {sessions}, first {moment(view.first_seen)}, last {moment(view.last_seen)}"


def _evidence(evidence: EvidenceView) -> Iterator[str]:
    record = evidence.record
    when = f", {safe(record.at)}" if record.at else ""
    yield f"evidence    {safe(record.path)}:{evidence.line + 1}  ({safe(record.role)}{when})"
    start, end = evidence.span_start, evidence.span_end
    text = record.text[: end + LONGEST_CONTEXT]
    first = text.rfind("\n", 0, max(0, start - SPAN_CONTEXT)) + 1
    last = text.find("\n", end + SPAN_CONTEXT)
    at = max(first, start - LONGEST_CONTEXT)
    for line in text[at : last if last >= 0 else None].split("\n"):
        in_span = at < end and at + len(line) > start
        yield from wrapped(line, "> " if in_span else "| ")
        at += len(line) + 1
