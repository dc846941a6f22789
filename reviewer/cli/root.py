"""`reviewer` itself: the global options and the table of commands."""

from __future__ import annotations

import os

import click

from reviewer import __version__
from reviewer.cli.lazy import Entry, LazyGroup
from reviewer.cli.session import Session, pass_session, with_store_options

COMMANDS = {
    "demo": Entry("reviewer.cli.demo:demo", "Try it on sample data, in a store that goes away."),
    "ingest": Entry(
        "reviewer.cli.ingest:ingest", "Read files and folders; queue what they propose."
    ),
    "extract": Entry(
        "reviewer.cli.extract:extract", "Show what a file proposes, or propose from the store."
    ),
    "queue": Entry("reviewer.cli.queue:queue", "List, show and extend the queue of candidates."),
    "promote": Entry("reviewer.cli.triage:promote", "Accept candidates as memories."),
    "reject": Entry(
        "reviewer.cli.triage:reject", "Refuse candidates; they are not proposed again."
    ),
    "defer": Entry("reviewer.cli.triage:defer", "Put candidates at the end of the queue."),
    "restore": Entry("reviewer.cli.triage:restore", "Take decided candidates back to the queue."),
    "merge": Entry("reviewer.cli.triage:merge", "Fold one memory into another."),
    "edit": Entry("reviewer.cli.edit:edit", "Reword a candidate, and promote it if asked."),
    "supersede": Entry(
        "reviewer.cli.triage:supersede", "Put a newer statement in the place of an active one."
    ),
    "graduate": Entry("reviewer.cli.entity:graduate", "Propose an active memory as an entity."),
    "relate": Entry("reviewer.cli.entity:relate", "State how one entity stands to another."),
    "conflict": Entry(
        "reviewer.cli.conflict:conflict",
        "List, show and settle entities that contradict each other.",
    ),
    "state": Entry("reviewer.cli.state:state", "List, show, set and unset trusted state."),
    "add": Entry("reviewer.cli.entity:add", "Write a candidate by hand, without a source."),
    "export": Entry(
        "reviewer.cli.export:export", "Hand out what was decided: text, folder, marked block."
    ),
    "context": Entry("reviewer.cli.context:context", "List, import and export contexts."),
    "commit": Entry("reviewer.cli.commit:commit", "List, show, add and edit a context's commits."),
    "annotate": Entry("reviewer.cli.annotate:annotate", "Say what must survive of a commit."),
    "compile": Entry("reviewer.cli.compile:compile_", "A context as messages, ready to send."),
    "compress": Entry(
        "reviewer.cli.compress:compress", "Preview a smaller context, and apply it if asked."
    ),
    "summarize": Entry(
        "reviewer.cli.summarize:summarize",
        "Show a file at one or all levels, without a store and without a model.",
    ),
    "packet": Entry("reviewer.cli.packet:packet", "What an agent needs, within a token budget."),
    "pipeline": Entry(
        "reviewer.cli.pipeline:pipeline", "Check, preview, run and resume a pipeline."
    ),
    "model": Entry("reviewer.cli.model:model", "Check the model, or serve a small local one."),
    "undo": Entry("reviewer.cli.history:undo", "Take back the latest decision, or the act named."),
    "redo": Entry("reviewer.cli.history:redo", "Do again what was undone last."),
    "history": Entry("reviewer.cli.history:history", "Every act, with what each one changed."),
    "verify": Entry("reviewer.cli.history:verify", "Recompute the ledger's hashes and the rows."),
    "stats": Entry(
        "reviewer.cli.stats:stats",
        "Counts by project and status, and what compressions took and reached.",
    ),
    "doctor": Entry(
        "reviewer.cli.doctor:doctor", "Check the store, the terminal and the settings."
    ),
    "config": Entry("reviewer.cli.config:config", "Show or check the settings."),
    "dev-seed": Entry("reviewer.cli.seed:dev_seed", "Fill the queue with N made-up rows.", True),
}


def _without_colour(_: click.Context, __: click.Parameter, value: bool) -> None:
    if value:
        os.environ["NO_COLOR"] = "1"


@click.group(
    name="reviewer",
    cls=LazyGroup,
    entries=COMMANDS,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@with_store_options
@click.option("--ascii", "plain", is_flag=True, help="Draw the screen with ASCII characters only.")
@click.option(
    "--no-color",
    is_flag=True,
    expose_value=False,
    callback=_without_colour,
    help="No colours (so does NO_COLOR).",
)
@click.version_option(__version__, prog_name="reviewer", message="%(prog)s %(version)s")
@pass_session
@click.pass_context
def root(ctx: click.Context, session: Session, plain: bool) -> None:
    """Decide what an AI agent may remember.

    Without a command: the screen, where the queue is cleared with the keyboard.
    """
    if os.environ.get("NO_COLOR"):
        ctx.color = False
    if ctx.invoked_subcommand is None:
        from reviewer.cli.screen import require_terminal, show_screen

        require_terminal("reviewer queue list")
        with session.whole_store(create=True) as engine:
            session.choose_to_read(engine)
            session.remark = ""  # the screen says what it shows
            ctx.exit(show_screen(session, engine, engine.project, plain=plain))
