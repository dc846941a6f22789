"""`reviewer` itself: the global options and the table of commands."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from reviewer import __version__
from reviewer.cli.output import keep_going_unread
from reviewer.cli.session import Entry, LazyGroup, Session, pass_session, with_store_options

if TYPE_CHECKING:
    from reviewer.start import Start

COMMANDS = {
    "demo": Entry("reviewer.cli.demo:demo", "Try reviewer on sample data in a temporary store."),
    "ingest": Entry(
        "reviewer.cli.ingest:ingest",
        "Read sessions and notes, and queue what may be worth remembering.",
    ),
    "sources": Entry(
        "reviewer.cli.sources:sources",
        "List the agent sessions on this machine, and which have been read.",
    ),
    "watch": Entry(
        "reviewer.cli.sources:watch",
        "Read new turns of sessions as agents write them, until Ctrl-C.",
    ),
    "extract": Entry(
        "reviewer.cli.ingest:extract",
        "Show the candidates in a file, or queue candidates from stored records.",
    ),
    "propose": Entry(
        "reviewer.cli.propose:propose",
        "Have a model write statements from sessions, and queue those with their proof.",
    ),
    "findings": Entry(
        "reviewer.cli.findings:findings",
        "List what cost something: failures with their fix, refusals, corrections.",
    ),
    "fleet": Entry(
        "reviewer.cli.fleet:fleet",
        "Read the sessions of a whole company, and queue the best.",
    ),
    "queue": Entry("reviewer.cli.queue:queue", "List, show and extend the queue of candidates."),
    "promote": Entry("reviewer.cli.triage:promote", "Accept candidates as memories."),
    "reject": Entry(
        "reviewer.cli.triage:reject", "Reject candidates; they are not proposed again."
    ),
    "remember": Entry("reviewer.cli.remember:remember", "Write a memory in your own words."),
    "defer": Entry("reviewer.cli.triage:defer", "Move candidates to the end of the queue."),
    "restore": Entry("reviewer.cli.triage:restore", "Return decided candidates to the queue."),
    "merge": Entry("reviewer.cli.triage:merge", "Merge one memory into another."),
    "edit": Entry(
        "reviewer.cli.triage:edit",
        "Change the wording, type or name of a memory, or when it is recalled.",
    ),
    "supersede": Entry("reviewer.cli.triage:supersede", "Replace an active memory by a newer one."),
    "graduate": Entry("reviewer.cli.triage:graduate", "Propose an active memory as an entity."),
    "relate": Entry(
        "reviewer.cli.triage:relate", "Record a relation between two entities, from ID to TARGET."
    ),
    "conflict": Entry(
        "reviewer.cli.conflict:conflict",
        "List, show and settle entities that contradict each other.",
    ),
    "state": Entry("reviewer.cli.state:state", "List, show, set and unset trusted state."),
    "add": Entry("reviewer.cli.triage:add", "Write a candidate by hand, without a source."),
    "export": Entry(
        "reviewer.cli.export:export", "Export trusted state, active entities and active memories."
    ),
    "forget": Entry("reviewer.cli.forget:forget", "Erase memories, or a project, for good."),
    "context": Entry("reviewer.cli.context:context", "List, import and export contexts."),
    "commit": Entry("reviewer.cli.commit:commit", "List, show, add and edit a context's commits."),
    "annotate": Entry(
        "reviewer.cli.commit:annotate",
        "Set the priority of commits, and what must survive compression.",
    ),
    "compile": Entry(
        "reviewer.cli.context:compile_", "Print a context as messages, ready to send."
    ),
    "compress": Entry(
        "reviewer.cli.compress:compress", "Preview a smaller context, and apply it if asked."
    ),
    "summarize": Entry(
        "reviewer.cli.summarize:summarize",
        "Summarize a file at one or all levels, without a store.",
    ),
    "brief": Entry(
        "reviewer.cli.handover:brief",
        "Write the hand-over for the next session of an agent, as plain Markdown.",
    ),
    "keep": Entry(
        "reviewer.cli.handover:keep",
        "Write what a compaction must keep, as instructions for /compact.",
    ),
    "view": Entry(
        "reviewer.cli.view:view",
        "Show a session: dialogue in full, each tool call on one line.",
    ),
    "packet": Entry(
        "reviewer.cli.packet:packet",
        "Print what an agent should know, within a token budget.",
    ),
    "recall": Entry(
        "reviewer.cli.recall:recall", "Show the memories that belong to a call, failure or prompt."
    ),
    "connect": Entry(
        "reviewer.cli.connect:connect",
        "Connect an agent, so that it gets the memories of its project by itself.",
    ),
    "disconnect": Entry(
        "reviewer.cli.connect:disconnect", "Take back what `reviewer connect` wrote."
    ),
    "mcp": Entry(
        "reviewer.cli.mcp:mcp",
        "Answer an agent over stdio: it reads what you promoted, and proposes.",
    ),
    "hook": Entry(
        "reviewer.cli.hook:hook", "Answer an event of an agent's session; agents run this."
    ),
    "make-packet-ready": Entry(
        "reviewer.cli.hook:make_packet_ready",
        "Make the packet of a folder and what hooks at calls say ready, and have guards followed.",
        True,
    ),
    "read-sessions": Entry(
        "reviewer.cli.hook:read_sessions", "Read the sessions that hooks have noted.", True
    ),
    "serve": Entry(
        "reviewer.cli.serve:serve",
        "Show the screen in a browser on this machine, until Ctrl-C.",
    ),
    "pipeline": Entry(
        "reviewer.cli.pipeline:pipeline", "Check, preview, run and resume a pipeline."
    ),
    "model": Entry(
        "reviewer.cli.model:model", "Test the configured model, or serve a small local one."
    ),
    "undo": Entry(
        "reviewer.cli.history:undo", "Undo your latest decision, or the act with this number."
    ),
    "redo": Entry("reviewer.cli.history:redo", "Redo the act that was undone last."),
    "history": Entry(
        "reviewer.cli.history:history",
        "List what was done in this project.",
    ),
    "verify": Entry(
        "reviewer.cli.history:verify",
        "Check that the store agrees with its ledger.",
    ),
    "stats": Entry(
        "reviewer.cli.stats:stats",
        "Count candidates by project and status, and uses; measure compressions.",
    ),
    "share": Entry(
        "reviewer.cli.team:share", "Let a group on this host open the store and decide in it."
    ),
    "decisions": Entry(
        "reviewer.cli.team:decisions",
        "Export your decisions as a signed file, and import those of others.",
    ),
    "sync": Entry(
        "reviewer.cli.team:sync", "Keep decisions in step with another machine through a folder."
    ),
    "doctor": Entry(
        "reviewer.cli.doctor:doctor", "Check the store, the terminal and the settings."
    ),
    "config": Entry("reviewer.cli.config:config", "Show or check the settings."),
    "help": Entry("reviewer.cli.help:help_", "Print a page of the documentation."),
    "completions": Entry(
        "reviewer.cli.completions:completions",
        "Print the tab completion for bash, zsh or fish.",
    ),
    "dev-seed": Entry(
        "reviewer.cli.demo:dev_seed", "Fill the queue with N made-up candidates.", True
    ),
}


SECTIONS = {
    "Read sessions and notes": (
        "demo", "ingest", "sources", "watch", "findings", "propose", "view", "extract",
        "fleet",
    ),
    "Decide": ("queue", "promote", "reject", "edit", "defer", "remember", "undo", "redo"),
    "Look after what is kept": (
        "state", "conflict", "graduate", "relate", "add", "merge", "supersede", "restore",
        "history", "verify", "stats", "export", "forget",
    ),
    "Shrink a context": (
        "context", "commit", "annotate", "compress", "compile", "summarize", "brief", "keep",
    ),
    "Feed an agent": (
        "packet", "recall", "connect", "disconnect", "mcp", "hook", "pipeline", "model",
    ),
    "Share, show and set up": (
        "sync", "share", "decisions", "serve", "config", "doctor", "completions", "help",
    ),
}  # fmt: skip
"""The commands that the help lists; the hidden ones are for programs."""
RARE = {
    "add", "completions", "extract", "hook", "mcp", "merge", "relate", "restore", "stats",
    "summarize", "supersede",
}  # fmt: skip
"""Of these the help only gives the names: agents run them, or the screen does the same."""


def _without_colour(_: click.Context, __: click.Parameter, value: bool) -> None:
    if value:
        os.environ["NO_COLOR"] = "1"


@click.group(
    name="reviewer",
    cls=LazyGroup,
    entries=COMMANDS,
    sections=SECTIONS,
    rare=RARE,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@with_store_options
@click.option("--ascii", is_flag=True, help="Draw the screen with ASCII characters only.")
@click.option(
    "--plain",
    is_flag=True,
    help="Go through the queue line by line, with letters: for screen readers and pipes.",
)
@click.option(
    "--no-color",
    is_flag=True,
    expose_value=False,
    callback=_without_colour,
    help="No colours; the variable NO_COLOR does the same.",
)
@click.version_option(__version__, prog_name="reviewer", message="%(prog)s %(version)s")
@pass_session
@click.pass_context
def root(ctx: click.Context, session: Session, ascii: bool, plain: bool) -> None:  # noqa: A002
    """Decide what an AI agent may remember.

    Without a command it opens the screen, where you work through the queue with the keyboard.
    """
    if os.environ.get("NO_COLOR"):
        ctx.color = False
    if ctx.invoked_subcommand is None:
        if not plain:
            session.require_terminal("reviewer --plain, or reviewer queue list")
        else:
            keep_going_unread()
        with session.whole_store(create=True) as engine:
            first = session.choose_to_begin(engine)
            session.remark = ""  # the screen shows the project itself
            start: Start | None = None
            if first and not engine.read_only:
                from reviewer.start import MachineStart

                start = MachineStart(engine, session.project)
            if plain:
                from reviewer.cli.plain import choose_and_read, triage

                if start is None or choose_and_read(engine, start):
                    triage(engine, engine.project)
                return
            ctx.exit(session.show_screen(engine, engine.project, ascii=ascii, start=start))
