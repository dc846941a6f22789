"""Branches of a parallel node, up to their fan-in. They run one after another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from reviewer.pipelines.conditions import as_text
from reviewer.pipelines.preamble import LONGEST_TEXT, count_tokens, shortened
from reviewer.pipelines.values import (
    Handler,
    Pipeline,
    PipelineNode,
    Stage,
    StageOutcome,
)
from reviewer.pipelines.walk import Edges, outgoing
from reviewer.text.clip import largest

RESULTS = "parallel.results"
"""Context key for the results of the branches, in the order of the edges."""


class BranchResult(Struct, frozen=True):
    """The result of a branch. `node` is its last node."""

    branch: str
    node: str
    outcome: StageOutcome
    notes: str


class Fork(Struct, frozen=True):
    """The branches of a parallel node while they run.

    `edges` are the indices of the edges into unfinished branches, the running one first. `context`
    is the initial context of each; `began` and `branch_began` count the stages before the fork and
    before the running branch.
    """

    node: str
    join: str
    edges: tuple[int, ...]
    context: dict[str, Any]
    began: int
    branch_began: int
    results: tuple[BranchResult, ...] = ()
    into_join: int | None = None
    """The edge by which the first branch reached the fan-in."""

    def visible(self, logs: Sequence[Stage]) -> list[Stage]:
        """The stages before the fork, and those of the running branch."""
        return [*logs[: self.began], *logs[self.branch_began :]]


def join_of(pipeline: Pipeline, node: PipelineNode) -> tuple[str, str]:
    """The fan-in of a parallel node; without one, an empty name and why the node cannot run."""
    edges = outgoing(pipeline)
    if not edges[node.name]:
        return "", f"{node.name} has no branches: no edge leaves it."
    for key, supported in (("join_policy", "wait_all"), ("error_policy", "continue")):
        given = node.attributes.get(key, "") or supported
        if given != supported:
            return "", f"{node.name}: {key}={given} is not supported, only {supported}."
    seen: set[str] = set()
    joins: set[str] = set()
    for edge in edges[node.name]:
        names, ends = _branch(pipeline, edges, edge.target)
        if shared := sorted(seen & names):
            return "", f"{shared[0]} is in two branches of {node.name}: join them before it."
        seen |= names
        joins |= ends or {""}
    if len(joins) != 1 or "" in joins:
        return "", (
            f"The branches of {node.name} do not meet: give the one node where all of them end "
            "shape=tripleoctagon."
        )
    for name in sorted(seen):
        if pipeline.nodes[name].handler == Handler.PARALLEL:
            return "", f"{name} is parallel within a branch of {node.name}: not supported."
    return joins.pop(), ""


def _branch(pipeline: Pipeline, edges: Edges, begin: str) -> tuple[set[str], set[str]]:
    """The nodes of a branch, and the fan-ins at its ends; an empty name for an exit."""
    names: set[str] = set()
    ends: set[str] = set()
    todo = [begin]
    while todo:
        name = todo.pop()
        handler = pipeline.nodes[name].handler
        if handler in (Handler.FAN_IN, Handler.EXIT):
            ends.add(name if handler == Handler.FAN_IN else "")
        elif name not in names:
            names.add(name)
            todo += [edge.target for edge in edges[name]]
    return names, ends


def joined_outcome(results: Sequence[BranchResult]) -> StageOutcome:
    """Success if every branch succeeded, failure if none did, else partial success."""
    if all(each.outcome is StageOutcome.SUCCESS for each in results):
        return StageOutcome.SUCCESS
    good = any(each.outcome.is_good for each in results)
    return StageOutcome.PARTIAL_SUCCESS if good else StageOutcome.FAIL


def joined_text(context: Mapping[str, Any], room: int | None = None) -> str:
    """The results of branches as text, in order; shortened to `room` tokens if given."""
    results = context.get(RESULTS)
    branches = [each for each in results if isinstance(each, dict)] if results else []

    def text(most: int) -> str:
        parts = (
            f"### {each.get('branch', '')} ({each.get('outcome', '')})\n"
            f"{shortened(as_text(each.get('notes', '')), most)}"
            for each in branches
        )
        return "\n\n".join(parts).rstrip()

    if room is None or count_tokens(text(LONGEST_TEXT)) <= room:
        return text(LONGEST_TEXT)
    return text(largest(0, LONGEST_TEXT, lambda most: count_tokens(text(most)) <= room))
