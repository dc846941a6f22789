"""Which fidelity and which thread a node gets, and why (context-fidelity.md, settled.md)."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from reviewer.pipelines.values import MODES, Pipeline, PipelineEdge, PipelineNode, Resolution

DEFAULT_MODE = "compact"
DEGRADED_MODE = "summary:high"
"""What `full` becomes for the first node after a resume: its session is gone."""


def as_mode(text: str | None) -> str | None:
    """The mode that a text names, None where it names none."""
    mode = (text or "").strip().lower()
    return mode if mode in MODES else None


def explain_fidelity(
    edge: PipelineEdge | None, node: PipelineNode, pipeline: Pipeline
) -> Resolution:
    """Edge, node, graph, default: the first that names a known mode decides.

    `steps` shows what each of them says, also one that is no mode and therefore passed over.
    """
    steps = (
        ("edge", edge.fidelity if edge else None),
        ("node", node.fidelity),
        ("graph", pipeline.default_fidelity),
        ("default", DEFAULT_MODE),
    )
    rule, value = next((rule, mode) for rule, said in steps if (mode := as_mode(said)))
    return Resolution(value, rule, steps)


def resolve_fidelity(edge: PipelineEdge | None, node: PipelineNode, pipeline: Pipeline) -> str:
    """The fidelity mode of `node` when it is entered through `edge` (None: it is the first)."""
    return explain_fidelity(edge, node, pipeline).value


def explain_thread(
    edge: PipelineEdge | None, node: PipelineNode, pipeline: Pipeline, prev_node_name: str
) -> Resolution:
    """Node, edge, graph, class of the innermost subgraph, previous node: the first decides.

    A node that nothing came before gets a thread of its own name.
    """
    steps = (
        ("node", node.thread_id),
        ("edge", edge.thread_id if edge else None),
        ("graph", pipeline.default_thread_id),
        ("subgraph", node.classes[0] if node.classes else None),
        ("previous node", prev_node_name or None),
        ("own name", node.name),
    )
    rule, value = next((rule, said) for rule, said in steps if said)
    return Resolution(value, rule, steps if rule == "own name" else steps[:-1])


def resolve_thread_id(
    edge: PipelineEdge | None, node: PipelineNode, pipeline: Pipeline, prev_node_name: str
) -> str:
    """The thread whose session `node` goes on with in `full` mode."""
    return explain_thread(edge, node, pipeline, prev_node_name).value


def fidelity_on_resume(resolved: str, is_first_after_resume: bool) -> str:
    """The mode after a resume: `full` becomes `summary:high` for the first node, once."""
    return DEGRADED_MODE if is_first_after_resume and resolved == "full" else resolved


class Way(Struct, frozen=True):
    """How a node is entered through an edge (None: it is the first of a run), and why so."""

    edge: PipelineEdge | None
    node: PipelineNode
    fidelity: Resolution
    thread: Resolution

    @property
    def shared_thread(self) -> str:
        """The thread whose session goes on, empty in any mode but `full`."""
        return self.thread.value if self.fidelity.value == "full" else ""


def way_through(
    pipeline: Pipeline, edge: PipelineEdge | None, node: PipelineNode, previous: str = ""
) -> Way:
    """How `node` is entered through `edge`, or without one after the node `previous`."""
    before = edge.source if edge else previous
    return Way(
        edge,
        node,
        explain_fidelity(edge, node, pipeline),
        explain_thread(edge, node, pipeline, before),
    )


def ways(pipeline: Pipeline) -> Iterator[Way]:
    """How each edge enters its target, in file order."""
    for edge in pipeline.edges:
        yield way_through(pipeline, edge, pipeline.nodes[edge.target])
