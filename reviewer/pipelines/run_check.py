"""What is refused before a run starts, so that none stops in the middle for what was known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reviewer.pipelines.conditions import ConditionError, parse_condition
from reviewer.pipelines.handlers import EXIT, HUMAN, START, SUPPORTED, TOOL, command_of
from reviewer.pipelines.handlers_human import matching_choice, question_of, unknown_answer
from reviewer.pipelines.run_errors import RunError
from reviewer.pipelines.tool_seal import tool_nodes
from reviewer.pipelines.values import Pipeline

_SHOWN = 5


def require_runnable(pipeline: Pipeline, *, allow_tools: bool) -> None:
    """Raise RunError, with everything that stands in the way, unless the pipeline can be run."""
    problems = [
        *_ends(pipeline),
        *_edges(pipeline),
        *_handlers(pipeline),
        *([] if allow_tools else _tools(pipeline)),
    ]
    if problems:
        raise RunError(f"The pipeline {pipeline.name} cannot run. " + " ".join(problems))


def require_answers(pipeline: Pipeline, answers: Mapping[str, Sequence[str]]) -> None:
    """Raise RunError unless each answer given in advance is one that its node takes."""
    for name, given in answers.items():
        node = pipeline.nodes.get(name)
        if node is None or node.handler != HUMAN:
            asking = [each.name for each in pipeline.nodes.values() if each.handler == HUMAN]
            raise RunError(f"{name} asks nothing. Nodes that ask: {listed(asking) or 'none'}.")
        question = question_of(0, node, pipeline.edges_from(name), node.label)
        for answer in given:
            if matching_choice(question, answer) is None and not question.freeform:
                raise RunError(unknown_answer(question, answer))


def start_of(pipeline: Pipeline) -> str:
    """The node that a run begins with. Raises RunError unless there is exactly one."""
    problems = _ends(pipeline)
    if problems:
        raise RunError(" ".join(problems))
    return next(name for name, node in pipeline.nodes.items() if node.handler == START)


def _ends(pipeline: Pipeline) -> list[str]:
    starts = [name for name, node in pipeline.nodes.items() if node.handler == START]
    exits = [name for name, node in pipeline.nodes.items() if node.handler == EXIT]
    problems = []
    if not starts:
        problems.append("It has no start: give one node shape=Mdiamond.")
    elif len(starts) > 1:
        problems.append(f"It has {len(starts)} starts ({listed(starts)}); keep one.")
    if not exits:
        problems.append("It has no exit: give one node shape=Msquare.")
    return problems


def _edges(pipeline: Pipeline) -> list[str]:
    problems = []
    nowhere = [
        f"{edge.source} -> {edge.target}"
        for edge in pipeline.edges
        if edge.target not in pipeline.nodes or edge.source not in pipeline.nodes
    ]
    if nowhere:
        problems.append(f"Edges lead to nodes that are not there: {listed(nowhere)}.")
    for edge in pipeline.edges:
        try:
            parse_condition(edge.condition)
        except ConditionError as problem:
            problems.append(f"{edge.source} -> {edge.target} (line {edge.line + 1}): {problem}")
            if len(problems) > _SHOWN:
                break
    return problems


def _handlers(pipeline: Pipeline) -> list[str]:
    unsupported = [
        f"{node.name} ({node.handler})"
        for node in pipeline.nodes.values()
        if node.handler not in SUPPORTED
    ]
    idle = [
        node.name
        for node in pipeline.nodes.values()
        if node.handler == TOOL and not command_of(node)
    ]
    problems = []
    if unsupported:
        problems.append(f"These nodes need what is not supported: {listed(unsupported)}.")
    if idle:
        problems.append(f"These nodes have no tool_command to run: {listed(idle)}.")
    return problems


def _tools(pipeline: Pipeline) -> list[str]:
    tools = [node.name for node in tool_nodes(pipeline)]
    if not tools:
        return []
    return [
        f"These nodes run shell commands: {listed(tools)}. Read the commands, then allow them "
        "with --allow-tools."
    ]


def listed(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
