"""DOT files as pipelines (context-fidelity.md, "DOT Usage Example"; settled.md).

The parser is this program's own: pydot needs 60 ms for a usual pipeline and 15 s for 5,000 nodes
and refuses bare values such as `model=gpt-5.2`. The tests compare the two.
"""

from __future__ import annotations

from pathlib import Path

from reviewer.errors import ReviewerError
from reviewer.pipelines import dot_meaning as meaning
from reviewer.pipelines.dot_grammar import read_dot
from reviewer.pipelines.dot_graph import WrittenEdge, WrittenGraph, WrittenNode
from reviewer.pipelines.dot_scanner import DotError
from reviewer.pipelines.values import Pipeline, PipelineEdge, PipelineNode, Remark
from reviewer.plain_files import open_plain

LARGEST = 32 * 1024 * 1024
"""Bytes of a pipeline file, at most."""


def parse_dot(text: str, path: Path | None = None) -> Pipeline:
    """The pipeline that a DOT text describes, with what is odd about it in `warnings`.

    `path` names the text in messages, and the pipeline where its graph has no name. Raises DotError
    (one line, with line and column) where the text is not DOT.
    """
    graph = read_dot(text, path)
    attributes = graph.attributes
    retries = meaning.whole(meaning.first(attributes, meaning.RETRIES_OF_GRAPH)) or 0
    nodes = _with_ends({name: _node(node, retries) for name, node in graph.nodes.items()})
    pipeline = Pipeline(
        name=graph.name or (path.stem if path else "pipeline"),
        goal=attributes.get("goal", ""),
        nodes=nodes,
        edges=tuple(_edge(edge, index) for index, edge in enumerate(graph.edges)),
        default_fidelity=meaning.first(attributes, meaning.FIDELITY_OF_GRAPH),
        default_thread_id=meaning.first(attributes, meaning.THREAD_OF_GRAPH),
        attributes=attributes,
    )
    from reviewer.pipelines.lint import lint

    remarks = [*graph.remarks, *_undeclared(graph), *lint(pipeline, graph.lines)]
    remarks.sort(key=lambda remark: -1 if remark.line is None else remark.line)
    import msgspec

    return msgspec.structs.replace(pipeline, warnings=tuple(remarks))


def read_pipeline(path: Path) -> Pipeline:
    """The pipeline of a file. Raises ReviewerError where it cannot be read, DotError as above."""
    try:
        if path.is_dir():
            raise ReviewerError(f"{path} is a folder; name a DOT file.")
        with open_plain(path) as file:
            data = file.read(LARGEST + 1)
    except OSError as problem:
        raise ReviewerError(f"Cannot read {path}: {problem.strerror or problem}.") from problem
    if len(data) > LARGEST:
        raise ReviewerError(f"{path} is larger than {LARGEST // 2**20} MB; that is no pipeline.")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = data.decode("utf-16", "replace")
    else:
        text = data.decode("utf-8-sig", "replace")
    return parse_dot(text, path)


def _node(node: WrittenNode, retries: int) -> PipelineNode:
    values = node.attributes
    own = meaning.whole(values.get("max_retries"))
    return PipelineNode(
        name=node.name,
        label=values.get("label") or node.name,
        shape=values.get("shape", "box"),
        handler=meaning.handler_of(values),
        prompt=meaning.first(values, meaning.PROMPT) or "",
        fidelity=values.get("fidelity") or None,
        thread_id=values.get("thread_id") or None,
        classes=node.classes,
        max_retries=max(retries if own is None else own, 0),
        llm_model=meaning.first(values, meaning.MODEL),
        attributes=values,
        line=node.line,
    )


def _with_ends(nodes: dict[str, PipelineNode]) -> dict[str, PipelineNode]:
    """Where no node is a start or an exit, the one with that name is."""
    import msgspec

    for handler in (meaning.START, meaning.EXIT):
        if any(node.handler == handler for node in nodes.values()):
            continue
        for name, node in nodes.items():
            plain = node.handler == meaning.CODERGEN
            if plain and meaning.by_name(name, prompt=node.prompt) == handler:
                nodes[name] = msgspec.structs.replace(node, handler=handler)
                break
    return nodes


def _edge(edge: WrittenEdge, index: int) -> PipelineEdge:
    values = edge.attributes
    return PipelineEdge(
        source=edge.source,
        target=edge.target,
        index=index,
        label=values.get("label", ""),
        condition=values.get("condition", ""),
        weight=meaning.whole(values.get("weight")) or 0,
        fidelity=values.get("fidelity") or None,
        thread_id=values.get("thread_id") or None,
        attributes=values,
        line=edge.line,
    )


def _undeclared(graph: WrittenGraph) -> list[Remark]:
    """Edges to nowhere: names that only edges know, in a graph that declares its other nodes."""
    named = [node for node in graph.nodes.values() if not node.declared]
    if len(named) * 2 > len(graph.nodes):
        return []
    return [
        Remark(
            "edge-to-nowhere",
            f"{node.name} is named by an edge only and declared nowhere.",
            node.line,
        )
        for node in named
        if meaning.by_name(node.name, prompt="") is None
    ]


__all__ = ["DotError", "parse_dot", "read_pipeline"]
