"""One candidate in full: its words, its confidence taken apart, its evidence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from reviewer.cli.output import safe, safe_lines

if TYPE_CHECKING:
    from reviewer.engine import CandidateView, Engine, EvidenceView

SPAN_CONTEXT = 400
"""Characters of a record shown on each side of the span."""


def show_candidate(engine: Engine, memory: int) -> Iterator[str]:
    """The lines that tell a person everything about one candidate. Raises UnknownIdError."""
    view = engine.queue.candidate(memory)
    state = f"{view.status}, deferred" if view.deferred else str(view.status)
    yield f"#{view.id}  {view.type}  {state}  project {safe(view.project)}"
    for line in safe_lines(view.content):
        yield f"  {line}"
    yield f"confidence  {_confidence(view)}"
    yield f"rule        {view.rule}, extractor {view.extractor_version}"
    yield (
        f"seen        {view.seen} times in {view.sessions} sessions, "
        f"first {view.first_seen}, last {view.last_seen}"
    )
    if view.flags:
        yield f"flags       {', '.join(view.flags)}"
    if view.superseded_by is not None:
        yield f"folded into #{view.superseded_by}"
    state_of_source = engine.sources.state(memory)
    for evidence in engine.queue.evidence(memory, around=0):
        yield from _evidence(evidence)
    yield f"  the source is {state_of_source} since it was read"
    for member in engine.queue.members(memory):
        yield f"near  #{member.id}  {member.similarity:.2f}  {safe(member.content)}"
    for replaced_at, content in engine.queue.wordings(memory):
        yield f"was   until {replaced_at}: {safe(content)}"


def show_candidate_json(engine: Engine, memory: int) -> dict[str, Any]:
    """The same as one JSON object: a candidate's fields, and `evidence`, `members`, `wordings`."""
    return {
        **engine.queue.candidate(memory).to_json(),
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


def _evidence(evidence: EvidenceView) -> Iterator[str]:
    record = evidence.record
    when = f", {record.at}" if record.at else ""
    yield f"evidence    {safe(record.path)}:{evidence.line + 1}  ({record.role}{when})"
    start, end = evidence.span_start, evidence.span_end
    before = record.text[max(0, start - SPAN_CONTEXT) : start]
    after = record.text[end : end + SPAN_CONTEXT]
    for line in safe_lines(f"{before}[{record.text[start:end]}]{after}"):
        yield f"  | {line}"
