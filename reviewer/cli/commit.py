"""`reviewer commit list|show|add|edit`: what a context is made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from reviewer.cli.commits import (
    GLYPHS,
    IMPORT,
    ROLES,
    SHORT,
    checks,
    commit_json,
    find_commits,
    find_context,
    in_context,
    with_criteria,
)
from reviewer.cli.content import read_content
from reviewer.cli.output import (
    count,
    moment,
    narrate,
    print_json,
    print_text,
    safe,
    table,
    wrapped,
)
from reviewer.cli.session import Session, Verb, pass_session

if TYPE_CHECKING:
    from reviewer.engine import CommitRow, CommitView, Engine

BATCH = 500
"""Rows read from the store at a time, so that the first lines come at once."""


@click.group()
def commit() -> None:
    """List, show, add and edit a context's commits.

    A commit is named by its number (#12), its hash, or the first 4 or more characters of that.
    """


@commit.command("list", cls=Verb)
@click.argument("name", metavar="CONTEXT")
@click.option(
    "--filter",
    "filter_text",
    default="",
    metavar="Q",
    help='Words, "a phrase", -word, priority:x, role:x, type:x, hash:x, name:x, reason:x, by:x, '
    "tokens>500, n<20, edited:, annotated:, summary:, has:criteria.",
)
@click.option("--limit", type=click.IntRange(1), metavar="N", help="How many at most.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@pass_session
def list_commits(
    session: Session, name: str, filter_text: str, limit: int | None, as_json: bool
) -> None:
    """The commits in the order of the chain, edits applied.

    ● pinned, ◆ important, · normal, ∅ skip; ✎ edited; a number says how many criteria there are.
    """
    from reviewer.engine import CommitQuery

    with session.reading(filled_by=IMPORT) as engine:
        found = find_context(engine, name)
        everything = engine.contexts.ids(CommitQuery(found.id, filter_text))
        ids = everything[:limit]
        for start in range(0, len(ids), BATCH):
            rows = engine.contexts.rows(ids[start : start + BATCH])
            if as_json:
                for row in rows:
                    print_json({each: getattr(row, each) for each in row.__struct_fields__})
                continue
            for line in table(map(_cells, rows), right=frozenset({0, 5})):
                print_text(line)
    if not as_json:
        if not ids:
            narrate("Nothing matches." if filter_text else "The context has no commits yet.")
        elif len(everything) > len(ids):
            narrate(f"{len(ids):,} of {len(everything):,}")


@commit.command("show", cls=Verb)
@click.argument("references", nargs=-1, required=True, metavar="COMMIT...")
@in_context
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@pass_session
def show(
    session: Session, references: Sequence[str], context_name: str | None, as_json: bool
) -> None:
    """A commit's text, what was said about it and by whom, and how its patterns stand."""
    with session.reading(filled_by=IMPORT) as engine:
        for place, number in enumerate(find_commits(engine, references, context_name)):
            view = engine.contexts.commit(number)
            if as_json:
                print_json(_with_checks(engine, view))
                continue
            if place:
                print_text("")
            for line in _shown(engine, view):
                print_text(line)


@commit.command("add", cls=Verb)
@click.argument("name", metavar="CONTEXT")
@click.option("--role", type=click.Choice(ROLES), default="user", show_default=True)
@click.option(
    "--type",
    "type_",
    metavar="T",
    help="dialogue, instruction, session, reasoning, tool_call, tool_result, summary, artifact, or "
    "a word of your own. Instructions and sessions are pinned, reasoning is skipped, if nothing "
    "else is said.",
)
@click.option("--text", metavar="TEXT", help="What it says.")
@click.option("--text-file", metavar="FILE", help="The file that says it; - is standard input.")
@click.option("--name", "speaker", default="", metavar="N", help="The speaker or the tool.")
@with_criteria
@click.option("--json", "as_json", is_flag=True, help="The commit as one JSON object.")
@pass_session
def add(
    session: Session,
    name: str,
    role: str,
    type_: str | None,
    text: str | None,
    text_file: str | None,
    speaker: str,
    priority: str | None,
    retain: str | None,
    retain_match: Sequence[str],
    retain_regex: Sequence[str],
    reason: str,
    as_json: bool,
) -> None:
    """Write a commit at the end of a context, and say at once what must survive of it."""
    content = _text(text, text_file)
    with session.changing(filled_by=IMPORT) as engine:
        view = engine.contexts.add(
            find_context(engine, name).id,
            role=role,
            text=content,
            type=type_,
            priority=priority,
            retain=retain,
            retain_match=retain_match,
            retain_regex=retain_regex,
            reason=reason,
            name=speaker,
        )
        _tell(engine, view, "Committed", as_json)


@commit.command("edit", cls=Verb)
@click.argument("reference", metavar="COMMIT")
@click.option("--text", metavar="TEXT", help="What it says from now on.")
@click.option("--text-file", metavar="FILE", help="The file that says it; - is standard input.")
@click.option("--reason", default="", metavar="T", help="Why; kept with it.")
@in_context
@click.option("--json", "as_json", is_flag=True, help="The commit as one JSON object.")
@pass_session
def edit(
    session: Session,
    reference: str,
    text: str | None,
    text_file: str | None,
    reason: str,
    context_name: str | None,
    as_json: bool,
) -> None:
    """Give a commit a new text. The edit is a commit too: the first text stays readable."""
    content = _text(text, text_file)
    with session.changing(filled_by=IMPORT) as engine:
        (number,) = find_commits(engine, [reference], context_name)
        before = engine.contexts.commit(number)
        view = engine.contexts.edit(number, content, reason)
        if view == before:
            narrate(f"#{view.row.id} says that already.")
            return
        _tell(engine, view, "Edited", as_json)


def _text(text: str | None, text_file: str | None) -> str:
    if (text is None) == (text_file is None):
        raise click.UsageError("give the text with --text or with --text-file")
    if text_file is None:
        return text or ""
    return read_content(text_file, of="a commit", if_empty="A commit needs a text.")


def _tell(engine: Engine, view: CommitView, verb: str, as_json: bool) -> None:
    if as_json:
        print_json(commit_json(view))
    row = view.row
    narrate(
        f"{verb} #{row.id} {row.hash[:SHORT]}, {count(row.tokens, 'token')}, {row.priority}"
        " - reviewer undo takes it back"
    )
    for doubt in engine.contexts.doubts([row.id]):
        narrate(safe(doubt))


def _cells(row: CommitRow) -> tuple[str, ...]:
    return (
        f"#{row.id}",
        row.hash[:SHORT],
        GLYPHS[row.priority] + ("✎" if row.edited else "") + (str(row.criteria or "")),
        safe(row.role),
        safe(row.type),
        f"{row.tokens:,}",
        safe(row.first_line),
    )


def _with_checks(engine: Engine, view: CommitView) -> dict[str, Any]:
    import msgspec

    found = engine.contexts.check(view.retention.patterns, view.text)
    return {**commit_json(view), "checks": msgspec.to_builtins(found)}


def _shown(engine: Engine, view: CommitView) -> Iterator[str]:
    row = view.row
    whose = f"{safe(row.role)}{f' {safe(view.name)}' if view.name else ''} ({safe(row.type)})"
    yield f"#{row.id} {row.hash}"
    yield f"{GLYPHS[row.priority]} {row.priority}  {whose}  {count(row.tokens, 'token')}"
    if view.at:
        yield f"at          {moment(view.at)}"
    if view.source_line is not None:
        path = engine.contexts.get(view.context).source_path or ""
        yield f"from        {safe(path)}:{view.source_line + 1}"
    if view.summary_of:
        yield f"stands for  {', '.join(each[:SHORT] for each in view.summary_of)}"
    for each in view.annotations:
        yield f"{each.priority:<11} {moment(each.at)} by {safe(each.actor)}  {safe(each.reason)}"
    if view.retention.instructions:
        yield "retain"
        yield from wrapped(view.retention.instructions, "  ")
    for line in checks(engine, view.retention.patterns, view.text):
        yield f"  {line}"
    yield "text"
    yield from wrapped(view.text, "  ")
    if view.original is not None:
        yield "as it was committed"
        yield from wrapped(view.original, "  ")
