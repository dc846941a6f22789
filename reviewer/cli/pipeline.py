"""`reviewer pipeline check|show|preamble`: inspect pipelines without running them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from msgspec.structs import asdict

from reviewer.cli.inputs import FILE, option
from reviewer.cli.output import (
    count,
    emit,
    json_option,
    narrate,
    print_json,
    print_lines,
    print_table,
    print_text,
)
from reviewer.cli.session import VerbSection
from reviewer.pipelines import resolve
from reviewer.pipelines.dot import read_pipeline
from reviewer.pipelines.history import conversation_of, read_history, stages_of
from reviewer.pipelines.preamble import build_preamble
from reviewer.pipelines.resolve import DEGRADED_MODE, NodeEntry, entry_after, entry_through
from reviewer.pipelines.values import MODES, Pipeline, PipelineEdge, RunHistory
from reviewer.pipelines.walk import WalkStep, walk
from reviewer.text.secrets.values import without_secrets
from reviewer.text.tokens import counter


@click.group(cls=VerbSection)
def pipeline() -> None:
    """Check, preview, run and resume a pipeline.

    A pipeline is a DOT file. Boxes are prompts for a model; edges, nodes or the graph set how much
    of the earlier stages each one gets (fidelity).
    """


@pipeline.command()
@click.argument("file", type=FILE)
@json_option("One JSON object.")
def check(file: Path, as_json: bool) -> None:
    """List nodes, edges, fidelity, threads and warnings."""
    found = without_secrets(read_pipeline(file), Pipeline)
    entries = list(resolve.entries(found))
    if as_json:
        nodes, edges = list(found.nodes.values()), [_entry_json(entry) for entry in entries]
        print_json({"file": file, **asdict(found), "nodes": nodes, "edges": edges})
    else:
        _show_check(found, entries)


@pipeline.command()
@click.argument("file", type=FILE)
@option("--node NAME", "Explain step by step how this node is entered.")
@json_option("One JSON object per node (or edge into it).")
def show(file: Path, node: str | None, as_json: bool) -> None:
    """Show the graph in walking order, or one node."""
    found = without_secrets(read_pipeline(file), Pipeline)

    def entered(edge: PipelineEdge) -> NodeEntry:
        return entry_through(found, edge, found.nodes[edge.target])

    if node is None:
        emit(
            enumerate(walk(found), 1),
            as_json,
            lines=lambda each: _step_lines(*each, [entered(edge) for edge in each[1].edges]),
            to_json=lambda each: _step_json(*each),
        )
        return
    name = resolve.node_named(found, node).name
    entries = [entered(edge) for edge in found.edges if edge.target == name]
    emit(
        entries or [entry_after(found, RunHistory(""), name)],
        as_json,
        lines=_entry_lines,
        to_json=_entry_json,
    )


@pipeline.command(example="pipeline preamble build.dot --node review --mode all")
@click.argument("file", type=FILE)
@option("--node NAME", "The node about to run.", required=True)
@option(
    "--mode", "The fidelity (default: resolved from edge, node and graph).", choices=[*MODES, "all"]
)
@option(
    "--history RUN.json",
    "The run so far, as below; or a checkpoint, or a run's folder.",
    type=FILE,
)
@json_option("One JSON object per mode.")
def preamble(
    file: Path,
    node: str,
    mode: str | None,
    history: Path | None,
    as_json: bool,
) -> None:
    """Show the preamble of a fresh session.

    The text stays within the token limit of its mode. For `full` it shows the thread's session,
    which is not sent again.

    RUN.json lists the finished stages, oldest first; every key is optional:

    \b
    {"run_id": "r1",
     "completed": [{"node": "plan", "outcome": "success", "notes": "...",
                    "tools": [{"name": "shell", "arguments": {}, "result": ""}],
                    "duration_s": 12.5, "thread": "coding"}],
     "context": {"key": "any JSON value"},
     "retries": {"plan": [1, 3]}}
    """
    found = read_pipeline(file)
    run = RunHistory("") if history is None else read_history(history)
    entry = entry_after(found, run, node)
    chosen = mode or entry.fidelity.value
    for each in MODES if chosen == "all" else (chosen,):
        made = build_preamble(each, found, run, node)
        row = {
            **asdict(made),
            "node": node,
            "encoding": "cl100k_base",
            "resolved": entry.fidelity.value,
            "resolved_by": entry.fidelity.rule,
        }
        size = "; ".join((f"{each}: {made.tokens:,} of {made.budget:,} tokens", *made.missing()))
        if each == "full":
            stages = stages_of(run, entry.thread.value)
            text = conversation_of(found, stages)
            row |= {
                "text": text,
                "tokens": counter().count(text),
                "thread": entry.thread.value,
                "carries": [stage.node for stage in stages],
                "after_resume": DEGRADED_MODE,
            }
            size = (
                f'full: thread "{entry.thread.value}" has {count(len(stages), "stage")}, which are '
                f"not sent again. Without a session it starts with the text of {DEGRADED_MODE}."
            )
        if as_json:
            print_json(row)
            continue
        if chosen == "all":
            print_text(f"== {each}")
        print_lines(str(row["text"]))
        narrate(size)


def _asked(edge: PipelineEdge) -> str:
    """An edge's condition or label, in brackets."""
    asked = edge.condition or edge.label
    return f"  [{asked}]" if asked else ""


def _show_check(found: Pipeline, entries: list[NodeEntry]) -> None:
    size = f"{count(len(found.nodes), 'node')}, {count(len(found.edges), 'edge')}"
    print_text(f"{found.name}: {size}")
    if found.goal:
        print_text(f"Goal: {found.goal}")
    rows = (
        (
            f"  {edge.source} -> {edge.target}",
            f"{entry.fidelity.value} ({entry.fidelity.rule})",
            f"{entry.thread.value} ({entry.thread.rule})" if entry.shared_thread else "",
            edge.condition or edge.label,
        )
        for entry in entries
        if (edge := entry.edge) is not None
    )
    print_table(rows)
    if not found.warnings:
        narrate("No warnings.")
        return
    print_text(f"{count(len(found.warnings), 'warning')}:")
    for warning in found.warnings:
        where = "" if warning.line is None else f"line {warning.line + 1}: "
        print_text(f"  {where}{warning.message}  ({warning.rule})")


def _step_lines(number: int, step: WalkStep, entries: list[NodeEntry]) -> Iterator[str]:
    lost = "" if step.reachable else "  (unreachable)"
    yield f"{number:>3}  {step.node.name}  {step.node.handler}{lost}"
    for entry in entries:
        edge = entry.edge
        assert edge is not None
        back = " (back)" if edge.index in step.back else ""
        thread = f' in thread "{entry.shared_thread}"' if entry.shared_thread else ""
        yield f"       -> {edge.target}{back}: {entry.fidelity.value}{thread}{_asked(edge)}"


def _entry_lines(entry: NodeEntry) -> Iterator[str]:
    edge = entry.edge
    yield "at the start" if edge is None else f"{edge.source} -> {edge.target}{_asked(edge)}"
    unused = "" if entry.shared_thread else "  (not used: only full continues a session)"
    for name, resolution, note in (
        ("fidelity", entry.fidelity, ""),
        ("thread", entry.thread, unused),
    ):
        yield f"  {name} {resolution.value}{note}"
        for rule, value, came_of_it in resolution.explained("<- decides"):
            yield f"    {rule:<13} {value or '-'}  {came_of_it}".rstrip()


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
    edges = [{**asdict(edge), "back": edge.index in step.back} for edge in step.edges]
    return {"number": number, **asdict(step.node), "reachable": step.reachable, "edges": edges}
