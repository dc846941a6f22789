"""`reviewer pipeline run|resume|runs`: run a pipeline, resume a run, list past ones."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reviewer.cli.output import (
    count,
    fields,
    json_option,
    moment,
    narrate,
    print_json,
    print_table,
    print_text,
    safe,
    safe_lines,
    table,
)
from reviewer.cli.progress import Interruption, ProgressLine, interruptible
from reviewer.cli.session import DONE, FAILED, INTERRUPTED, Session, Verb, pass_session

if TYPE_CHECKING:
    from reviewer.engine import Engine
    from reviewer.pipelines.events import Event, Question, RunDone, StageDone, StageStarted
    from reviewer.pipelines.run_store import RunView
    from reviewer.pipelines.service import RunOptions

RUN = "reviewer pipeline run FILE"
NOTES_SHOWN = 100
"""Characters."""

_pairs = click.option(
    "--answer", "answers", multiple=True, metavar="NODE=LABEL",
    help="Answer a question in advance; repeated ones for a node are used in order, then it waits.",
)  # fmt: skip
_OPTIONS: tuple[Callable[..., Any], ...] = (
    _pairs,
    click.option(
        "--engine", type=click.Choice(["offline", "model"]),
        help="Who answers: offline echoes the prompt (default), model is that of the settings.",
    ),
    click.option(
        "--allow-tools", is_flag=True,
        help="Let tool nodes run shell commands on this machine with your permissions.",
    ),
    click.option(
        "--max-steps", type=click.IntRange(min=1), metavar="N",
        help="At most N stages, to end endless loops (default: 1000, or 4 per node).",
    ),
    json_option("One JSON object for each event."),
)  # fmt: skip


def _with_run_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.command(cls=Verb, example="pipeline run build.dot --engine model --answer review=Approve")
@click.argument("file", type=click.Path(path_type=Path, readable=False))
@_with_run_options
@click.option(
    "--run-dir", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
    help="A new or empty folder for the files of the run (default: beside the store).",
)  # fmt: skip
@click.option(
    "--set", "context", multiple=True, metavar="KEY=VALUE",
    help="Set a value in the run's context; prompts refer to it by $KEY.",
)  # fmt: skip
@click.pass_context
@pass_session
def run(
    session: Session,
    ctx: click.Context,
    file: Path,
    answers: tuple[str, ...],
    engine: str | None,
    allow_tools: bool,
    max_steps: int | None,
    as_json: bool,
    run_dir: Path | None,
    context: tuple[str, ...],
) -> None:
    """Run a pipeline from its start to its exit.

    Every stage ends with a checkpoint: when the run is interrupted (Ctrl-C, a failing model, an
    unanswered question), `pipeline resume` continues from there. The prompt, answer and status of
    every stage stay in the run's folder.

    A stage succeeds unless its answer ends with a line such as `Outcome: fail`, or with a JSON
    object that has `outcome`. `Preferred label: X`, `Suggested next: node` and
    `Context: key=value` count as well.
    """
    with session.changing(create=True, new_outside=True) as store:
        options = _options(answers, engine == "model", allow_tools, max_steps, context, run_dir)
        with interruptible() as interruption:
            watcher = Watcher(as_json=as_json)
            done = store.pipelines.start_run(
                file,
                session.target(store),
                options,
                ask=TerminalQuestions(interruption) if sys.stdin.isatty() else None,
                watch=watcher,
                cancelled=interruption,
            )
    _exit(ctx, done, interrupted=interruption.asked)


@click.command(cls=Verb)
@click.argument("target", metavar="RUN|FOLDER|FILE")
@_with_run_options
@click.pass_context
@pass_session
def resume(
    session: Session,
    ctx: click.Context,
    target: str,
    answers: tuple[str, ...],
    engine: str | None,
    allow_tools: bool,
    max_steps: int | None,
    as_json: bool,
) -> None:
    """Resume a run.

    Name its id, its folder, or its pipeline file (the latest run of it). By id or folder, the run
    continues with the pipeline that it was started with; a file must not have changed since.
    Sessions of threads end with the program: the first stage that would continue one gets a
    detailed summary instead, once.
    """
    with session.changing(filled_by=RUN) as store:
        asks_model = engine == "model" or (
            engine is None and not store.pipelines.is_offline(target)
        )
        options = _options(answers, asks_model, allow_tools, max_steps, (), None)
        with interruptible() as interruption:
            watcher = Watcher(as_json=as_json)
            done = store.pipelines.resume_run(
                target,
                options,
                ask=TerminalQuestions(interruption) if sys.stdin.isatty() else None,
                watch=watcher,
                cancelled=interruption,
            )
    _exit(ctx, done, interrupted=interruption.asked)


@click.command(cls=Verb)
@click.argument("run_id", metavar="[RUN]", required=False)
@click.option(
    "--import", "import_id", metavar="RUN", help="Import the conversation of a run as a context."
)
@click.option("--thread", metavar="T", help="With --import: only the conversation of this thread.")
@click.option("--name", metavar="N", help="With --import: the context's name.")
@json_option("One JSON object per run, or a stage.")
@pass_session
def runs(
    session: Session,
    run_id: str | None,
    import_id: str | None,
    thread: str | None,
    name: str | None,
    as_json: bool,
) -> None:
    """List the runs of the store, newest first, or the stages of one."""
    if import_id is None and (thread is not None or name is not None):
        raise click.UsageError("--thread and --name need --import RUN")
    if import_id is not None and run_id is not None:
        raise click.UsageError("name the run once: --import RUN, without another")
    if import_id is not None:
        with session.changing(filled_by=RUN) as store:
            _import(store, import_id, thread, name, as_json=as_json)
    elif run_id is not None:
        with session.reading(filled_by=RUN) as store:
            _stages(store, run_id, as_json=as_json)
    else:
        with session.listing(filled_by=RUN) as store:
            _list(store.pipelines.runs(store.project), as_json=as_json)


def _options(
    answers: tuple[str, ...],
    asks_model: bool,
    allow_tools: bool,
    max_steps: int | None,
    context: tuple[str, ...],
    run_dir: Path | None,
) -> RunOptions:
    from reviewer.llm.open_model import open_model, open_other_models
    from reviewer.pipelines.service import RunOptions
    from reviewer.settings import load_settings

    given: dict[str, list[str]] = {}
    for node, label in map(_pair, answers):
        given.setdefault(node, []).append(label)
    settings = load_settings()
    return RunOptions(
        model=open_model(settings) if asks_model else None,
        models=open_other_models(settings) if asks_model else {},
        context_tokens=settings.model.context_tokens,
        answers=given,
        context=dict(map(_pair, context)),
        allow_tools=allow_tools,
        max_steps=max_steps,
        run_dir=run_dir,
    )


def _pair(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name.strip():
        raise click.UsageError(f"{text} is not NAME=VALUE")
    return name.strip(), value


def _exit(ctx: click.Context, done: RunDone, *, interrupted: bool) -> None:
    narrate(safe(done.message))
    if done.state == "done":
        ctx.exit(DONE)
    if done.state in ("cancelled", "failed"):
        narrate(f"Continue with: reviewer pipeline resume {safe(done.run_id)}")
    ctx.exit(INTERRUPTED if interrupted or done.state == "cancelled" else FAILED)


def _list(found: list[RunView], *, as_json: bool) -> None:
    if as_json:
        for view in found:
            print_json({**fields(view), "can_resume": view.can_resume})
        return
    if not found:
        narrate("No pipeline has run yet. Run one: reviewer pipeline run FILE.dot")
    rows = [(view.run_id, view.state, moment(view.started_at), view.current_node) for view in found]
    print_table(rows)


def _stages(store: Engine, run_id: str, *, as_json: bool) -> None:
    view = store.pipelines.run(run_id)
    logs = store.pipelines.checkpoint(view.run_id).logs
    if as_json:
        for entry in logs:
            folder = f"{view.folder}/{entry.folder}"
            print_json({"run_id": view.run_id, **fields(entry), "folder": folder})
        return
    print_text(f"{safe(view.run_id)}  {safe(view.state)}  {count(len(logs), 'stage')}")
    rows = [
        (
            str(entry.step),
            safe(entry.node),
            safe(entry.word),
            safe(entry.fidelity) + (f" [{safe(entry.thread)}]" if entry.thread else ""),
            safe(f"{entry.remark} {entry.notes}".strip()),
        )
        for entry in logs
    ]
    for line in table(rows, right=frozenset({0})):
        print_text("  " + line)
    print_text(f"files  {safe(view.folder)}")


def _import(
    store: Engine, run_id: str, thread: str | None, name: str | None, *, as_json: bool
) -> None:
    done = store.pipelines.import_conversation(run_id, thread, name=name)
    if as_json:
        print_json({"context": done.context.id, "name": done.context.name, "commits": done.commits})
    else:
        print_text(
            f"{count(done.commits, 'commit')} in the context {safe(done.context.name)}. "
            f"List them: reviewer commit list {done.context.id}"
        )


class Watcher:
    """Prints each finished stage on stdout, and on stderr the stage that is running."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._stage: StageStarted | None = None
        self._written = 0
        """Characters of the answer so far."""
        self._line_below = ProgressLine()

    def __call__(self, event: Event) -> None:
        from reviewer.pipelines import events

        if isinstance(event, events.Text):
            self._written += len(event.text)
        else:
            self._line_below.clear()
        if isinstance(event, events.StageStarted):
            self._stage, self._written = event, 0
        self._print(event)
        if isinstance(event, events.StageStarted | events.Text):
            self._show_stage(anew=isinstance(event, events.StageStarted))

    def _show_stage(self, *, anew: bool) -> None:
        """Show the running stage below what was printed. How many follow, a graph does not say."""
        stage = self._stage
        if stage is None:
            return
        written = f"  {self._written:,} characters of the answer" if self._written else ""
        self._line_below.show(
            f"Stage {stage.step:,}  {safe(stage.node)} is running{written}  "
            "Ctrl-C stops, a resume goes on",
            at_once=anew,
        )

    def _print(self, event: Event) -> None:
        from reviewer.pipelines import events

        if self._as_json:
            if not isinstance(event, events.Text):
                print_json(event)
            return
        match event:
            case events.RunStarted():
                resumed = f", after {count(event.stages, 'stage')}" if event.stages else ""
                narrate(f"Run {safe(event.run_id)}{resumed}, answered by {safe(event.engine)}")
                narrate(f"Files in {safe(event.folder)}")
                if event.note:
                    narrate(safe(event.note))
            case events.Retrying():
                narrate(
                    f"{safe(event.node)}: {safe(event.reason)} Attempt {event.attempt + 1} in "
                    f"{event.seconds:.1f} s"
                )
            case events.StageDone():
                print_text(self._line(event))
                if event.remark:
                    narrate(f"{safe(event.node)}: {safe(event.remark)}")

    def _line(self, event: StageDone) -> str:
        stage = self._stage
        session = ""
        if stage is not None and stage.handler == "codergen":
            shared = f" {safe(stage.thread)}" if stage.thread else ""
            lost = " after the resume" if stage.degraded else ""
            session = f"  [{stage.fidelity}{shared}{lost}]"
        leads = f"  -> {safe(event.target)}" if event.target else ""
        dropped = (
            f"  ({count(event.left_out_turns, 'turn')} left out)" if event.left_out_turns else ""
        )
        notes = safe(event.notes[:NOTES_SHOWN])
        return (
            f"{event.step:>3}  {safe(event.node)}  {safe(event.word)}{leads}{session}{dropped}"
            + (f"  {notes}" if notes else "")
        )


class TerminalQuestions:
    """Asks questions at the terminal. Ctrl-C or the end of input leaves them unanswered."""

    def __init__(self, interruption: Interruption) -> None:
        self._interruption = interruption

    def __call__(self, question: Question) -> str | None:
        narrate("")
        if question.about:
            for line in safe_lines(question.about):
                narrate(f"  | {line}".rstrip())
            narrate("")
        for line in safe_lines(question.text):
            narrate(line)
        for choice in question.choices:
            leads = "" if choice.label == choice.target else f"  -> {safe(choice.target)}"
            narrate(f"  {safe(choice.key)}  {safe(choice.label)}{leads}")
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
