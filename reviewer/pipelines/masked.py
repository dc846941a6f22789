"""A pipeline as it may be shown: its secrets are masked."""

from __future__ import annotations

from msgspec import structs

from reviewer.pipelines.values import Pipeline, PipelineEdge, PipelineNode

_SHORTEST_MASKED = 9
"""Characters. Shorter texts have no room for a secret and its name."""


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
