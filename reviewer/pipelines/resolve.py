"""Decides the fidelity and the thread of a node, with the reason."""

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
"""Replaces `full` for the first node after a resume, whose session is lost."""


def as_mode(text: str | None) -> str | None:
    """The mode that a text names, or None."""
    mode = (text or "").strip().lower()
    return mode if mode in MODES else None


def explain_fidelity(
    edge: PipelineEdge | None, node: PipelineNode, pipeline: Pipeline
) -> FidelityResolution:
    """Edge, node, graph, default: the first that names a mode decides.

    `steps` has the value of each, also of those passed over because they are not modes.
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
    """The fidelity mode of `node` when it is entered through `edge` (None: it is the first)."""
    return explain_fidelity(edge, node, pipeline).value


def explain_thread(
    edge: PipelineEdge | None, node: PipelineNode, pipeline: Pipeline, prev_node_name: str
) -> FidelityResolution:
    """Node, edge, graph, class of the innermost subgraph, previous node: the first one set decides.

    The first node of a run gets a thread of its own name.
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
    """The thread whose session `node` continues in `full` mode."""
    return explain_thread(edge, node, pipeline, prev_node_name).value


def fidelity_on_resume(resolved: str, is_first_after_resume: bool) -> str:
    """The mode after a resume: `full` becomes `summary:high` for the first node, once."""
    return DEGRADED_MODE if is_first_after_resume and resolved == "full" else resolved


class NodeEntry(Struct, frozen=True):
    """How a node is entered through an edge (None: it is the first of a run), and why."""

    edge: PipelineEdge | None
    node: PipelineNode
    fidelity: FidelityResolution
    thread: FidelityResolution

    @property
    def shared_thread(self) -> str:
        """The thread whose session continues; empty in every mode but `full`."""
        return self.thread.value if self.fidelity.value == "full" else ""


def entry_through(
    pipeline: Pipeline, edge: PipelineEdge | None, node: PipelineNode, previous: str = ""
) -> NodeEntry:
    """How `node` is entered through `edge`, or after the node `previous` without one."""
    before = edge.source if edge else previous
    return NodeEntry(
        edge,
        node,
        explain_fidelity(edge, node, pipeline),
        explain_thread(edge, node, pipeline, before),
    )


def node_named(pipeline: Pipeline, name: str) -> PipelineNode:
    """The node of that name. Raises UnknownIdError, which suggests similar names."""
    if name in pipeline.nodes:
        return pipeline.nodes[name]
    from difflib import get_close_matches

    near = get_close_matches(name, pipeline.nodes, n=3) or list(pipeline.nodes)[:8]
    hint = f" It has: {', '.join(near)}." if near else " It has none."
    raise UnknownIdError(f"{pipeline.name} has no node {name!r}.{hint}")


def entries(pipeline: Pipeline) -> Iterator[NodeEntry]:
    """How each edge enters its target, in file order."""
    for edge in pipeline.edges:
        yield entry_through(pipeline, edge, pipeline.nodes[edge.target])


def entry_after(pipeline: Pipeline, history: RunHistory, name: str) -> NodeEntry:
    """How a node is entered after the last stage; if no edge leads from there, by its first one.

    Raises UnknownIdError.
    """
    node = node_named(pipeline, name)
    last = history.completed[-1].node if history.completed else ""
    return entry_through(pipeline, _edge(pipeline, last, node.name), node, last)


def _edge(pipeline: Pipeline, source: str, target: str) -> PipelineEdge | None:
    """The first edge between two nodes, else the first into the target."""
    into = [edge for edge in pipeline.edges if edge.target == target]
    return next((edge for edge in into if edge.source == source), into[0] if into else None)
