"""What a thread's session holds after a run, and what a resume would lose of it."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from reviewer.pipelines.dot_meaning import CODERGEN
from reviewer.pipelines.resolve import DEGRADED_MODE, Way, way_through
from reviewer.pipelines.values import Pipeline, PipelineEdge, PipelineNode, RunHistory, Stage


class Carried(Struct, frozen=True):
    """The stages whose conversation a node would go on with in `full` mode, oldest first.

    `tokens` are those of `text`: prompts as written and notes; what a model really read and wrote
    is in the folders of a run. `after_resume` is the mode that a resume would put in its place.
    """

    thread: str
    stages: tuple[Stage, ...]
    text: str
    tokens: int
    after_resume: str = DEGRADED_MODE


def way_of_run(pipeline: Pipeline, history: RunHistory, node: PipelineNode) -> Way:
    """How `node` is entered after what ran last; without a way from there, by its first edge."""
    last = history.completed[-1].node if history.completed else ""
    return way_through(pipeline, _edge(pipeline, last, node.name), node, last)


def carried(pipeline: Pipeline, history: RunHistory, way: Way) -> Carried:
    """What the thread of `way` holds by now, as if `way` were entered in `full` mode."""
    from reviewer.text.tokens import counter

    thread = way.thread.value
    stages = tuple(
        stage for stage, entered in _entries(pipeline, history) if entered.shared_thread == thread
    )
    text = "\n\n".join(_turn(pipeline.nodes[stage.node], stage) for stage in stages)
    return Carried(thread, stages, text, counter().count(text))


def _entries(pipeline: Pipeline, history: RunHistory) -> Iterator[tuple[Stage, Way]]:
    """The stages that spoke with a model, each with how it was entered."""
    edges: dict[tuple[str, str], PipelineEdge] = {}
    for edge in reversed(pipeline.edges):
        edges[edge.source, edge.target] = edge
    last = ""
    for stage in history.completed:
        node = pipeline.nodes.get(stage.node)
        if node is not None and node.handler == CODERGEN:
            yield stage, way_through(pipeline, edges.get((last, node.name)), node, last)
        last = stage.node


def _edge(pipeline: Pipeline, source: str, target: str) -> PipelineEdge | None:
    """The first edge between two nodes; where there is none, the first into the target."""
    into = [edge for edge in pipeline.edges if edge.target == target]
    return next((edge for edge in into if edge.source == source), into[0] if into else None)


def _turn(node: PipelineNode, stage: Stage) -> str:
    from reviewer.pipelines.preamble_facts import masked

    prompt = masked(node.prompt or node.label).strip()
    return f"### {stage.node} ({stage.outcome})\n{prompt}\n\n{masked(stage.notes).strip()}".strip()
