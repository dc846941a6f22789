"""`reviewer pipeline check|show|preamble`: look at pipelines without running them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reviewer.cli.output import (
    count,
    narrate,
    print_json,
    print_text,
    safe,
    safe_lines,
    table,
)
from reviewer.cli.session import Entry, LazyGroup, Session, Verb, pass_session

if TYPE_CHECKING:
    from reviewer.pipelines.resolve import Carried, Way
    from reviewer.pipelines.values import (
        Pipeline,
        PipelineEdge,
        Preamble,
        Resolution,
        RunHistory,
    )
    from reviewer.pipelines.walk import Stop

FILE = click.Path(path_type=Path, readable=False)
MODES = ("full", "truncate", "compact", "summary:low", "summary:medium", "summary:high")

COMMANDS = {
    "check": Entry(
        "reviewer.cli.pipeline:check", "List nodes, edges, fidelity, threads and warnings."
    ),
    "show": Entry("reviewer.cli.pipeline:show", "Show the graph in walking order, or one node."),
    "preamble": Entry(
        "reviewer.cli.pipeline:preamble", "Show what a fresh session would begin with."
    ),
    "run": Entry("reviewer.cli.pipeline_run:run", "Run a pipeline from its start to its exit."),
    "resume": Entry("reviewer.cli.pipeline_run:resume", "Resume a run."),
    "runs": Entry(
        "reviewer.cli.pipeline_run:runs",
        "List the runs of the store, newest first, or the stages of one.",
    ),
}


@click.group(cls=LazyGroup, entries=COMMANDS)
def pipeline() -> None:
    """Check, preview, run and resume a pipeline.

    A pipeline is a DOT file. Boxes are prompts for a model; edges, nodes or the graph set how much
    of the earlier stages each one sees (fidelity).
    """


@click.command(cls=Verb)
@click.argument("file", type=FILE)
@click.option("--strict", is_flag=True, help="Exit with 1 if there are warnings.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def check(file: Path, strict: bool, as_json: bool) -> None:
    """List nodes, edges, fidelity, threads and warnings."""
    from reviewer.pipelines.rules import PipelineRules

    rules = PipelineRules()
    found = rules.shown(rules.read(file))
    ways = list(rules.ways(found))
    if as_json:
        print_json(_check_json(file, found, ways))
    else:
        _show_check(found, ways)
    if strict and found.warnings:
        raise click.exceptions.Exit(1)


@click.command(cls=Verb)
@click.argument("file", type=FILE)
@click.option("--node", metavar="NAME", help="Explain step by step how this node is entered.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per node (or way into it).")
def show(file: Path, node: str | None, as_json: bool) -> None:
    """Show the graph in walking order, or one node."""
    from reviewer.pipelines.rules import PipelineRules

    rules = PipelineRules()
    found = rules.shown(rules.read(file))
    if node is None:
        for number, stop in enumerate(rules.walk(found), 1):
            if as_json:
                print_json(_stop_json(number, stop))
            else:
                _show_stop(number, stop, [rules.way(found, edge) for edge in stop.edges])
        return
    wanted = rules.node(found, node)
    ways = [rules.way(found, edge) for edge in found.edges if edge.target == wanted.name]
    for way in ways or [rules.entry_after(found, _nothing(), wanted.name)]:
        if as_json:
            print_json(_way_json(way))
        else:
            _show_way(way)


@click.command(cls=Verb, example="pipeline preamble build.dot --node review --mode all")
@click.argument("file", type=FILE)
@click.option("--node", metavar="NAME", required=True, help="The node that is about to run.")
@click.option(
    "--mode",
    type=click.Choice([*MODES, "all"]),
    help="The fidelity (default: as edge, node and graph resolve it).",
)
@click.option(
    "--history", type=FILE, metavar="RUN.json",
    help="The run so far, as below; or a checkpoint, or the folder of a run.",
)  # fmt: skip
@click.option("--run", "run_id", metavar="RUN", help="A run of the store instead of a file.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a mode.")
@pass_session
def preamble(
    session: Session,
    file: Path,
    node: str,
    mode: str | None,
    history: Path | None,
    run_id: str | None,
    as_json: bool,
) -> None:
    """Show what a fresh session would begin with.

    The text stays within the token limit of its mode. For `full` it shows the thread's session,
    which is not sent again.

    RUN.json lists the stages that ran, oldest first; every key is optional:

    \b
    {"run_id": "r1",
     "completed": [{"node": "plan", "outcome": "success", "notes": "...",
                    "tools": [{"name": "shell", "arguments": {}, "result": ""}],
                    "duration_s": 12.5}],
     "context": {"key": "any JSON value"},
     "retries": {"plan": [1, 3]}}
    """
    if history is not None and run_id is not None:
        raise click.UsageError("--history and --run name the same thing: give one of them")
    from reviewer.pipelines.rules import PipelineRules
    from reviewer.pipelines.values import RunHistory

    rules = PipelineRules()
    found = rules.read(file)
    run = RunHistory("")
    if history is not None:
        run = rules.read_history(history)
    elif run_id is not None:
        with session.reading() as engine:
            run = engine.pipelines.history_of(run_id)
    way = rules.entry_after(found, run, node)
    chosen = mode or way.fidelity.value
    for each in MODES if chosen == "all" else (chosen,):
        text = rules.preamble(found, each, run, node)
        thread = rules.carried(found, run, way) if each == "full" else None
        if as_json:
            print_json(_preamble_json(text, thread, way))
        else:
            _show_preamble(text, thread, titled=chosen == "all")


def way_title(edge: PipelineEdge | None) -> str:
    """`implement -> review`, with the edge's condition or label."""
    if edge is None:
        return "at the start"
    asked = edge.condition or edge.label
    return f"{edge.source} -> {edge.target}" + (f"  [{asked}]" if asked else "")


def _nothing() -> RunHistory:
    from reviewer.pipelines.values import RunHistory

    return RunHistory("")


def _show_check(found: Pipeline, ways: list[Way]) -> None:
    size = f"{count(len(found.nodes), 'node')}, {count(len(found.edges), 'edge')}"
    print_text(f"{safe(found.name)}: {size}")
    if found.goal:
        print_text(f"Goal: {safe(found.goal)}")
    for line in table(_rows(ways)):
        print_text("  " + line)
    if found.warnings:
        print_text(f"{count(len(found.warnings), 'warning')}:")
    for warning in found.warnings:
        where = "" if warning.line is None else f"line {warning.line + 1}: "
        print_text(f"  {where}{safe(warning.message)}  ({warning.rule})")
    if not found.warnings:
        narrate("No warnings.")


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


def _show_stop(number: int, stop: Stop, ways: list[Way]) -> None:
    lost = "" if stop.reachable else "  (unreachable)"
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


def _show_way(way: Way) -> None:
    print_text(safe(way_title(way.edge)))
    unused = "" if way.shared_thread else "  (not used: only full continues a session)"
    for name, resolution, note in (
        ("fidelity", way.fidelity, ""), ("thread", way.thread, unused)
    ):  # fmt: skip
        print_text(f"  {name} {safe(resolution.value)}{note}")
        for rule, value in resolution.steps:
            mark = "  <- decides" if rule == resolution.rule else ""
            odd = _passed_over(resolution, rule, value)
            print_text(f"    {rule:<13} {safe(value or '-')}{odd}{mark}")


def _passed_over(resolution: Resolution, rule: str, value: str | None) -> str:
    """A note for a rule that comes before the deciding one but has an invalid mode."""
    order = [name for name, _ in resolution.steps]
    before = order.index(rule) < order.index(resolution.rule)
    return "  (no such mode)" if value and before else ""


def _check_json(file: Path, found: Pipeline, ways: list[Way]) -> dict[str, Any]:
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


def _show_preamble(text: Preamble, thread: Carried | None, *, titled: bool) -> None:
    if titled:
        print_text(f"== {text.mode}")
    for line in safe_lines(thread.text if thread else text.text):
        print_text(line)
    if thread is not None:
        narrate(
            f'full: thread "{safe(thread.thread)}" has {count(len(thread.stages), "stage")}, '
            f"{count(thread.tokens, 'token')}; nothing is sent again. After a resume the first "
            f"node of the thread gets {thread.after_resume} instead."
        )
        return
    missing = [
        f"{count(text.left_out, 'oldest stage')} left out" if text.left_out else "",
        f"{count(text.values_left_out, 'value')} left out" if text.values_left_out else "",
        f"{count(text.shortened, 'text')} shortened" if text.shortened else "",
    ]
    omitted = "; ".join(each for each in missing if each)
    narrate(
        f"{text.mode}: {text.tokens:,} of {text.budget:,} tokens" + (f"; {omitted}" * bool(omitted))
    )


def _preamble_json(text: Preamble, thread: Carried | None, way: Way) -> dict[str, Any]:
    found: dict[str, Any] = {
        "mode": text.mode,
        "node": way.node.name,
        "text": thread.text if thread else text.text,
        "tokens": thread.tokens if thread else text.tokens,
        "budget": text.budget,
        "left_out": text.left_out,
        "values_left_out": text.values_left_out,
        "shortened": text.shortened,
        "encoding": "cl100k_base",
        "resolved": way.fidelity.value,
        "resolved_by": way.fidelity.rule,
    }
    if thread is not None:
        found |= {
            "thread": thread.thread,
            "carries": [stage.node for stage in thread.stages],
            "after_resume": thread.after_resume,
        }
    return found
