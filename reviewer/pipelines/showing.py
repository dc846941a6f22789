"""A pipeline as it may be shown and handed out: without the secrets in its texts."""

from __future__ import annotations

from msgspec import structs

from reviewer.pipelines.values import Pipeline, PipelineEdge, PipelineNode


def without_secrets(pipeline: Pipeline) -> Pipeline:
    """The same pipeline with every text masked; names stay, as they join nodes and edges.

    For a look only: a command needs its secrets to run.
    """
    return structs.replace(
        pipeline,
        goal=_masked(pipeline.goal),
        nodes={name: _node(node) for name, node in pipeline.nodes.items()},
        edges=tuple(_edge(edge) for edge in pipeline.edges),
        attributes=_all(pipeline.attributes),
        warnings=tuple(
            structs.replace(each, message=_masked(each.message)) for each in pipeline.warnings
        ),
    )


def _node(node: PipelineNode) -> PipelineNode:
    return structs.replace(
        node,
        label=_masked(node.label),
        prompt=_masked(node.prompt),
        attributes=_all(node.attributes),
    )


def _edge(edge: PipelineEdge) -> PipelineEdge:
    return structs.replace(
        edge,
        label=_masked(edge.label),
        condition=_masked(edge.condition),
        attributes=_all(edge.attributes),
    )


def _all(attributes: dict[str, str]) -> dict[str, str]:
    return {name: _masked(value) for name, value in attributes.items()}


def _masked(text: str) -> str:
    if len(text) < _SHORTEST:
        return text
    from reviewer.text.secrets import mask  # late: most pipelines have no long text

    return mask(text).text


_SHORTEST = 9
"""Shorter texts hold no name with a secret to it."""
