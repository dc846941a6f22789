"""`reviewer context list|create|import|export` and `reviewer compile`: chains of commits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
from msgspec.structs import asdict

from reviewer.cli.inputs import FILE, option
from reviewer.cli.output import (
    by_reason,
    count,
    emit,
    json_option,
    moment,
    narrate,
    print_json,
    print_table,
    safe_lines,
)
from reviewer.cli.session import FAILED, Session, Verb, VerbSection, leave, pass_session
from reviewer.commits.rows import chat_messages, summary_label
from reviewer.commits.values import (
    CommitQuery,
    CommitView,
    CompiledMessage,
    ImportResult,
    TokenTotals,
)
from reviewer.engine import Engine
from reviewer.errors import SourceError

IMPORT = "reviewer context import FILE"
"""The command for importing contexts."""
SHORT = 8
"""Characters of a hash in messages."""


@click.group(cls=VerbSection)
def context() -> None:
    """A context is a chain of commits: the turns of a conversation, tool calls and their results.
    Mark what must survive with `reviewer annotate`, print it with `reviewer compile`.
    """


@context.command("list")
@json_option()
@pass_session
def list_contexts(session: Session, as_json: bool) -> None:
    """List the contexts, most recently changed first."""
    with session.listing(filled_by=IMPORT) as engine:
        project = engine.project
        emit(
            engine.contexts.all(project),
            as_json,
            lambda each: (
                f"#{each.id}",
                each.name,
                count(each.commits, "commit"),
                count(each.tokens, "token"),
                moment(each.changed_at),
                *([] if project else [each.project]),
                each.source_path or "",
            ),
            right=[0, 2, 3],
            empty=f"There are no contexts yet. Import one: {IMPORT}",
        )


@context.command("create")
@click.argument("name")
@json_option("One JSON object.")
@pass_session
def create(session: Session, name: str, as_json: bool) -> None:
    """Create an empty context, for commits written by hand."""
    with session.changing(create=True) as engine:
        made = engine.contexts.create(session.target(engine), name)
    if as_json:
        print_json(made)
    narrate(f"Created #{made.id} {made.name} - reviewer undo takes it back")


@context.command("import", example="context import session.jsonl --name talk")
@click.argument("files", type=FILE, nargs=-1, required=True, metavar="FILE...")
@option("--name NAME", "The name of the context (default: that of the file).")
@option("--session ID", "Only this session of a file that has several.", into="only")
@json_option("One JSON object per file.")
@pass_session
def import_(
    session: Session,
    files: Sequence[Path],
    name: str | None,
    only: str | None,
    as_json: bool,
) -> None:
    """Import transcripts as contexts: a commit for each turn, tool call and result.

    Importing a file again adds only new commits. Sub-agents and rewound turns are skipped. Secrets
    are masked. Several conversations in a file are imported one after the other, each after a
    commit that names it; --session imports only one.
    """
    if name is not None and len(files) > 1:
        raise click.UsageError("--name needs a single file")
    failed = 0
    with session.changing(create=True, new_outside=True) as engine:
        for path in files:
            try:
                done = engine.contexts.import_file(
                    path,
                    project=session.target(engine),
                    name=name,
                    session=only,
                )
            except SourceError as problem:
                if len(files) == 1:
                    raise
                narrate(str(problem))
                failed += 1
                continue
            if as_json:
                print_json(done)
            else:
                _print_imported(engine, done)
    if failed:
        narrate(f"{failed:,} of {count(len(files), 'file')} could not be read.")
        leave(FAILED)


@context.command("export")
@click.argument("name", metavar="CONTEXT")
@pass_session
def export(session: Session, name: str) -> None:
    """Print every commit of a context with its annotations, one JSON object per line.

    Skipped commits are included, edits are applied. Commits that an edit or a compression removed
    from the chain are left out. Importing the lines gives the same commits, without annotations.
    """
    with session.reading(filled_by=IMPORT) as engine:
        found = engine.contexts.find(name, engine.project)
        for number in engine.contexts.ids(CommitQuery(found.id)):
            print_json(export_json(engine.contexts.commit(number)))


@click.command("compile", cls=Verb, example="compile talk --format chat > messages.json")
@click.argument("name", metavar="CONTEXT")
@option(
    "--format",
    "text: to read, with control characters made visible; json: one object per message, with its "
    "exact text; chat: one JSON list for chat completions, with calls, results and summaries as "
    "labelled text.",
    into="form",
    choices=("text", "json", "chat"),
    default="text",
)
@pass_session
def compile_(session: Session, name: str, form: str) -> None:
    """Edits are applied and skipped commits left out. Tokens by priority and role are printed to
    standard error.

    The format chat has no `tool_calls`: a context has the command of a call, not all its arguments,
    and endpoints refuse a call without its result. A call is a message of the assistant,
    `[tool call NAME]` and its text; a result or a summary is a labelled message of the user.
    """
    with session.reading(filled_by=IMPORT) as engine:
        context = engine.contexts.find(name, engine.project)
        messages = engine.contexts.compile(context.id)
        totals = engine.contexts.totals(context.id)
        if form == "chat":
            print_json(chat_messages(messages))
        else:
            emit(
                messages,
                form == "json",
                lines=_message_lines,
            )
    tokens = sum(message.tokens for message in messages)
    printed = f"{count(len(messages), 'message')}, {count(tokens, 'token')}"
    narrate(f"{printed}, out of {totals_line(totals)}")


def commit_json(view: CommitView) -> dict[str, Any]:
    """A commit as one flat object: the fields of its row, then the rest."""
    found = asdict(view)
    return {**asdict(found.pop("row")), **found, "retention": view.retention}


def export_json(view: CommitView) -> dict[str, Any]:
    found = commit_json(view)
    call = {"tool_call_id": view.call} if view.call else {}
    return {"role": found.pop("role"), "content": found.pop("text"), **call, **found}


def totals_line(totals: TokenTotals) -> str:
    """`12 commits, 3,400 tokens: pinned 200 (1), normal 3,200 (11); user 300, assistant 3,100`."""
    by_priority = ", ".join(
        f"{priority} {tokens:,} ({totals.commits_by_priority[priority]:,})"
        for priority, tokens in reversed(totals.by_priority.items())
        if totals.commits_by_priority[priority]
    )
    by_role = ", ".join(f"{role} {tokens:,}" for role, tokens in totals.by_role.items())
    commits = count(sum(totals.commits_by_priority.values()), "commit")
    head = f"{commits}, {count(totals.total, 'token')}"
    return f"{head}: {by_priority}; {by_role}" if by_priority else head


def _print_imported(engine: Engine, done: ImportResult) -> None:
    view = done.context
    added = count(done.commits, "new commit" if done.existed else "commit")
    rows = [
        ("context", f"#{view.id} {view.name} in project {view.project}"),
        ("added", added if done.commits else "nothing new"),
        ("contains", totals_line(engine.contexts.totals(view.id))),
        *by_reason("masked", done.masked),
        *by_reason("skipped", done.skipped),
    ]
    print_table(rows)
    if done.act:
        narrate(f"reviewer undo {done.act} takes it back")


def _message_lines(message: CompiledMessage) -> Iterator[str]:
    speaker = f" {message.name}" if message.name else ""
    kind = summary_label(message.summary_of) if message.summary_of else message.type
    yield f"--- {message.role}{speaker} ({kind}) {message.hash[:SHORT]}"
    yield from safe_lines(message.text)
    yield ""
