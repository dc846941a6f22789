"""Remarks about a pipeline: the shape of its graph, modes, threads, handlers, likely slips."""

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
    PARALLEL,
    SUPPORTED,
    TOOL,
    Pipeline,
    Remark,
    listed,
)
from reviewer.pipelines.walk import exit_nodes, incoming, outgoing, reached, start_nodes


def lint(pipeline: Pipeline, lines: Mapping[str, int] | None = None) -> tuple[Remark, ...]:
    """The remarks about a pipeline, by rule. `lines`: those of graph attributes (0-based)."""
    lines = lines or {}
    return tuple(
        remark
        for rule in (
            _ends,
            _ways,
            _modes,
            _threads,
            _handlers,
            _conditions,
            _attributes,
        )
        for remark in rule(pipeline, lines)
    )


def _ends(pipeline: Pipeline, _: Mapping[str, int]) -> Iterator[Remark]:
    starts, exits = start_nodes(pipeline), exit_nodes(pipeline)
    if not pipeline.nodes:
        yield Remark("empty", "The graph has no nodes.")
        return
    if "" in pipeline.nodes:
        yield Remark(
            "no-name",
            'A node is named "": give it a name.',
            pipeline.nodes[""].line,
        )
    if not starts:
        yield Remark(
            "no-start", "There is no start: give one node shape=Mdiamond or the name start."
        )
    if len(starts) > 1:
        yield Remark(
            "two-starts",
            f"There are {len(starts)} starts ({listed(starts)}); a run needs exactly one.",
            pipeline.nodes[starts[1]].line,
        )
    if not exits:
        yield Remark("no-exit", "There is no exit: give one node shape=Msquare or the name exit.")


def _ways(pipeline: Pipeline, _: Mapping[str, int]) -> Iterator[Remark]:
    """Nodes that no run reaches, and those from which none reaches an exit."""
    starts, exits = start_nodes(pipeline), exit_nodes(pipeline)
    alive = reached(starts, outgoing(pipeline)) if starts else set(pipeline.nodes)
    saved = reached(exits, incoming(pipeline), against=True) if exits else alive
    lost = [name for name in pipeline.nodes if name not in alive]
    if lost:
        yield Remark("unreachable", f"No way leads from the start to {listed(lost)}.",
                     pipeline.nodes[lost[0]].line)  # fmt: skip
    trapped = [name for name in pipeline.nodes if name in alive and name not in saved]
    if trapped:
        yield Remark("dead-end", f"No way leads from {listed(trapped)} to an exit.",
                     pipeline.nodes[trapped[0]].line)  # fmt: skip


def _modes(pipeline: Pipeline, lines: Mapping[str, int]) -> Iterator[Remark]:
    found = [(node.name, node.fidelity, node.line) for node in pipeline.nodes.values()]
    found += [(f"{edge.source} -> {edge.target}", edge.fidelity, edge.line)
             for edge in pipeline.edges]  # fmt: skip
    for who, mode, line in found:
        if mode and as_mode(mode) is None:
            yield _unknown_mode(who, mode, line)
    mode = pipeline.default_fidelity
    if mode and as_mode(mode) is None:
        line_of_graph = next((lines[key] for key in FIDELITY_OF_GRAPH if key in lines), None)
        yield _unknown_mode("The graph", mode, line_of_graph)


def _unknown_mode(who: str, mode: str, line: int | None) -> Remark:
    words = f"{who} has fidelity {mode!r}, which is not a mode; it is ignored."
    return Remark("unknown-mode", words + _near_mode(mode), line)


def _near_mode(mode: str) -> str:
    near = get_close_matches(mode.strip().lower(), MODES, n=1)
    return f" Did you mean {near[0]}?" if near else f" Modes: {', '.join(MODES)}."


def _threads(pipeline: Pipeline, _: Mapping[str, int]) -> Iterator[Remark]:
    into = incoming(pipeline)
    for node in pipeline.nodes.values():
        ways = [resolve_fidelity(edge, node, pipeline) for edge in into.get(node.name, ())]
        if node.attributes.get("thread_id") and ways and "full" not in ways:
            yield Remark("thread-unused", f"{node.name} has a thread, but no edge enters it in full"
                         f" mode ({listed(sorted(set(ways)))}).", node.line)  # fmt: skip
    for edge in pipeline.edges:
        if edge.attributes.get("thread_id"):
            mode = resolve_fidelity(edge, pipeline.nodes[edge.target], pipeline)
            if mode != "full":
                yield Remark("thread-unused", f"{edge.source} -> {edge.target} has a thread, but"
                             f" its mode is {mode}; only full uses one.", edge.line)  # fmt: skip


def _handlers(pipeline: Pipeline, _: Mapping[str, int]) -> Iterator[Remark]:
    by_handler: dict[str, list[str]] = {}
    by_type: dict[str, list[str]] = {}
    for node in pipeline.nodes.values():
        by_handler.setdefault(node.handler, []).append(node.name)
        if named := unknown_type(node.attributes):
            by_type.setdefault(named, []).append(node.name)
    for named, names in by_type.items():
        yield Remark("unknown-type", f"The type {named!r} is unknown, the shape decides: "
                     f"{listed(names)}.", pipeline.nodes[names[0]].line)  # fmt: skip
    for name in by_handler.get(TOOL, ()):
        if first_of(pipeline.nodes[name].attributes, COMMAND) is None:
            yield Remark("no-command", f"{name} has no tool_command to run.",
                         pipeline.nodes[name].line)  # fmt: skip
    for name in by_handler.get(PARALLEL, ()):
        from reviewer.pipelines.forks import join_of  # late: few pipelines need it

        problem = join_of(pipeline, pipeline.nodes[name])[1]
        if problem:
            yield Remark("parallel", f"{problem} No run starts.",
                         pipeline.nodes[name].line)  # fmt: skip
    for handler, names in by_handler.items():
        line = pipeline.nodes[names[0]].line
        if handler == TOOL:
            yield Remark("shell", "Shell commands, which run only with --allow-tools, so read them "
                         f"first: {listed(names)}.", line)  # fmt: skip
        elif handler not in SUPPORTED:
            yield Remark("unsupported-handler", f"{handler} is not supported, and no run starts: "
                         f"{listed(names)}.", line)  # fmt: skip


def _conditions(pipeline: Pipeline, _: Mapping[str, int]) -> Iterator[Remark]:
    for edge in pipeline.edges:
        try:
            parse_condition(edge.condition)
        except ConditionError as problem:
            yield Remark("condition", f"{edge.source} -> {edge.target}: {problem}", edge.line)


_WAYS = ("retry_target", "fallback_retry_target")


def _attributes(pipeline: Pipeline, _: Mapping[str, int]) -> Iterator[Remark]:
    """Values that a run would ignore."""
    places: list[tuple[str, Mapping[str, str], int | None]] = [
        ("The graph", pipeline.attributes, None)
    ]
    places += [(node.name, node.attributes, node.line) for node in pipeline.nodes.values()]
    places += [
        (f"{edge.source} -> {edge.target}", edge.attributes, edge.line) for edge in pipeline.edges
    ]
    for who, attributes, line in places:
        for key in _WAYS:
            if (value := attributes.get(key)) and value not in pipeline.nodes:
                yield Remark("edge-to-nowhere", f"{who}: {key} names {value!r}, "
                             "which is not a node.", line)  # fmt: skip
        for key in ("max_retries", "weight", *RETRIES_OF_GRAPH):
            value = attributes.get(key)
            if value and whole_number(value) is None:
                yield Remark("no-number", f"{who}: {key} is {value!r}, which is not a whole "
                             "number.", line)  # fmt: skip
