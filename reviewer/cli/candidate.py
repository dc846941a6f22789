"""Everything about one candidate, memory, entity or conflict, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict

from reviewer.cli.output import cut, line_width, moment, safe, wrapped
from reviewer.promotion.lists.figure_words import came_up, factors
from reviewer.promotion.lists.proof_words import ticks
from reviewer.promotion.queue_order import doubt
from reviewer.text import signs

if TYPE_CHECKING:
    from reviewer.engine import Engine
    from reviewer.promotion.provenance import ProvenanceStep
    from reviewer.promotion.views import CandidateView, EvidenceView

SPAN_CONTEXT = 400
"""Minimum characters of a record shown on each side of the span."""

LONGEST_CONTEXT = 2000
"""Their maximum, for very long lines."""

SOURCE_STATES = {
    "same": "unchanged since it was read",
    "moved": "unchanged, but on other lines now",
    "changed": "CHANGED since it was read",
    "gone": "GONE since it was read",
    "unknown": "cannot be compared with the record",
}

LONGEST_STEP = 200
"""Characters of a step's text if stdout is not a terminal."""


def show_candidate(engine: Engine, memory: int) -> Iterator[str]:
    """A candidate with everything about it, as lines. Raises UnknownIdError."""
    view = engine.queue.candidate(memory)
    doubted = doubt(view.prior, view.flags)
    deferred = f", deferred{f': {doubted}' if doubted else ''}" if view.deferred else ""
    state = f"{view.status}{deferred}"
    kind = "" if view.kind == "memory" or view.kind == view.type else f"  {view.kind}"
    yield f"#{view.id}  {view.type}{kind}  {state}  project {view.project}"
    yield from wrapped(view.content, "  ")
    if view.kind == "conflict":
        yield from show_conflict(engine, memory)
        return
    yield from _structure(engine, view)
    need = f", needed as {view.need.replace('_', ' ')}" if view.need else ""
    yield f"proposer    {view.proposer}{need}"
    yield f"confidence  {_confidence(view)}"
    yield f"rule        {view.rule}, extractor {view.extractor_version}"
    when = f"first {moment(view.first_seen)}, last {moment(view.last_seen)}"
    yield f"seen        {', '.join([*came_up(view), when])}"
    if view.flags:
        yield f"flags       {', '.join(view.flags)}"
    moments = [each.shown for each in engine.recall.moments(memory)]
    if moments:
        yield f"when        {'; '.join(moments)}"
    if used := engine.recall.use(memory):
        yield f"given       {used.removeprefix('given ')}"
    yield from _proof(view, [content for _, content in engine.queue.wordings(memory)])
    for hint in engine.insight.hints([memory]).get(memory, ()):
        yield f"in favour   {hint.text}"
    other = engine.history.another_who_decided(memory)
    if other and (view.status != "candidate" or view.deferred):
        yield f"decided     by {other}"
    if view.reason:
        what = "disputed" if view.status == "candidate" else "rejected"
        yield f"{what}    {view.reason}"
    if view.superseded_by is not None:
        yield f"merged      into #{view.superseded_by}"
    yield from show_evidence(engine, view)
    for member in engine.queue.members(memory):
        yield f"near        #{member.id} at {member.similarity:.2f}"
        yield from wrapped(member.content, "  ")
    for replaced_at, content in engine.queue.wordings(memory):
        yield f"was         until {moment(replaced_at)}"
        yield from wrapped(content, "  ")


def show_evidence(engine: Engine, view: CandidateView) -> Iterator[str]:
    """The sources of a candidate, and whether they have changed."""
    if view.hand_authored:
        yield "source      none: written by hand"
        return
    for evidence in engine.queue.evidence_behind(view.id, around=0):
        yield from _evidence(evidence)
    yield f"source      {SOURCE_STATES[engine.sources.state(view.id)]}"


def show_candidate_json(engine: Engine, memory: int) -> dict[str, Any]:
    """A candidate as JSON: its fields, evidence, members, wordings, hints and so on; null or empty
    if they do not apply.
    """
    view = engine.queue.candidate(memory)
    entity, conflict = view.kind == "entity", view.kind == "conflict"
    graduated = view.status == "graduated"
    return {
        **view.to_json(),
        "entity": engine.entities.get(memory) if entity else None,
        "conflicts": engine.conflicts.of(memory) if entity else [],
        "conflict": asdict(engine.conflicts.get(memory)) if conflict else None,
        "graduated_to": engine.entities.graduated_to(memory) if graduated else None,
        "hints": engine.insight.hints([memory]).get(memory, []),
        "provenance": engine.provenance.of(memory),
        "source_state": str(engine.sources.state(memory)),
        "moments": [str(each) for each in engine.recall.moments(memory)],
        "evidence": [
            {
                **asdict(one.record),
                "record_id": one.record.key,
                "rule": one.rule,
                "span_start": one.span_start,
                "span_end": one.span_end,
            }
            for one in engine.queue.evidence_behind(memory, around=0)
        ],
        "members": engine.queue.members(memory),
        "wordings": [
            {"replaced_at": replaced_at, "content": content}
            for replaced_at, content in engine.queue.wordings(memory)
        ],
    }


def _proof(view: CandidateView, earlier: Sequence[str]) -> Iterator[str]:
    found = ticks(view.proof, view.content, earlier) if view.proof else ()
    for place, tick in enumerate(found):
        head = "proof       " if place == 0 else " " * 12
        yield f"{head}{signs.PROMOTED if tick.met else signs.REJECTED} {tick.text}"


def _confidence(view: CandidateView) -> str:
    product = " x ".join(f"{value:.2f} {word}" for value, word in factors(view))
    return f"{view.confidence:.2f} = {product}" if product else f"{view.confidence:.2f}, by hand"


def _evidence(evidence: EvidenceView) -> Iterator[str]:
    record = evidence.record
    when = f", {record.at}" if record.at else ""
    yield f"evidence    {record.path}:{evidence.line + 1}  ({record.role}{when})"
    start, end = evidence.span_start, evidence.span_end
    text = record.text[: end + LONGEST_CONTEXT]
    first = text.rfind("\n", 0, max(0, start - SPAN_CONTEXT)) + 1
    last = text.find("\n", end + SPAN_CONTEXT)
    at = max(first, start - LONGEST_CONTEXT)
    for line in text[at : last if last >= 0 else None].split("\n"):
        in_span = at < end and at + len(line) > start
        yield from wrapped(line, "> " if in_span else "| ")
        at += len(line) + 1


def _structure(engine: Engine, view: CandidateView) -> Iterator[str]:
    """An entity's name and values, or the entity of a graduated memory."""
    if view.kind != "entity":
        if view.status == "graduated":
            yield f"graduated   to #{engine.entities.graduated_to(view.id)}"
        return
    entity = engine.entities.get(view.id)
    yield f"name        {entity.name}"
    for each in entity.attributes:
        yield f"value       {each.name} = {f'{each.value} {each.unit}'.strip()}"
    if entity.graduated_from is not None:
        yield f"graduated   from #{entity.graduated_from}"
    for number in engine.conflicts.of(view.id):
        yield f"conflict    #{number}: {engine.queue.candidate(number).content}"


def show_conflict(engine: Engine, number: int) -> Iterator[str]:
    """Both sides of a conflict with their evidence, and how to settle it."""
    conflict = engine.conflicts.get(number)
    for side in (conflict.left, conflict.right):
        yield f"side        #{side.id}  {side.type}  {side.status}"
        yield from wrapped(side.content, "  ")
        yield from show_evidence(engine, side)
    if conflict.resolution is not None:
        yield f"settled     {conflict.resolution}"
        return
    keeps = f"--keep {conflict.left.id} | --keep {conflict.right.id}"
    yield f"Settle it: reviewer conflict {number} {keeps} | --dismiss"


def why(steps: Sequence[ProvenanceStep]) -> Iterator[str]:
    """The chain of evidence, from the highest layer down to lines of files, with their texts."""
    for place, step in enumerate(steps):
        head = "why         " if place == 0 else " " * 12
        at = "" if step.path is None else f"  {step.path}"
        at += "" if step.line is None else f":{step.line + 1}"
        yield f"{head}{step.layer}  {step.title}{at}"
        if text := safe(" ".join(step.text.split())):
            width = (line_width() or LONGEST_STEP + 16) - 16
            yield " " * 16 + cut(text, max(width, 20))
