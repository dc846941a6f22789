"""`reviewer` itself: the global options and the table of commands."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from reviewer import __version__
from reviewer.cli.inputs import flag
from reviewer.cli.session import LazyGroup, Session, VerbEntry, pass_session, with_store_options

if TYPE_CHECKING:
    from reviewer.start import Start

SECTIONS = {
    "Read sessions and notes": {
        "demo": VerbEntry("demo", "Try reviewer on sample data in a temporary store."),
        "ingest": VerbEntry(
            "ingest", "Read sessions and notes, and queue what may be worth remembering."
        ),
        "sources": VerbEntry(
            "sources", "List the agent sessions on this machine, and which have been read."
        ),
        "watch": VerbEntry(
            "sources:watch", "Read new turns of sessions as agents write them, until Ctrl-C."
        ),
        "findings": VerbEntry(
            "findings", "List what recurs: failures with their fix, refusals, corrections."
        ),
        "propose": VerbEntry(
            "propose",
            "Have a model write statements from sessions, and queue those with their proof.",
        ),
        "view": VerbEntry("view", "Show a session: dialogue in full, each tool call on one line."),
        "fleet": VerbEntry("fleet", "Read the sessions of a whole company, and queue the best."),
        "extract": VerbEntry(
            "ingest:extract", "Show the candidates in a file, without a store.", rare=True
        ),
    },
    "Decide": {
        "queue": VerbEntry("queue", "List, show and extend the queue of candidates."),
        "promote": VerbEntry("triage:promote", "Accept candidates as memories."),
        "reject": VerbEntry("triage:reject", "Reject candidates; they are not proposed again."),
        "edit": VerbEntry(
            "triage:edit", "Change the wording, type or name of a memory, or when it is recalled."
        ),
        "defer": VerbEntry("triage:defer", "Move candidates to the end of the queue."),
        "remember": VerbEntry("remember", "Write a memory in your own words."),
        "undo": VerbEntry(
            "history:undo", "Undo your latest decision, or the act with this number."
        ),
        "redo": VerbEntry("history:redo", "Redo the act that was undone last."),
    },
    "Maintain memories": {
        "state": VerbEntry("state", "List, show, set and unset trusted state."),
        "conflict": VerbEntry("conflict", "Settle a conflict between two entities."),
        "graduate": VerbEntry("triage:graduate", "Propose an active memory as an entity."),
        "history": VerbEntry("history", "List what was done in this project."),
        "verify": VerbEntry("history:verify", "Check that the store agrees with its ledger."),
        "export": VerbEntry("export", "Export trusted state, active entities and active memories."),
        "forget": VerbEntry("forget", "Erase memories, or a project, for good."),
        "merge": VerbEntry("triage:merge", "Merge one memory into another.", rare=True),
        "supersede": VerbEntry(
            "triage:supersede", "Replace an active memory by a newer one.", rare=True
        ),
        "restore": VerbEntry(
            "triage:restore", "Return decided candidates to the queue.", rare=True
        ),
        "retire": VerbEntry("triage:retire", "Make memories invalid.", rare=True),
        "stats": VerbEntry(
            "stats",
            "Count candidates by project and status, and uses; measure compressions.",
            rare=True,
        ),
    },
    "Shrink a context": {
        "context": VerbEntry("context", "List, import and export contexts."),
        "commit": VerbEntry("commit", "List, show, add and edit a context's commits."),
        "annotate": VerbEntry(
            "commit:annotate",
            "Set the priority of commits, and what must survive compression.",
        ),
        "compress": VerbEntry("compress", "Preview a smaller context, and apply it if asked."),
        "compile": VerbEntry("context:compile_", "Print a context as messages, ready to send."),
        "brief": VerbEntry(
            "handover:brief",
            "Write the hand-over for the next session of an agent, as plain Markdown.",
        ),
        "keep": VerbEntry(
            "handover:keep", "Write what a compaction must keep, as instructions for /compact."
        ),
        "summarize": VerbEntry(
            "summarize", "Summarize a file at one or all levels, without a store.", rare=True
        ),
    },
    "Feed an agent": {
        "packet": VerbEntry("packet", "Print what an agent should know, within a token budget."),
        "recall": VerbEntry(
            "recall", "Show the memories that belong to a call, failure or prompt."
        ),
        "connect": VerbEntry(
            "connect", "Connect an agent, so that it gets its project's memories automatically."
        ),
        "disconnect": VerbEntry("connect:disconnect", "Undo `reviewer connect`."),
        "pipeline": VerbEntry(
            "pipeline_run:pipeline", "Check, preview, run and resume a pipeline."
        ),
        "model": VerbEntry("model", "Test the configured model."),
        "mcp": VerbEntry(
            "mcp",
            "Serve an agent over stdio: it reads what you promoted, and proposes.",
            rare=True,
        ),
        "hook": VerbEntry(
            "hook", "Answer an event of an agent's session; agents run this.", rare=True
        ),
    },
    "Share, show and set up": {
        "sync": VerbEntry(
            "team:sync", "Keep decisions in step with another machine through a folder."
        ),
        "share": VerbEntry(
            "team:share", "Let a group on this host open the store and decide in it."
        ),
        "decisions": VerbEntry(
            "team:decisions",
            "Export your decisions as a signed file, and import those of others.",
        ),
        "serve": VerbEntry("serve", "Show the screen in a browser on this machine, until Ctrl-C."),
        "config": VerbEntry("config", "Show or check the settings."),
        "doctor": VerbEntry("doctor", "Check the store, the terminal and the settings."),
        "help": VerbEntry("help:help_", "Print a page of the documentation."),
    },
}
"""The commands listed in the help, by purpose."""

HIDDEN = {
    "read-sessions": VerbEntry("hook:read_sessions", "Ingest the sessions noted by hooks."),
    "add": VerbEntry("remember:add", "Write a memory, as `remember --type TYPE STATEMENT` does."),
    "dev-seed": VerbEntry("demo:dev_seed", "Fill the queue with N generated candidates."),
}
"""Commands for programs."""


@click.group(
    name="reviewer",
    cls=LazyGroup,
    sections=SECTIONS,
    hidden=HIDDEN,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@with_store_options
@flag("--ascii", "Draw the screen with ASCII characters only.")
@click.version_option(__version__, prog_name="reviewer", message="%(prog)s %(version)s")
@pass_session
@click.pass_context
def root(ctx: click.Context, session: Session, ascii: bool) -> None:  # noqa: A002
    """Decide what an AI agent may remember.

    Without a command it opens the screen, where you work through the queue with the keyboard.
    """
    if os.environ.get("NO_COLOR"):
        ctx.color = False
    if ctx.invoked_subcommand is None:
        session.require_terminal("reviewer queue list")
        with session.whole_store(create=True) as engine:
            first = session.choose_to_begin(engine)
            session.remark = ""  # the screen shows the project itself
            start: Start | None = None
            if first and not engine.read_only:
                from reviewer.start import MachineStart

                start = MachineStart(engine, session.project)
            ctx.exit(session.show_screen(engine, engine.project, ascii=ascii, start=start))
