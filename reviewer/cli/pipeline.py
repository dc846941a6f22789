"""`reviewer pipeline check|show|preamble`: look at pipelines without running them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reviewer.cli.output import (
    count,
    fields,
    json_option,
    narrate,
    print_json,
    print_text,
    safe,
    safe_lines,
    table,
)
from reviewer.cli.session import Entry, LazyGroup, Session, Verb, pass_session

if TYPE_CHECKING:
    from reviewer.pipelines.resolve import NodeEntry, ThreadPreview
    from reviewer.pipelines.values import (
        Pipeline,
        PipelineEdge,
        Preamble,
        Resolution,
        RunHistory,
    )
    from reviewer.pipelines.walk import WalkStep

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
@json_option("One JSON object.")
def check(file: Path, strict: bool, as_json: bool) -> None:
    """List nodes, edges, fidelity, threads and warnings."""
    from reviewer.pipelines.rules import PipelineRules

    rules = PipelineRules()
    found = rules.shown(rules.read(file))
    entries = list(rules.entries(found))
    if as_json:
        print_json(_check_json(file, found, entries))
    else:
        _show_check(found, entries)
    if strict and found.warnings:
        raise click.exceptions.Exit(1)


@click.command(cls=Verb)
@click.argument("file", type=FILE)
@click.option("--node", metavar="NAME", help="Explain step by step how this node is entered.")
@json_option("One JSON object per node (or edge into it).")
def show(file: Path, node: str | None, as_json: bool) -> None:
    """Show the graph in walking order, or one node."""
    from reviewer.pipelines.rules import PipelineRules

    rules = PipelineRules()
    found = rules.shown(rules.read(file))
    if node is None:
        for number, step in enumerate(rules.walk(found), 1):
            if as_json:
                print_json(_step_json(number, step))
            else:
                _show_step(number, step, [rules.entry(found, edge) for edge in step.edges])
        return
    wanted = rules.node(found, node)
    entries = [rules.entry(found, edge) for edge in found.edges if edge.target == wanted.name]
    for entry in entries or [rules.entry_after(found, _nothing(), wanted.name)]:
        if as_json:
            print_json(_entry_json(entry))
        else:
            _show_entry(entry)


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
@json_option("One JSON object per mode.")
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
    entry = rules.entry_after(found, run, node)
    chosen = mode or entry.fidelity.value
    for each in MODES if chosen == "all" else (chosen,):
        text = rules.preamble(found, each, run, node)
        thread = rules.thread_preview(found, run, entry) if each == "full" else None
        if as_json:
            print_json(_preamble_json(text, thread, entry))
        else:
            _show_preamble(text, thread, titled=chosen == "all")


def entry_title(edge: PipelineEdge | None) -> str:
    """`implement -> review`, with the edge's condition or label."""
    if edge is None:
        return "at the start"
    asked = edge.condition or edge.label
    return f"{edge.source} -> {edge.target}" + (f"  [{asked}]" if asked else "")


def _nothing() -> RunHistory:
    from reviewer.pipelines.values import RunHistory

    return RunHistory("")


def _show_check(found: Pipeline, entries: list[NodeEntry]) -> None:
    size = f"{count(len(found.nodes), 'node')}, {count(len(found.edges), 'edge')}"
    print_text(f"{safe(found.name)}: {size}")
    if found.goal:
        print_text(f"Goal: {safe(found.goal)}")
    for line in table(_rows(entries)):
        print_text("  " + line)
    if found.warnings:
        print_text(f"{count(len(found.warnings), 'warning')}:")
    for warning in found.warnings:
        where = "" if warning.line is None else f"line {warning.line + 1}: "
        print_text(f"  {where}{safe(warning.message)}  ({warning.rule})")
    if not found.warnings:
        narrate("No warnings.")


def _rows(entries: Iterable[NodeEntry]) -> list[tuple[str, str, str, str]]:
    """Edge, fidelity, thread where one is shared, the edge's condition."""
    return [
        (
            safe(f"{entry.edge.source} -> {entry.edge.target}"),
            f"{entry.fidelity.value} ({entry.fidelity.rule})",
            safe(f"{entry.thread.value} ({entry.thread.rule})") if entry.shared_thread else "",
            safe(entry.edge.condition or entry.edge.label),
        )
        for entry in entries
        if entry.edge is not None
    ]


def _show_step(number: int, step: WalkStep, entries: list[NodeEntry]) -> None:
    lost = "" if step.reachable else "  (unreachable)"
    node = step.node
    print_text(f"{number:>3}  {safe(node.name)}  {safe(node.handler)}{lost}")
    for entry in entries:
        assert entry.edge is not None
        back = " (back)" if entry.edge.index in step.back else ""
        thread = f' in thread "{safe(entry.shared_thread)}"' if entry.shared_thread else ""
        asked = safe(entry.edge.condition or entry.edge.label)
        print_text(
            f"       -> {safe(entry.edge.target)}{back}: {entry.fidelity.value}{thread}"
            + (f"  [{asked}]" if asked else "")
        )


def _show_entry(entry: NodeEntry) -> None:
    print_text(safe(entry_title(entry.edge)))
    unused = "" if entry.shared_thread else "  (not used: only full continues a session)"
    for name, resolution, note in (
        ("fidelity", entry.fidelity, ""), ("thread", entry.thread, unused)
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


def _check_json(file: Path, found: Pipeline, entries: list[NodeEntry]) -> dict[str, Any]:
    return {
        "file": file,
        **fields(found),
        "nodes": list(found.nodes.values()),
        "edges": [_entry_json(entry) for entry in entries],
    }


def _entry_json(entry: NodeEntry) -> dict[str, Any]:
    edge = entry.edge
    return {
        "source": edge.source if edge else None,
        "target": entry.node.name,
        "label": edge.label if edge else "",
        "condition": edge.condition if edge else "",
        "weight": edge.weight if edge else 0,
        "line": edge.line if edge else entry.node.line,
        "fidelity": entry.fidelity.value,
        "fidelity_rule": entry.fidelity.rule,
        "fidelity_steps": dict(entry.fidelity.steps),
        "thread": entry.thread.value,
        "thread_rule": entry.thread.rule,
        "thread_steps": dict(entry.thread.steps),
        "thread_used": bool(entry.shared_thread),
    }


def _step_json(number: int, step: WalkStep) -> dict[str, Any]:
    edges = [{**fields(edge), "back": edge.index in step.back} for edge in step.edges]
    return {"number": number, **fields(step.node), "reachable": step.reachable, "edges": edges}


def _show_preamble(text: Preamble, thread: ThreadPreview | None, *, titled: bool) -> None:
    if titled:
        print_text(f"== {text.mode}")
    for line in safe_lines(thread.text if thread else text.text):
        print_text(line)
    if thread is not None and not thread.stages:
        narrate(
            f'full: thread "{safe(thread.thread)}" has no session yet; it begins with the text of '
            f"{thread.after_resume}."
        )
        return
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


def _preamble_json(
    text: Preamble, thread: ThreadPreview | None, entry: NodeEntry
) -> dict[str, Any]:
    found = {
        **fields(text),
        "node": entry.node.name,
        "encoding": "cl100k_base",
        "resolved": entry.fidelity.value,
        "resolved_by": entry.fidelity.rule,
    }
    if thread is not None:
        found |= {
            "text": thread.text,
            "tokens": thread.tokens,
            "thread": thread.thread,
            "carries": [stage.node for stage in thread.stages],
            "after_resume": thread.after_resume,
        }
    return found
