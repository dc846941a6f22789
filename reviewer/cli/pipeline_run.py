"""`reviewer pipeline run|resume|runs`: run a pipeline, resume a run, list past ones."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import structs

from reviewer.cli.inputs import FILE, PAIR, flag, option, together
from reviewer.cli.output import (
    count,
    emit,
    json_option,
    moment,
    narrate,
    print_json,
    print_text,
    safe,
    safe_lines,
)
from reviewer.cli.pipeline import pipeline
from reviewer.cli.progress import Interruption, ProgressLine, interruptible
from reviewer.cli.session import FAILED, INTERRUPTED, WAITING, Session, leave, pass_session
from reviewer.pipelines import events
from reviewer.pipelines.events import Event, RunDone, StageDone, StageQuestion
from reviewer.pipelines.options import RunOptions, options_from
from reviewer.settings import load_settings

if TYPE_CHECKING:
    from reviewer.engine import Engine

RUN = "reviewer pipeline run FILE"
NOTES_SHOWN = 100
"""Characters."""
STOPS = "Ctrl-C stops, resume continues"

_run_options = together(
    option(
        "--answer NODE=LABEL",
        "Answer a question in advance; several for one node are used in order, then it waits.",
        into="answers",
        many=True,
        type=PAIR,
    ),
    option(
        "--engine",
        "Who answers: offline echoes the prompt (default), model is the configured one.",
        choices=["offline", "model"],
    ),
    flag(
        "--allow-tools", "Let tool nodes run shell commands on this machine with your permissions."
    ),
    option(
        "--max-steps N",
        "At most N stages, to end endless loops (default: 1000, or 4 per node).",
        least=1,
    ),
    json_option("One JSON object per event."),
)


@pipeline.command(example="pipeline run build.dot --engine model --answer review=Approve")
@click.argument("file", type=FILE)
@_run_options
@option(
    "--set KEY=VALUE",
    "Set a value in the run's context; prompts refer to it as $KEY.",
    into="context",
    many=True,
    type=PAIR,
)
@pass_session
def run(
    session: Session,
    /,
    file: Path,
    answers: Sequence[tuple[str, str]],
    engine: str | None,
    as_json: bool,
    context: Sequence[tuple[str, str]],
    **limits: Any,
) -> None:
    """Run a pipeline from its start to its exit.

    Every stage ends with a checkpoint: if the run is interrupted (Ctrl-C, a failing model, an
    unanswered question), `pipeline resume` continues from there. The exit code of a run that waits
    for an answer is 3. The prompts and answers of all
    stages are in the run's folder.

    A stage succeeds unless its answer ends with a line such as `Outcome: fail`. `Preferred label:
    X`, `Suggested next: node` and `Context: key=value` are also read.
    """
    with session.changing(create=True, new_outside=True) as store:
        options = _options(engine == "model", answers, context=dict(context), **limits)
        start = partial(store.pipelines.start_run, file, session.target(store))
        _run_to_its_end(start, options, as_json)


@pipeline.command()
@click.argument("target", metavar="RUN|FILE")
@_run_options
@pass_session
def resume(
    session: Session,
    /,
    target: str,
    answers: Sequence[tuple[str, str]],
    engine: str | None,
    as_json: bool,
    **limits: Any,
) -> None:
    """Resume a run.

    Give its id, or its pipeline file for the latest run. By id, the run continues with its original
    pipeline; a file must not have changed since.
    Thread sessions are lost when the program ends: the first stage that would continue one gets a
    detailed summary, once.
    """
    with session.changing(filled_by=RUN) as store:
        asks_model = engine == "model" or (
            engine is None and not store.pipelines.is_offline(target)
        )
        options = _options(asks_model, answers, **limits)
        _run_to_its_end(partial(store.pipelines.resume_run, target), options, as_json)


@pipeline.command()
@click.argument("run_id", metavar="[RUN]", required=False)
@json_option("One JSON object per run, or a stage.")
@pass_session
def runs(session: Session, run_id: str | None, as_json: bool) -> None:
    """List the runs of the store, newest first, or the stages of one."""
    if run_id is not None:
        with session.reading(filled_by=RUN) as store:
            _print_stages(store, run_id, as_json=as_json)
        return
    with session.listing(filled_by=RUN) as store:
        emit(
            store.pipelines.runs(store.project),
            as_json,
            lambda each: (each.run_id, each.state, moment(each.started_at), each.current_node),
            to_json=lambda each: {**structs.asdict(each), "can_resume": each.can_resume},
            empty="No pipeline has run yet. Run one: reviewer pipeline run FILE.dot",
        )


def _print_stages(store: Engine, run_id: str, *, as_json: bool) -> None:
    view = store.pipelines.run(run_id)
    logs = store.pipelines.checkpoint(view.run_id).logs
    if not as_json:
        print_text(f"{view.run_id}  {view.state}  {count(len(logs), 'stage')}")
    emit(
        logs,
        as_json,
        lambda entry: (
            f"  {entry.step}",
            entry.node,
            entry.word,
            entry.fidelity + (f" [{entry.thread}]" if entry.thread else ""),
            f"{entry.remark} {entry.notes}".strip(),
        ),
        right=[0],
        to_json=lambda entry: {
            "run_id": view.run_id,
            **structs.asdict(entry),
            "folder": f"{view.folder}/{entry.folder}",
        },
    )
    if not as_json:
        print_text(f"files  {view.folder}")


def _options(asks_model: bool, answers: Sequence[tuple[str, str]], **more: Any) -> RunOptions:
    given: dict[str, list[str]] = {}
    for node, label in answers:
        given.setdefault(node, []).append(label)
    options = options_from(load_settings(), asks_model=asks_model)
    return structs.replace(options, answers=given, **more)


def _run_to_its_end(
    start: Callable[[RunOptions], RunDone], options: RunOptions, as_json: bool
) -> None:
    """Run or resume, and exit with the exit code of the run."""
    with interruptible() as interruption:
        options = structs.replace(options, watch=Watcher(as_json=as_json), cancelled=interruption)
        if sys.stdin.isatty():
            options = structs.replace(options, ask=TerminalQuestions(interruption))
        done = start(options)
    narrate(done.message)
    if done.state == "done":
        return
    if done.state in ("cancelled", "failed"):
        narrate(f"Continue with: reviewer pipeline resume {done.run_id}")
    if interruption.asked or done.state == "cancelled":
        leave(INTERRUPTED)
    leave(WAITING if done.state == "waiting" else FAILED)


class Watcher:
    """Prints finished stages on stdout, and the running stage on stderr."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._line_below = ProgressLine()

    def __call__(self, event: Event) -> None:
        self._line_below.clear()
        if self._as_json:
            print_json(_event_json(event))
        else:
            _print_event(event)
        if isinstance(event, events.StageStarted):
            # The number of stages to come is unknown.
            running = f"Stage {event.step:,}  {event.node} is running"
            self._line_below.show(f"{running}  {STOPS}", at_once=True)


def _event_json(event: Event) -> object:
    if not isinstance(event, StageDone):
        return event
    return {"event": "stage_done", **structs.asdict(event.stage), "target": event.target}


def _print_event(event: Event) -> None:
    match event:
        case events.RunStarted():
            resumed = f", after {count(event.stages, 'stage')}" if event.stages else ""
            narrate(f"Run {event.run_id}{resumed}, answered by {event.engine}")
            narrate(f"Files in {event.folder}")
            if event.note:
                narrate(event.note)
        case events.Retrying():
            narrate(
                f"{event.node}: {event.reason} Attempt {event.attempt + 1} in {event.seconds:.1f} s"
            )
        case StageDone():
            print_text(_stage_line(event))
            if event.stage.remark:
                narrate(f"{event.stage.node}: {event.stage.remark}")


def _stage_line(event: StageDone) -> str:
    stage = event.stage
    line = f"{stage.step:>3}  {safe(stage.node)}  {safe(stage.word)}"
    if event.target:
        line += f"  -> {safe(event.target)}"
    if stage.handler == "codergen":
        shared = f" {safe(stage.thread)}" if stage.thread else ""
        lost = " after the resume" if stage.degraded else ""
        line += f"  [{stage.fidelity}{shared}{lost}]"
    if stage.left_out_turns:
        line += f"  ({count(stage.left_out_turns, 'turn')} left out)"
    notes = safe(stage.notes[:NOTES_SHOWN])
    return f"{line}  {notes}" if notes else line


class TerminalQuestions:
    """Asks questions at the terminal. Ctrl-C or the end of input leaves them unanswered."""

    def __init__(self, interruption: Interruption) -> None:
        self._interruption = interruption

    def __call__(self, question: StageQuestion) -> str | None:
        narrate("")
        if question.about:
            for line in safe_lines(question.about):
                narrate(f"  | {line}".rstrip())
            narrate("")
        narrate(*safe_lines(question.text))
        for choice in question.choices:
            leads = "" if choice.label == choice.target else f"  -> {safe(choice.target)}"
            narrate(f"  {choice.key}  {choice.label}{leads}")
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            typed: str = click.prompt(
                safe(question.node) + (f" [{safe(question.default)}]" if question.default else ""),
                default=question.default,
                show_default=False,
                err=True,
            )
        except (click.Abort, EOFError):
            self._interruption.asked = True
            return None
        finally:
            signal.signal(signal.SIGINT, before)
        return typed
