"""Remarks about a pipeline: graph structure, modes, threads, handlers, likely mistakes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from reviewer.pipelines.attribute_meanings import (
    COMMAND,
    FIDELITY_OF_GRAPH,
    RETRIES_OF_GRAPH,
    first_of,
    unknown_type,
    whole_number,
)
from reviewer.pipelines.conditions import ConditionError, parse_condition
from reviewer.pipelines.resolve import as_mode, resolve_fidelity
from reviewer.pipelines.values import (
    MODES,
    Handler,
    Pipeline,
    Remark,
)
from reviewer.pipelines.walk import incoming, nodes_with, outgoing, reached
from reviewer.text.numerals import some_of


def lint(pipeline: Pipeline) -> Iterator[Remark]:
    """The remarks about a pipeline, rule by rule."""
    if not pipeline.nodes:
        yield Remark("empty", "The graph has no nodes.")
        return
    for rule in (_ends, _ways, _threads, _handlers, _conditions, _values):
        yield from rule(pipeline)


def _at(pipeline: Pipeline, rule: str, message: str, names: list[str]) -> Remark:
    """A remark about nodes, with the line of the first one."""
    return Remark(rule, message, pipeline.nodes[names[0]].line)


def _ends(pipeline: Pipeline) -> Iterator[Remark]:
    starts = nodes_with(pipeline, Handler.START)
    if "" in pipeline.nodes:
        yield _at(pipeline, "no-name", 'A node is named "": give it a name.', [""])
    if not starts:
        message = "No start: give one node shape=Mdiamond or the name start."
        yield Remark("no-start", message)
    if len(starts) > 1:
        message = f"There are {len(starts)} starts ({some_of(starts)}); a run needs exactly one."
        yield _at(pipeline, "two-starts", message, starts[1:])
    if not nodes_with(pipeline, Handler.EXIT):
        yield Remark("no-exit", "No exit: give one node shape=Msquare or the name exit.")


def _ways(pipeline: Pipeline) -> Iterator[Remark]:
    """Nodes unreachable from the start, and nodes that cannot reach an exit."""
    starts, exits = (nodes_with(pipeline, each) for each in (Handler.START, Handler.EXIT))
    alive = reached(starts, outgoing(pipeline)) if starts else set(pipeline.nodes)
    saved = reached(exits, incoming(pipeline), against=True) if exits else alive
    lost = [name for name in pipeline.nodes if name not in alive]
    if lost:
        message = f"Unreachable from the start: {some_of(lost)}."
        yield _at(pipeline, "unreachable", message, lost)
    trapped = [name for name in pipeline.nodes if name in alive and name not in saved]
    if trapped:
        message = f"No path to an exit from {some_of(trapped)}."
        yield _at(pipeline, "dead-end", message, trapped)


def _threads(pipeline: Pipeline) -> Iterator[Remark]:
    into = incoming(pipeline)
    for node in pipeline.nodes.values():
        ways = {resolve_fidelity(edge, node, pipeline) for edge in into[node.name]}
        if node.attributes.get("thread_id") and ways and "full" not in ways:
            message = f"{node.name} has a thread, but no edge enters it in full mode"
            message += f" ({some_of(sorted(ways))})."
            yield Remark("thread-unused", message, node.line)
    for edge in pipeline.edges:
        mode = resolve_fidelity(edge, pipeline.nodes[edge.target], pipeline)
        if edge.attributes.get("thread_id") and mode != "full":
            message = f"{edge.source} -> {edge.target} has a thread, but its mode is {mode}; only"
            yield Remark("thread-unused", f"{message} full uses one.", edge.line)


def _handlers(pipeline: Pipeline) -> Iterator[Remark]:
    by_handler: dict[str, list[str]] = {}
    by_type: dict[str, list[str]] = {}
    for node in pipeline.nodes.values():
        by_handler.setdefault(node.handler, []).append(node.name)
        if named := unknown_type(node.attributes):
            by_type.setdefault(named, []).append(node.name)
    for named, names in by_type.items():
        message = f"Unknown type {named!r}, so the shape decides: {some_of(names)}."
        yield _at(pipeline, "unknown-type", message, names)
    tools = by_handler.get(Handler.TOOL, [])
    if tools:
        message = "Shell commands, which run only with --allow-tools; read them first: "
        yield _at(pipeline, "shell", f"{message}{some_of(tools)}.", tools)
    for name in tools:
        if first_of(pipeline.nodes[name].attributes, COMMAND) is None:
            yield _at(pipeline, "no-command", f"{name} has no tool_command to run.", [name])
    for handler, names in by_handler.items():
        if handler not in list(Handler):
            message = f"{handler} is not supported, so the pipeline cannot run: {some_of(names)}."
            yield _at(pipeline, "unsupported-handler", message, names)


def _conditions(pipeline: Pipeline) -> Iterator[Remark]:
    for edge in pipeline.edges:
        try:
            parse_condition(edge.condition)
        except ConditionError as problem:
            yield Remark("condition", f"{edge.source} -> {edge.target}: {problem}", edge.line)


def _values(pipeline: Pipeline) -> Iterator[Remark]:
    """Values ignored by a run."""
    places: list[tuple[str, Mapping[str, str], int | None]] = [
        ("The graph", pipeline.attributes, None)
    ]
    places += [(node.name, node.attributes, node.line) for node in pipeline.nodes.values()]
    places += [
        (f"{edge.source} -> {edge.target}", edge.attributes, edge.line) for edge in pipeline.edges
    ]
    for who, attributes, line in places:
        mode = first_of(attributes, FIDELITY_OF_GRAPH if line is None else ("fidelity",))
        if mode and as_mode(mode) is None:
            near = get_close_matches(mode.strip().lower(), MODES, n=1)
            hint = f"Did you mean {near[0]}?" if near else f"Modes: {', '.join(MODES)}."
            message = f"{who}: unknown fidelity {mode!r} is ignored. {hint}"
            yield Remark("unknown-mode", message, line)
        for key in ("retry_target", "fallback_retry_target"):
            if (value := attributes.get(key)) and value not in pipeline.nodes:
                message = f"{who}: {key} names {value!r}, which is not a node."
                yield Remark("edge-to-nowhere", message, line)
        for key in ("max_retries", "weight", *RETRIES_OF_GRAPH):
            if (value := attributes.get(key)) and whole_number(value) is None:
                message = f"{who}: {key} is {value!r}, which is not a whole number."
                yield Remark("no-number", message, line)
