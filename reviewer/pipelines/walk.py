"""A pipeline in walking order: each node after its predecessors, except in loops."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from reviewer.pipelines.values import Handler, Pipeline, PipelineEdge, PipelineNode

Edges = dict[str, list[PipelineEdge]]


class WalkStep(Struct, frozen=True):
    """A node on the walk with its outgoing edges.

    `back`: the indices of the edges that return to an earlier node or to this one.
    """

    node: PipelineNode
    edges: tuple[PipelineEdge, ...]
    reachable: bool
    back: frozenset[int]


def outgoing(pipeline: Pipeline) -> Edges:
    """The edges by source, in file order."""
    edges: Edges = {name: [] for name in pipeline.nodes}
    for edge in pipeline.edges:
        edges[edge.source].append(edge)
    return edges


def incoming(pipeline: Pipeline) -> Edges:
    """The edges by target, in file order."""
    edges: Edges = {name: [] for name in pipeline.nodes}
    for edge in pipeline.edges:
        edges[edge.target].append(edge)
    return edges


def nodes_with(pipeline: Pipeline, handler: Handler) -> list[str]:
    return [name for name, node in pipeline.nodes.items() if node.handler == handler]


def reached(begin: Iterable[str], edges: Edges, *, against: bool = False) -> set[str]:
    """The nodes reachable from `begin`; `against`: backwards, along incoming edges."""
    found = set(begin)
    todo = list(found)
    while todo:
        for edge in edges[todo.pop()]:
            name = edge.source if against else edge.target
            if name not in found:
                found.add(name)
                todo.append(name)
    return found


def walk(pipeline: Pipeline) -> tuple[WalkStep, ...]:
    """All nodes in walking order, unreachable ones last."""
    edges = outgoing(pipeline)
    starts = nodes_with(pipeline, Handler.START)
    order = _after_predecessors(starts, edges, set())
    reachable = set(order)
    entered = {edge.target for edge in pipeline.edges if edge.source != edge.target}
    rest = [name for name in pipeline.nodes if name not in reachable]
    heads = [name for name in rest if name not in entered]
    order += _after_predecessors([*heads, *rest], edges, set(reachable))
    place = {name: at for at, name in enumerate(order)}
    return tuple(
        WalkStep(
            pipeline.nodes[name],
            tuple(edges[name]),
            name in reachable or not starts,
            frozenset(edge.index for edge in edges[name] if place[edge.target] <= place[name]),
        )
        for name in order
    )


def _after_predecessors(begin: list[str], edges: Edges, seen: set[str]) -> list[str]:
    """Reverse postorder of a depth-first search, the first edge of a node first."""
    parts: list[list[str]] = []
    for root in begin:
        if root in seen:
            continue
        seen.add(root)
        finished: list[str] = []
        stack = [(root, reversed(edges[root]))]
        while stack:
            name, targets = stack[-1]
            for edge in targets:
                if edge.target not in seen:
                    seen.add(edge.target)
                    stack.append((edge.target, reversed(edges[edge.target])))
                    break
            else:
                stack.pop()
                finished.append(name)
        parts.append(finished[::-1])
    return [name for part in parts for name in part]
