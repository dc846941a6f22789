"""`reviewer pipeline`: check, look at and preview pipelines; run and resume them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reviewer.cli.lazy import Entry, LazyGroup
from reviewer.cli.output import count, narrate, print_json, print_text, safe, table
from reviewer.cli.session import Verb

if TYPE_CHECKING:
    from reviewer.engine import Pipeline, PipelineEdge, Resolution, RunHistory, Stop, Way

FILE = click.Path(path_type=Path, readable=False)

COMMANDS = {
    "check": Entry(
        "reviewer.cli.pipeline:check", "Nodes, edges, who decides fidelity and thread, remarks."
    ),
    "show": Entry("reviewer.cli.pipeline:show", "The graph in walking order, or one node of it."),
    "preamble": Entry(
        "reviewer.cli.pipeline_preamble:preamble", "What a fresh session would begin with."
    ),
    "run": Entry("reviewer.cli.pipeline_run:run", "Run a pipeline."),
    "resume": Entry("reviewer.cli.pipeline_run:resume", "Go on with a run."),
    "runs": Entry("reviewer.cli.pipeline_run:runs", "The runs of the store."),
}


@click.group(cls=LazyGroup, entries=COMMANDS)
def pipeline() -> None:
    """Check, preview, run and resume a pipeline.

    A pipeline is a DOT file: boxes are asked of a model, and each edge, node or the graph says how
    much of what came before is carried along (fidelity).
    """


@click.command(cls=Verb)
@click.argument("file", type=FILE)
@click.option("--strict", is_flag=True, help="Exit with 1 where there is something to remark.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def check(file: Path, strict: bool, as_json: bool) -> None:
    """Nodes, edges, who decides fidelity and thread, remarks."""
    from reviewer.storeless import pipeline_rules

    rules = pipeline_rules()
    found = rules.shown(rules.read(file))
    ways = list(rules.ways(found))
    if as_json:
        print_json(_as_json(file, found, ways))
    else:
        _tell(found, ways)
    if strict and found.warnings:
        raise click.exceptions.Exit(1)


@click.command(cls=Verb)
@click.argument("file", type=FILE)
@click.option("--node", metavar="NAME", help="Explain, step by step, how this node is entered.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a node (or way into it).")
def show(file: Path, node: str | None, as_json: bool) -> None:
    """The graph in walking order, or one node of it."""
    from reviewer.storeless import pipeline_rules

    rules = pipeline_rules()
    found = rules.shown(rules.read(file))
    if node is None:
        for number, stop in enumerate(rules.walk(found), 1):
            if as_json:
                print_json(_stop_json(number, stop))
            else:
                _tell_stop(number, stop, [rules.way(found, edge) for edge in stop.edges])
        return
    wanted = rules.node(found, node)
    ways = [rules.way(found, edge) for edge in found.edges if edge.target == wanted.name]
    for way in ways or [rules.way_of_run(found, _nothing(), wanted.name)]:
        if as_json:
            print_json(_way_json(way))
        else:
            _tell_way(way)


def way_title(edge: PipelineEdge | None) -> str:
    """`implement -> review`, with what the edge asks for."""
    if edge is None:
        return "at the start"
    asked = edge.condition or edge.label
    return f"{edge.source} -> {edge.target}" + (f"  [{asked}]" if asked else "")


def _nothing() -> RunHistory:
    from reviewer.engine import RunHistory

    return RunHistory("")


def _tell(found: Pipeline, ways: list[Way]) -> None:
    size = f"{count(len(found.nodes), 'node')}, {count(len(found.edges), 'edge')}"
    print_text(f"{safe(found.name)}: {size}")
    if found.goal:
        print_text(f"Goal: {safe(found.goal)}")
    for line in table(_rows(ways)):
        print_text("  " + line)
    if found.warnings:
        print_text(f"{count(len(found.warnings), 'remark')}:")
    for remark in found.warnings:
        where = "" if remark.line is None else f"line {remark.line + 1}: "
        print_text(f"  {where}{safe(remark.message)}  ({remark.rule})")
    if not found.warnings:
        narrate("Nothing to remark.")


def _rows(ways: Iterable[Way]) -> list[tuple[str, str, str, str]]:
    """Edge, fidelity, thread where one is shared, the edge's condition."""
    return [
        (
            safe(f"{way.edge.source} -> {way.edge.target}"),
            f"{way.fidelity.value} ({way.fidelity.rule})",
            safe(f"{way.thread.value} ({way.thread.rule})") if way.shared_thread else "",
            safe(way.edge.condition or way.edge.label),
        )
        for way in ways
        if way.edge is not None
    ]


def _tell_stop(number: int, stop: Stop, ways: list[Way]) -> None:
    lost = "" if stop.reachable else "  (no way leads here)"
    node = stop.node
    print_text(f"{number:>3}  {safe(node.name)}  {safe(node.handler)}{lost}")
    for way in ways:
        assert way.edge is not None
        back = " (back)" if way.edge.index in stop.back else ""
        thread = f' in thread "{safe(way.shared_thread)}"' if way.shared_thread else ""
        asked = safe(way.edge.condition or way.edge.label)
        print_text(
            f"       -> {safe(way.edge.target)}{back}: {way.fidelity.value}{thread}"
            + (f"  [{asked}]" if asked else "")
        )


def _tell_way(way: Way) -> None:
    print_text(safe(way_title(way.edge)))
    unused = "" if way.shared_thread else "  (not used: only full goes on with a session)"
    for name, resolution, note in (
        ("fidelity", way.fidelity, ""), ("thread", way.thread, unused)
    ):  # fmt: skip
        print_text(f"  {name} {safe(resolution.value)}{note}")
        for rule, said in resolution.steps:
            mark = "  <- decides" if rule == resolution.rule else ""
            odd = _passed_over(resolution, rule, said)
            print_text(f"    {rule:<13} {safe(said or '-')}{odd}{mark}")


def _passed_over(resolution: Resolution, rule: str, said: str | None) -> str:
    """Whether a rule before the one that decided said something that is no mode."""
    order = [name for name, _ in resolution.steps]
    before = order.index(rule) < order.index(resolution.rule)
    return "  (no such mode)" if said and before else ""


def _as_json(file: Path, found: Pipeline, ways: list[Way]) -> dict[str, Any]:
    return {
        "file": str(file),
        "name": found.name,
        "goal": found.goal,
        "default_fidelity": found.default_fidelity,
        "default_thread_id": found.default_thread_id,
        "nodes": [
            {
                "name": node.name,
                "label": node.label,
                "handler": node.handler,
                "fidelity": node.fidelity,
                "thread_id": node.thread_id,
                "classes": node.classes,
                "max_retries": node.max_retries,
                "line": node.line,
            }
            for node in found.nodes.values()
        ],
        "edges": [_way_json(way) for way in ways],
        "warnings": [
            {"rule": each.rule, "message": each.message, "line": each.line}
            for each in found.warnings
        ],
    }


def _way_json(way: Way) -> dict[str, Any]:
    edge = way.edge
    return {
        "source": edge.source if edge else None,
        "target": way.node.name,
        "label": edge.label if edge else "",
        "condition": edge.condition if edge else "",
        "weight": edge.weight if edge else 0,
        "line": edge.line if edge else way.node.line,
        "fidelity": way.fidelity.value,
        "fidelity_rule": way.fidelity.rule,
        "fidelity_steps": dict(way.fidelity.steps),
        "thread": way.thread.value,
        "thread_rule": way.thread.rule,
        "thread_steps": dict(way.thread.steps),
        "thread_used": bool(way.shared_thread),
    }


def _stop_json(number: int, stop: Stop) -> dict[str, Any]:
    return {
        "number": number,
        "name": stop.node.name,
        "label": stop.node.label,
        "handler": stop.node.handler,
        "prompt": stop.node.prompt,
        "reachable": stop.reachable,
        "edges": [
            {
                "target": edge.target,
                "label": edge.label,
                "condition": edge.condition,
                "weight": edge.weight,
                "back": edge.index in stop.back,
                "index": edge.index,
            }
            for edge in stop.edges
        ],
        "line": stop.node.line,
    }
