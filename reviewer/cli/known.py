"""What the promotion graph knows of a row beyond its words: structure, conflicts, foresight."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from reviewer.cli.output import safe
from reviewer.cli.why import step_json

if TYPE_CHECKING:
    from reviewer.engine import CandidateView, Engine


def structure(engine: Engine, view: CandidateView) -> Iterator[str]:
    """An entity's name, values and relations; of a memory, the entity that carries it on."""
    if view.kind != "entity":
        if view.status == "graduated":
            yield f"graduated   to #{engine.entities.graduated_to(view.id)}"
        return
    entity = engine.entities.get(view.id)
    yield f"name        {safe(entity.name)}"
    for each in entity.attributes:
        yield f"value       {safe(each.name)} = {safe(f'{each.value} {each.unit}'.strip())}"
    for relation in entity.relations:
        known = "" if relation.target_id is None else f" #{relation.target_id}"
        yield f"relation    {safe(relation.kind)}{known} {safe(relation.target)}"
    if entity.graduated_from is not None:
        yield f"graduated   from #{entity.graduated_from}"
    for number in engine.conflicts.of(view.id):
        yield f"conflict    #{number}: {safe(engine.queue.candidate(number).content)}"


def foresight(engine: Engine, view: CandidateView) -> Iterator[str]:
    """What policies would say, and how likely this person promotes it, with the reasons."""
    for hint in engine.insight.hints([view.id]).get(view.id, ()):
        yield f"hint        {hint.policy}: {safe(hint.text)}"
    if view.status != "candidate":
        return
    score = engine.insight.score(view.id)
    if score is None:
        return
    yield f"learned     {score.probability:.0%} likely to be promoted by you"
    for reason in score.reasons:
        sign = "+" if reason.weight >= 0 else "-"
        yield f"            {sign} {safe(reason.text)}"


def show_conflict(engine: Engine, view: CandidateView) -> Iterator[str]:
    """Both sides of a conflict, and how to settle it."""
    from reviewer.cli.conflict import how_to_settle, show_sides

    conflict = engine.conflicts.get(view.id)
    yield from show_sides(engine, conflict)
    yield (
        how_to_settle(conflict)
        if conflict.resolution is None
        else (f"settled     {conflict.resolution}")
    )


def known_json(engine: Engine, view: CandidateView) -> dict[str, Any]:
    """The same for scripts; null or empty where it does not apply."""
    from reviewer.cli.conflict import conflict_json

    entity = view.kind == "entity"
    return {
        "entity": engine.entities.get(view.id).to_json() if entity else None,
        "conflicts": engine.conflicts.of(view.id) if entity else [],
        "conflict": conflict_json(engine.conflicts.get(view.id))
        if view.kind == "conflict"
        else None,
        "graduated_to": engine.entities.graduated_to(view.id)
        if view.status == "graduated"
        else None,
        "hints": hints_json(engine, [view.id]).get(view.id, []),
        "learned": _learned(engine, view),
        "provenance": [step_json(step) for step in engine.provenance.of(view.id)],
    }


def hints_json(engine: Engine, ids: Sequence[int]) -> dict[int, list[dict[str, str]]]:
    """The hints of rows, by id; rows without any are left out."""
    return {
        number: [{"policy": str(hint.policy), "text": hint.text} for hint in hints]
        for number, hints in engine.insight.hints(ids).items()
    }


def _learned(engine: Engine, view: CandidateView) -> dict[str, Any] | None:
    score = engine.insight.score(view.id) if view.status == "candidate" else None
    if score is None:
        return None
    reasons = [{"text": reason.text, "weight": reason.weight} for reason in score.reasons]
    return {"probability": score.probability, "reasons": reasons}
