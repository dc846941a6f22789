"""Branches: where they begin, and the fan-in where they meet."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from reviewer.pipelines.conditions import as_text
from reviewer.pipelines.preamble import LONGEST_TEXT, largest, shortened
from reviewer.pipelines.values import (
    FAN_IN,
    PARALLEL,
    Pipeline,
    PipelineEdge,
    PipelineNode,
    StageOutcome,
)
from reviewer.pipelines.walk import outgoing

RESULTS = "parallel.results"
"""Key of the context: what each branch came to, in the order of the edges."""


class Fork(Struct, frozen=True):
    """The branches of a parallel node."""

    node: str
    join: str
    edges: tuple[PipelineEdge, ...]


class BranchResult(Struct, frozen=True):
    """The result of a branch. `node` ended last."""

    branch: str
    node: str
    outcome: str
    notes: str


def fork_of(pipeline: Pipeline, node: PipelineNode) -> tuple[Fork | None, str]:
    """The fork of a parallel node; or None, and a sentence that says why it cannot run."""
    edges = outgoing(pipeline)
    begin = edges.get(node.name, [])
    if not begin:
        return None, f"{node.name} has no branches: no edge leaves it."
    policies = (("join_policy", "wait_all"), ("error_policy", "continue"))
    for key, supported in policies:
        given = node.attributes.get(key, "") or supported
        if given != supported:
            return None, f"{node.name}: {key}={given} is not supported, only {supported}."
    within = [_branch(pipeline, edges, edge.target) for edge in begin]
    joins = set.intersection(*(ends for _, ends in within))
    if len(joins) != 1 or "" in joins or any(len(ends) != 1 for _, ends in within):
        return None, (
            f"The branches of {node.name} do not meet: give the one node where all of them end "
            "shape=tripleoctagon."
        )
    seen: set[str] = set()
    for names, _ in within:
        if shared := sorted(seen & names):
            return None, f"{shared[0]} is in two branches of {node.name}: let them meet before it."
        seen |= names
    for name in seen:
        if pipeline.nodes[name].handler == PARALLEL:
            return None, f"{name} is parallel within a branch of {node.name}: not supported."
    return Fork(node.name, joins.pop(), tuple(begin)), ""


def _branch(
    pipeline: Pipeline, edges: Mapping[str, Sequence[PipelineEdge]], begin: str
) -> tuple[set[str], set[str]]:
    """The nodes of a branch, and the fan-ins that end it; an exit is an empty name."""
    names: set[str] = set()
    ends: set[str] = set()
    todo = [begin]
    while todo:
        name = todo.pop()
        if name in names or name not in pipeline.nodes:
            continue
        if pipeline.nodes[name].handler == FAN_IN:
            ends.add(name)
            continue
        if pipeline.nodes[name].handler == "exit":
            ends.add("")
            continue
        names.add(name)
        todo += [edge.target for edge in edges.get(name, ())]
    return names, ends


def joined_outcome(results: Sequence[BranchResult]) -> StageOutcome:
    """Success if every branch succeeded, failure if none did, else partial success."""
    good = sum(
        each.outcome in (StageOutcome.SUCCESS, StageOutcome.PARTIAL_SUCCESS) for each in results
    )
    whole = sum(each.outcome == StageOutcome.SUCCESS for each in results)
    if whole == len(results):
        return StageOutcome.SUCCESS
    return StageOutcome.PARTIAL_SUCCESS if good else StageOutcome.FAIL


def joined_text(results: object, room: int | None = None, count: Callable[[str], int] = len) -> str:
    """The results of branches as text, in their order; shortened to `room` tokens, if that is
    given.
    """
    branches = (
        [each for each in results if isinstance(each, dict)] if isinstance(results, list) else []
    )

    def text(most: int) -> str:
        parts = (
            f"### {each.get('branch', '')} ({each.get('outcome', '')})\n"
            f"{shortened(as_text(each.get('notes', '')), most)}"
            for each in branches
        )
        return "\n\n".join(parts).rstrip()

    whole = text(LONGEST_TEXT)
    if room is None or count(whole) <= room:
        return whole
    return largest(0, LONGEST_TEXT, text, lambda made: count(made) <= room, step=8)[1]
