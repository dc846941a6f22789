"""What is odd about a pipeline: shape of the graph, modes, threads, handlers, likely slips."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from reviewer.pipelines import dot_meaning as meaning
from reviewer.pipelines.conditions import ConditionError, parse_condition
from reviewer.pipelines.lint_attributes import attribute_remarks
from reviewer.pipelines.resolve import as_mode, resolve_fidelity
from reviewer.pipelines.values import MODES, Pipeline, Remark
from reviewer.pipelines.walk import exit_nodes, incoming, outgoing, reached, start_nodes

NAMED = 6
"""Nodes that one remark names, at most."""


def lint(pipeline: Pipeline, lines: Mapping[str, int] | None = None) -> tuple[Remark, ...]:
    """The remarks about a parsed pipeline, by rule. `lines`: where graph attributes stand."""
    lines = lines or {}
    return tuple(
        remark
        for rule in (_ends, _ways, _modes, _threads, _handlers, _conditions, attribute_remarks)
        for remark in rule(pipeline, lines)
    )


def _ends(pipeline: Pipeline, _: Mapping[str, int]) -> Iterator[Remark]:
    starts, exits = start_nodes(pipeline), exit_nodes(pipeline)
    if not pipeline.nodes:
        yield Remark("empty", "The graph has no nodes.")
        return
    if not starts:
        yield Remark(
            "no-start", "There is no start: one node needs shape=Mdiamond or the name start."
        )
    if len(starts) > 1:
        yield Remark(
            "two-starts",
            f"There are {len(starts)} starts ({listed(starts)}); a run needs just one.",
            pipeline.nodes[starts[1]].line,
        )
    if not exits:
        yield Remark("no-exit", "There is no exit: one node needs shape=Msquare or the name exit.")
    into = {edge.target: edge for edge in reversed(pipeline.edges)}
    out_of = {edge.source: edge for edge in reversed(pipeline.edges)}
    for name in starts:
        if name in into:
            yield Remark("start-entered", f"An edge leads back into the start {name}.",
                         into[name].line)  # fmt: skip
    for name in exits:
        if name in out_of:
            yield Remark("exit-left", f"An edge leaves the exit {name}; no run follows it.",
                         out_of[name].line)  # fmt: skip


def _ways(pipeline: Pipeline, _: Mapping[str, int]) -> Iterator[Remark]:
    """Nodes that no run reaches, dead ends, and loops that no run leaves."""
    starts, edges = start_nodes(pipeline), outgoing(pipeline)
    alive = reached(starts, edges) if starts else set(pipeline.nodes)
    lost = [name for name in pipeline.nodes if name not in alive]
    if lost:
        yield Remark("unreachable", f"No way leads from the start to {listed(lost)}.",
                     pipeline.nodes[lost[0]].line)  # fmt: skip
    exits = exit_nodes(pipeline)
    if not exits:
        return
    saved = reached(exits, incoming(pipeline), against=True)
    trapped = [name for name in pipeline.nodes if name in alive and name not in saved]
    ends = [name for name in trapped if not edges.get(name)]
    for name in ends:
        yield Remark("dead-end", f"{name} is no exit, and no edge leaves it.",
                     pipeline.nodes[name].line)  # fmt: skip
    to_an_end = reached(ends, incoming(pipeline), against=True)
    looping = [name for name in trapped if name not in to_an_end]
    if looping:
        yield Remark("cycle-without-exit", f"No way leads from {listed(looping)} to an exit.",
                     pipeline.nodes[looping[0]].line)  # fmt: skip


def _modes(pipeline: Pipeline, lines: Mapping[str, int]) -> Iterator[Remark]:
    said = [(node.name, node.fidelity, node.line) for node in pipeline.nodes.values()]
    said += [(f"{edge.source} -> {edge.target}", edge.fidelity, edge.line)
             for edge in pipeline.edges]  # fmt: skip
    for who, mode, line in said:
        if mode and as_mode(mode) is None:
            yield _unknown_mode(who, mode, line)
    mode = pipeline.default_fidelity
    if mode and as_mode(mode) is None:
        line_of_graph = next(
            (lines[key] for key in meaning.FIDELITY_OF_GRAPH if key in lines), None
        )
        yield _unknown_mode("The graph", mode, line_of_graph)


def _unknown_mode(who: str, mode: str, line: int | None) -> Remark:
    words = f"{who} has fidelity {mode!r}, which is no mode, so it does not count."
    return Remark("unknown-mode", words + _meant(mode), line)


def _meant(mode: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(mode.strip().lower(), MODES, n=1)
    return f" Did you mean {near[0]}?" if near else f" Modes: {', '.join(MODES)}."


def _threads(pipeline: Pipeline, _: Mapping[str, int]) -> Iterator[Remark]:
    """A thread is only used in `full` mode."""
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
        if named := meaning.unknown_type(node.attributes):
            by_type.setdefault(named, []).append(node.name)
    for named, names in by_type.items():
        yield Remark("unknown-type", f"The type {named!r} is unknown, the shape decides: "
                     f"{listed(names)}.", pipeline.nodes[names[0]].line)  # fmt: skip
    for handler, names in by_handler.items():
        line = pipeline.nodes[names[0]].line
        if handler == meaning.TOOL:
            yield Remark("shell", "Shell commands, which a run refuses without --allow-tools: "
                         f"{listed(names)}.", line)  # fmt: skip
        elif handler not in meaning.SUPPORTED:
            yield Remark("unsupported-handler", f"A run refuses to start, because {handler} is not "
                         f"supported: {listed(names)}.", line)  # fmt: skip


def _conditions(pipeline: Pipeline, _: Mapping[str, int]) -> Iterator[Remark]:
    for edge in pipeline.edges:
        try:
            parse_condition(edge.condition)
        except ConditionError as problem:
            yield Remark("condition", f"{edge.source} -> {edge.target}: {problem}", edge.line)


def listed(names: list[str]) -> str:
    """Names as a person lists them, the first few."""
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more:,} more" if more > 0 else "")
