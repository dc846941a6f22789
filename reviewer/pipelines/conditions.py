"""Conditions on edges: `a && b`, `=`, `==`, `!=` and bare keys (`docs/design.md`, Pipelines).

    condition  = clause, { "&&", clause } ;
    clause     = key, [ ( "=" | "==" | "!=" ), value ] ;
    value      = text without operators, in quotes or not ;

A bare key is true unless its value is empty, `false` or `0`; a missing key is empty. `context.x`
and `$x` mean `x`. Numbers, booleans and lists compare as JSON. Common spellings of `outcome` are
equal (`succeeded` = `success`); labels compare without case and accelerator.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from reviewer.errors import ReviewerError
from reviewer.pipelines.outcomes import canonical_outcome, plain_label
from reviewer.pipelines.values import PipelineEdge


class ConditionError(ReviewerError):
    """A condition is invalid."""


class Clause(Struct, frozen=True):
    """One comparison. `wanted` is None for a bare key."""

    key: str
    wanted: str | None = None
    negated: bool = False


_CLAUSE = re.compile(
    r"""\$?(?P<key>[A-Za-z_][\w.-]*+)\s*+
    ((?P<operator>==|!=|=)\s*+("(?P<double>.*)"|'(?P<single>.*)'|(?P<plain>((?!\|\|)[^=&<>])*+)))?""",
    re.DOTALL | re.VERBOSE,
)


def parse_condition(text: str) -> tuple[Clause, ...]:
    """The clauses of a condition, all of which must be true; none if it is empty.

    Raises ConditionError, which quotes the invalid part.
    """
    if not text.strip():
        return ()
    return tuple(_clause(part, text) for part in text.split("&&"))


def is_true(condition: str, context: Mapping[str, Any]) -> bool:
    """Whether every clause of a condition is true. Raises ConditionError."""
    return all(_clause_is_true(clause, context) for clause in parse_condition(condition))


def look_up(key: str, context: Mapping[str, Any]) -> Any:
    """The value of a key, with or without `context.` before it; empty if missing."""
    bare = key.removeprefix("context.")
    for name in (key, bare, f"context.{bare}"):
        if name in context:
            return context[name]
    return ""


def as_text(value: Any) -> str:
    """A value in conditions and prompts: strings as they are, everything else as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _clause(part: str, whole: str) -> Clause:
    found = _CLAUSE.fullmatch(part.strip())
    if found is None:
        part, whole = " ".join(part.split()), " ".join(whole.split())
        where = f': "{part}"' if part and part != whole else ""
        raise ConditionError(
            f'The condition "{whole}" cannot be read{where}. Write KEY, KEY=VALUE or KEY!=VALUE, '
            "several joined with &&; for OR draw several edges."
        )
    if found["operator"] is None:
        return Clause(found["key"])
    value = found["double"] or found["single"] or (found["plain"] or "").strip()
    return Clause(found["key"], value, negated=found["operator"] == "!=")


def _clause_is_true(clause: Clause, context: Mapping[str, Any]) -> bool:
    value = as_text(look_up(clause.key, context))
    if clause.wanted is None:
        return value.strip().lower() not in ("", "false", "0")
    return _equal(clause.key.removeprefix("context."), value, clause.wanted) != clause.negated


def _equal(key: str, value: str, wanted: str) -> bool:
    if key == "outcome":
        return canonical_outcome(value) == canonical_outcome(wanted)
    if key == "preferred_label":
        return plain_label(value) == plain_label(wanted)
    return value == wanted


class EdgeChoice(Struct, frozen=True):
    """The edge a run takes, or None, and the deciding rule."""

    edge: PipelineEdge | None
    rule: str


def choose_edge(
    edges: Sequence[PipelineEdge],
    context: Mapping[str, Any],
    *,
    preferred_label: str = "",
    suggested_next: Sequence[str] = (),
) -> EdgeChoice:
    """Choose among the outgoing edges of a node: one with a true condition, by weight, then name;
    else, of those without a condition, the one with the preferred label, the first suggested, the
    heaviest, the first by name.

    Raises ConditionError.
    """
    true = [edge for edge in edges if edge.condition.strip() and is_true(edge.condition, context)]
    if true:
        return EdgeChoice(_first(true), "condition")
    free = [edge for edge in edges if not edge.condition.strip()]
    if preferred_label:
        label = plain_label(preferred_label)
        named = [edge for edge in free if edge.label and plain_label(edge.label) == label]
        if named:
            return EdgeChoice(_first(named), "preferred label")
    for name in suggested_next:
        leading = [edge for edge in free if edge.target == name]
        if leading:
            return EdgeChoice(_first(leading), "suggested next")
    if not free:
        return EdgeChoice(None, "no condition holds" if edges else "no edge")
    if len(free) == 1:
        return EdgeChoice(free[0], "only edge")
    weights = {edge.weight for edge in free}
    return EdgeChoice(_first(free), "weight" if len(weights) > 1 else "name")


def _first(edges: Iterable[PipelineEdge]) -> PipelineEdge:
    return min(edges, key=lambda edge: (-edge.weight, edge.target, edge.index))
