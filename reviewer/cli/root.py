"""`reviewer` itself: the global options and the table of commands."""

from __future__ import annotations

import os

import click

from reviewer import __version__
from reviewer.cli.inputs import flag
from reviewer.cli.session import LazyGroup, Session, VerbEntry, pass_session, store_options

SECTIONS = {
    "Read sessions and notes": {
        "demo": VerbEntry("Try reviewer on sample data in a temporary store."),
        "ingest": VerbEntry("Read sessions and notes, and queue what may be worth remembering."),
        "sources": VerbEntry("List the agent sessions on this machine, and which have been read."),
        "watch": VerbEntry(
            "Read new turns of sessions as agents write them, until Ctrl-C.", "sources"
        ),
        "findings": VerbEntry("List what recurs: failures with their fix, refusals, corrections."),
        "propose": VerbEntry(
            "Have a model write statements from sessions, and queue those with their proof."
        ),
        "view": VerbEntry("Show a session: dialogue in full, each tool call on one line."),
        "fleet": VerbEntry("Read the sessions of a whole company, and queue the best."),
        "extract": VerbEntry(
            "Show the candidates in a file, without a store.", "ingest", rare=True
        ),
    },
    "Decide": {
        "queue": VerbEntry("List, show and extend the queue of candidates."),
        "promote": VerbEntry("Accept candidates as memories.", "triage"),
        "reject": VerbEntry("Reject candidates; they are not proposed again.", "triage"),
        "edit": VerbEntry(
            "Change the wording, type or name of a memory, or when it is recalled.", "triage"
        ),
        "defer": VerbEntry("Set candidates aside: they no longer wait.", "triage"),
        "remember": VerbEntry("Write a memory in your own words."),
        "undo": VerbEntry("Undo your latest decision, or the act with this number.", "history"),
        "redo": VerbEntry("Redo the act that was undone last.", "history"),
    },
    "Maintain memories": {
        "state": VerbEntry("List, show, set and unset trusted state."),
        "conflict": VerbEntry("Settle a conflict between two entities."),
        "graduate": VerbEntry("Propose an active memory as an entity.", "triage"),
        "history": VerbEntry("List what was done in this project."),
        "verify": VerbEntry("Check that the store agrees with its ledger.", "history"),
        "export": VerbEntry("Export trusted state, active entities and active memories."),
        "forget": VerbEntry("Erase memories, or a project, for good."),
        "merge": VerbEntry("Merge a candidate into another or a memory.", "triage", rare=True),
        "supersede": VerbEntry("Replace an active memory by a newer one.", "triage", rare=True),
        "restore": VerbEntry("Return decided candidates to the queue.", "triage", rare=True),
        "retire": VerbEntry("Make memories invalid.", "triage", rare=True),
        "stats": VerbEntry(
            "Count candidates by project and status, and uses; measure compressions.", rare=True
        ),
    },
    "Shrink a context": {
        "context": VerbEntry("List, import and export contexts."),
        "commit": VerbEntry("List, show, add and edit a context's commits."),
        "annotate": VerbEntry(
            "Set the priority of commits, and what must survive compression.", "commit"
        ),
        "compress": VerbEntry("Preview a smaller context, and apply it if asked."),
        "compile": VerbEntry("Print a context as messages, ready to send.", "context:compile_"),
        "brief": VerbEntry(
            "Write the hand-over for the next session of an agent, as plain Markdown.",
            "handover",
        ),
        "keep": VerbEntry(
            "Write what a compaction must keep, as instructions for /compact.", "handover"
        ),
        "summarize": VerbEntry(
            "Summarize a file at one or all levels, without a store.", rare=True
        ),
    },
    "Feed an agent": {
        "packet": VerbEntry("Print what an agent should know, within a token budget."),
        "recall": VerbEntry("Show the memories that belong to a call, failure or prompt."),
        "connect": VerbEntry(
            "Connect an agent, so that it gets its project's memories automatically."
        ),
        "disconnect": VerbEntry("Undo `reviewer connect`.", "connect"),
        "pipeline": VerbEntry("Check, preview, run and resume a pipeline.", "pipeline_run"),
        "model": VerbEntry("Test the configured model."),
        "mcp": VerbEntry(
            "Serve an agent over stdio: it reads what you promoted, and proposes.", rare=True
        ),
        "hook": VerbEntry("Answer an event of an agent's session; agents run this.", rare=True),
    },
    "Share, show and set up": {
        "sync": VerbEntry("Keep decisions in step with another machine through a folder.", "team"),
        "share": VerbEntry("Let a group on this host open the store and decide in it.", "team"),
        "decisions": VerbEntry(
            "Export your decisions as a signed file, and import those of others.", "team"
        ),
        "serve": VerbEntry("Show the screen in a browser on this machine, until Ctrl-C."),
        "config": VerbEntry("Show or check the settings."),
        "doctor": VerbEntry("Check the store, the terminal and the settings."),
        "help": VerbEntry("Print a page of the documentation.", ":help_"),
    },
}
"""The commands listed in the help, by purpose."""

HIDDEN = {
    "read-sessions": VerbEntry("Ingest the sessions noted by hooks.", "hook:read_sessions"),
    "add": VerbEntry("Write a memory, as `remember --type TYPE STATEMENT` does.", "remember"),
    "dev-seed": VerbEntry("Fill the queue with N generated candidates.", "demo:dev_seed"),
}
"""Commands for programs."""


@click.group(
    name="reviewer",
    cls=LazyGroup,
    sections=SECTIONS,
    hidden=HIDDEN,
    params=store_options(before_verb=True),
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
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
            start = None
            if first:
                from reviewer.start import MachineStart

                start = MachineStart(engine, session.project)
            ctx.exit(session.show_screen(engine, engine.project, ascii=ascii, start=start))
