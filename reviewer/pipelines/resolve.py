"""Resolves the fidelity and the thread of a node, with the reason."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from reviewer.errors import UnknownIdError
from reviewer.pipelines.values import (
    MODES,
    FidelityResolution,
    Pipeline,
    PipelineEdge,
    PipelineNode,
    RunHistory,
)

DEFAULT_MODE = "compact"
DEGRADED_MODE = "summary:high"
"""Replaces `full` for the first node after a resume, because its session is lost."""


def as_mode(text: str | None) -> str | None:
    mode = (text or "").strip().lower()
    return mode if mode in MODES else None


def explain_fidelity(
    edge: PipelineEdge | None, node: PipelineNode, pipeline: Pipeline
) -> FidelityResolution:
    """The first valid mode of edge, node, graph, default.

    `steps` has the value of each, including invalid ones.
    """
    steps = (
        ("edge", edge.fidelity if edge else None),
        ("node", node.fidelity),
        ("graph", pipeline.default_fidelity),
        ("default", DEFAULT_MODE),
    )
    rule, value = next((rule, mode) for rule, text in steps if (mode := as_mode(text)))
    return FidelityResolution(value, rule, steps)


def resolve_fidelity(edge: PipelineEdge | None, node: PipelineNode, pipeline: Pipeline) -> str:
    """The fidelity mode of `node` entered through `edge` (None: it is the first node)."""
    return explain_fidelity(edge, node, pipeline).value


def explain_thread(
    edge: PipelineEdge | None, node: PipelineNode, pipeline: Pipeline, prev_node_name: str
) -> FidelityResolution:
    """The first thread set of node, edge, graph, class of the innermost subgraph, previous node.

    The first node of a run gets a thread with its own name.
    """
    steps = (
        ("node", node.thread_id),
        ("edge", edge.thread_id if edge else None),
        ("graph", pipeline.default_thread_id),
        ("subgraph", node.classes[0] if node.classes else None),
        ("previous node", prev_node_name or None),
        ("own name", node.name),
    )
    rule, value = next((rule, text) for rule, text in steps if text)
    return FidelityResolution(value, rule, steps if rule == "own name" else steps[:-1])


def resolve_thread_id(
    edge: PipelineEdge | None, node: PipelineNode, pipeline: Pipeline, prev_node_name: str
) -> str:
    """The thread of `node`, whose session it continues in `full` mode."""
    return explain_thread(edge, node, pipeline, prev_node_name).value


def fidelity_on_resume(resolved: str, is_first_after_resume: bool) -> str:
    """The mode after a resume: for the first node, `full` becomes `summary:high`, once."""
    return DEGRADED_MODE if is_first_after_resume and resolved == "full" else resolved


class NodeEntry(Struct, frozen=True):
    """The entry into a node through an edge (None: the first node of a run), with the reasons."""

    edge: PipelineEdge | None
    node: PipelineNode
    fidelity: FidelityResolution
    thread: FidelityResolution

    @property
    def shared_thread(self) -> str:
        """The thread whose session continues; empty unless the mode is `full`."""
        return self.thread.value if self.fidelity.value == "full" else ""


def entry_through(
    pipeline: Pipeline, edge: PipelineEdge | None, node: PipelineNode, previous: str = ""
) -> NodeEntry:
    """The entry into `node` through `edge`, or after the node `previous` without an edge."""
    before = edge.source if edge else previous
    return NodeEntry(
        edge,
        node,
        explain_fidelity(edge, node, pipeline),
        explain_thread(edge, node, pipeline, before),
    )


def node_named(pipeline: Pipeline, name: str) -> PipelineNode:
    """The node with that name. Raises UnknownIdError, with similar names."""
    if name in pipeline.nodes:
        return pipeline.nodes[name]
    from difflib import get_close_matches

    near = get_close_matches(name, pipeline.nodes, n=3) or list(pipeline.nodes)[:8]
    hint = f" It has: {', '.join(near)}." if near else " It has none."
    raise UnknownIdError(f"{pipeline.name} has no node {name!r}.{hint}")


def entries(pipeline: Pipeline) -> Iterator[NodeEntry]:
    """The entry of each edge into its target, in file order."""
    for edge in pipeline.edges:
        yield entry_through(pipeline, edge, pipeline.nodes[edge.target])


def entry_after(pipeline: Pipeline, history: RunHistory, name: str) -> NodeEntry:
    """The entry into a node after the last stage; by its first edge if none leads from there.

    Raises UnknownIdError.
    """
    node = node_named(pipeline, name)
    last = history.completed[-1].node if history.completed else ""
    return entry_through(pipeline, _edge(pipeline, last, node.name), node, last)


def _edge(pipeline: Pipeline, source: str, target: str) -> PipelineEdge | None:
    """The first edge between two nodes, else the first into the target."""
    into = [edge for edge in pipeline.edges if edge.target == target]
    return next((edge for edge in into if edge.source == source), into[0] if into else None)
