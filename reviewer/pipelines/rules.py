"""What needs no store: reading a pipeline, its walk, its fidelity and its preambles."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec import structs

from reviewer.errors import UnknownIdError
from reviewer.pipelines.resolve import (
    NodeEntry,
    ThreadPreview,
    entries,
    entry_after,
    entry_through,
    thread_preview,
)
from reviewer.pipelines.values import (
    Pipeline,
    PipelineEdge,
    PipelineNode,
    Preamble,
    RunHistory,
)
from reviewer.pipelines.walk import WalkStep, walk

_SHORTEST_MASKED = 9
"""Characters. Shorter texts have no room for a secret and its name."""


class PipelineRules:
    """Functions that need no store."""

    def read(self, path: Path) -> Pipeline:
        """The pipeline of a DOT file. Raises DotError with line and column, or ReviewerError."""
        from reviewer.pipelines.dot import read_pipeline

        return read_pipeline(path)

    def shown(self, pipeline: Pipeline) -> Pipeline:
        """The pipeline as it may be shown: its secrets are masked."""
        return without_secrets(pipeline)

    def read_history(self, path: Path) -> RunHistory:
        """The run of a JSON file or of a run's folder. Raises HistoryError."""
        from reviewer.pipelines.history import read_history

        return read_history(path)

    def walk(self, pipeline: Pipeline) -> tuple[WalkStep, ...]:
        """All nodes in walking order, with the edges that leave them."""
        return walk(pipeline)

    def entries(self, pipeline: Pipeline) -> Iterator[NodeEntry]:
        """How each edge enters its target: fidelity, thread, and the rules that decided."""
        return entries(pipeline)

    def entry(self, pipeline: Pipeline, edge: PipelineEdge) -> NodeEntry:
        """How one edge enters its target."""
        return entry_through(pipeline, edge, pipeline.nodes[edge.target])

    def entry_after(self, pipeline: Pipeline, history: RunHistory, node: str) -> NodeEntry:
        """How `node` would be entered after a run. Raises UnknownIdError."""
        return entry_after(pipeline, history, self.node(pipeline, node))

    def node(self, pipeline: Pipeline, name: str) -> PipelineNode:
        """The node of that name. Raises UnknownIdError, which suggests similar names."""
        if name in pipeline.nodes:
            return pipeline.nodes[name]
        from difflib import get_close_matches

        near = get_close_matches(name, pipeline.nodes, n=3) or list(pipeline.nodes)[:8]
        hint = f" It has: {', '.join(near)}." if near else " It has none."
        raise UnknownIdError(f"{pipeline.name} has no node {name!r}.{hint}")

    def preamble(self, pipeline: Pipeline, mode: str, history: RunHistory, node: str) -> Preamble:
        """The first text of a fresh session of `node`. Raises UnknownIdError, ReviewerError."""
        from reviewer.pipelines.preamble import build_preamble

        return build_preamble(mode, pipeline, history, self.node(pipeline, node).name)

    def thread_preview(
        self, pipeline: Pipeline, history: RunHistory, entry: NodeEntry
    ) -> ThreadPreview:
        """The conversation of the thread of `entry` in `full` mode; a resume loses it."""
        return thread_preview(pipeline, history, entry)

    def tokens(self, text: str) -> int:
        """Tokens of a text, as the ceilings of preambles count them."""
        from reviewer.text.tokens import counter

        return counter().count(text)


def without_secrets(pipeline: Pipeline) -> Pipeline:
    """The pipeline with the secrets in its texts masked; names stay, as edges refer to them."""
    return structs.replace(
        pipeline,
        goal=_masked(pipeline.goal),
        nodes={name: _node(node) for name, node in pipeline.nodes.items()},
        edges=tuple(_edge(edge) for edge in pipeline.edges),
        attributes=_values(pipeline.attributes),
        warnings=tuple(
            structs.replace(each, message=_masked(each.message)) for each in pipeline.warnings
        ),
    )


def _node(node: PipelineNode) -> PipelineNode:
    return structs.replace(
        node,
        label=_masked(node.label),
        prompt=_masked(node.prompt),
        attributes=_values(node.attributes),
    )


def _edge(edge: PipelineEdge) -> PipelineEdge:
    return structs.replace(
        edge,
        label=_masked(edge.label),
        condition=_masked(edge.condition),
        attributes=_values(edge.attributes),
    )


def _values(attributes: dict[str, str]) -> dict[str, str]:
    return {name: _masked(value) for name, value in attributes.items()}


def _masked(text: str) -> str:
    if len(text) < _SHORTEST_MASKED:
        return text
    from reviewer.text.secrets import mask  # late: most pipelines have no long text

    return mask(text).text
