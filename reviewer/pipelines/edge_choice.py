"""Which edge a run takes when a stage has ended (settled.md, "Fidelity and pipelines")."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from reviewer.pipelines.conditions import holds
from reviewer.pipelines.outcomes import plain_label
from reviewer.pipelines.values import PipelineEdge


class Choice(Struct, frozen=True):
    """The edge that was chosen and the rule that chose it; no edge when none leads on."""

    edge: PipelineEdge | None
    rule: str


def choose_edge(
    edges: Sequence[PipelineEdge],
    context: Mapping[str, Any],
    *,
    preferred_label: str = "",
    suggested_next: Sequence[str] = (),
) -> Choice:
    """Among the edges that leave a node: those with a true condition, by weight then name; else,
    of the edges without a condition, the one with the preferred label, the first that is
    suggested, the heaviest, the first by name.

    Raises ConditionError.
    """
    true = [edge for edge in edges if edge.condition.strip() and holds(edge.condition, context)]
    if true:
        return Choice(_first(true), "condition")
    free = [edge for edge in edges if not edge.condition.strip()]
    if preferred_label:
        label = plain_label(preferred_label)
        named = [edge for edge in free if edge.label and plain_label(edge.label) == label]
        if named:
            return Choice(_first(named), "preferred label")
    for name in suggested_next:
        leading = [edge for edge in free if edge.target == name]
        if leading:
            return Choice(_first(leading), "suggested next")
    if not free:
        return Choice(None, "no condition holds" if edges else "no edge")
    if len(free) == 1:
        return Choice(free[0], "only edge")
    weights = {edge.weight for edge in free}
    return Choice(_first(free), "weight" if len(weights) > 1 else "name")


def _first(edges: Iterable[PipelineEdge]) -> PipelineEdge:
    return min(edges, key=lambda edge: (-edge.weight, edge.target, edge.index))
