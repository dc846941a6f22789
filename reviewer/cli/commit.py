"""`reviewer commit list|show|add|edit` and `reviewer annotate`: the commits of a context."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import click

from reviewer.cli.context import IMPORT, SHORT, commit_json
from reviewer.cli.inputs import flag, limit_option, option, read_text, together
from reviewer.cli.output import (
    count,
    emit,
    json_option,
    moment,
    narrate,
    print_json,
    report_act,
    wrapped,
)
from reviewer.cli.session import Session, Verb, VerbSection, pass_session
from reviewer.commits.criteria import check_patterns
from reviewer.commits.values import CommitQuery, CommitRow, CommitView
from reviewer.engine import Engine
from reviewer.errors import ReviewerError

ROLES = ("user", "assistant", "system", "tool", "note")
GLYPHS = {"skip": "∅", "normal": "·", "important": "◆", "pinned": "●"}
BATCH = 500
"""Rows read from the store at a time, so that the first lines appear at once."""


with_criteria = together(
    option(
        "--priority",
        "skip: left out; normal: compressed freely; important: compressed with care; pinned: never "
        "compressed.",
        choices=[*GLYPHS],
    ),
    option("--retain TEXT", "Instructions for the summary: what must survive, in words."),
    option(
        "--retain-match S",
        "A text that every summary must contain; case matters, white space does not.",
        many=True,
    ),
    option("--retain-regex R", "A regular expression that every summary must match.", many=True),
)
with_text = option("--text TEXT", "The text; - is standard input.", required=True)


@click.group(cls=VerbSection)
def commit() -> None:
    """Name a commit by its number (#12), its hash, or at least the first 4 characters of the
    hash.
    """


@commit.command("list", example='commit list talk --filter "role:tool tokens>500"')
@click.argument("name", metavar="CONTEXT")
@option(
    "--filter Q",
    'Words, "a phrase", -word, priority:x, role:x, type:x, name:x, tokens>500, is:edited, '
    "is:annotated, is:summary, is:criteria.",
    into="filter_text",
    default="",
)
@limit_option()
@json_option()
@pass_session
def list_commits(
    session: Session, name: str, filter_text: str, limit: int | None, as_json: bool
) -> None:
    """List the commits in the order of the chain, edits applied.

    ● pinned, ◆ important, · normal, ∅ skip; ✎ edited; a number counts the retention criteria.
    """
    with session.reading(filled_by=IMPORT) as engine:
        found = engine.contexts.find(name, engine.project)
        everything = engine.contexts.ids(CommitQuery(found.id, filter_text))
        ids = everything[:limit]
        for start in range(0, len(ids), BATCH):
            emit(engine.contexts.rows(ids[start : start + BATCH]), as_json, _cells, right=[0, 5])
    if not as_json:
        if not ids:
            narrate("Nothing matches." if filter_text else "The context has no commits yet.")
        elif len(everything) > len(ids):
            narrate(f"{len(ids):,} of {len(everything):,}")


@commit.command("show")
@click.argument("references", nargs=-1, required=True, metavar="COMMIT...")
@json_option()
@pass_session
def show(session: Session, references: Sequence[str], as_json: bool) -> None:
    """Show a commit's text, annotations and criteria, and whether its patterns match."""
    with session.reading(filled_by=IMPORT) as engine:
        emit(
            map(engine.contexts.commit, _find(engine, references)),
            as_json,
            lines=lambda view: _shown(engine, view),
            to_json=lambda view: {
                **commit_json(view),
                "checks": check_patterns(view.retention.patterns, view.text),
            },
            apart=True,
        )


@commit.command(
    "add", example='commit add talk --role note --text "Use port 8443." --priority pinned'
)
@click.argument("name", metavar="CONTEXT")
@option("--role", "", choices=ROLES, default="user")
@option(
    "--type T",
    "dialogue, instruction, session, reasoning, tool_call, tool_result, summary, artifact, or a "
    "word of your own. By default instructions and sessions are pinned, reasoning is skipped.",
)
@with_text
@option("--name N", "The speaker or the tool.", into="speaker", default="")
@with_criteria
@json_option("The commit as one JSON object.")
@pass_session
def add(
    session: Session, /, name: str, text: str, speaker: str, as_json: bool, **given: Any
) -> None:
    """Add a commit at the end of a context, with its priority and retention criteria."""
    content = _text(text)
    with session.changing(filled_by=IMPORT) as engine:
        context = engine.contexts.find(name, engine.project)
        view = engine.contexts.add(context.id, text=content, name=speaker, **given)
        _report(engine, view, "Committed", as_json)


@commit.command("edit", example='commit edit 12 --text "Use port 9443."')
@click.argument("reference", metavar="COMMIT")
@with_text
@json_option("The commit as one JSON object.")
@pass_session
def edit(session: Session, reference: str, text: str, as_json: bool) -> None:
    """Replace the text of a commit. The edit is a commit too, so the original stays readable."""
    content = _text(text)
    with session.changing(filled_by=IMPORT) as engine:
        (number,) = _find(engine, [reference])
        before = engine.contexts.commit(number)
        view = engine.contexts.edit(number, content)
        if view == before:
            narrate(f"#{view.row.id} already has this text.")
            return
        _report(engine, view, "Edited", as_json)


@click.command(cls=Verb, example='annotate 12 --priority important --retain-match "port 8443"')
@click.argument("references", nargs=-1, metavar="COMMIT...")
@option(
    "--context CONTEXT",
    "Look for the commits in this context only, by name or #number.",
    into="context_name",
)
@option(
    "--filter Q",
    "Instead of COMMIT: all commits of --context that match, as in `commit list`.",
    into="filter_text",
)
@with_criteria
@flag("--clear", "Remove the current criteria first.")
@json_option("The result as one JSON object.")
@pass_session
def annotate(
    session: Session,
    /,
    references: Sequence[str],
    context_name: str | None,
    filter_text: str | None,
    retain_match: Sequence[str],
    as_json: bool,
    **given: Any,
) -> None:
    """The latest annotation applies; earlier ones stay readable. Omitted options change nothing.
    Patterns are added to the current ones, and --clear drops those first. Criteria without a
    priority make a commit important. A pattern that does not match its own commit is stored, with a
    warning; `reviewer commit show` lists the matching ones.
    """
    with session.changing(filled_by=IMPORT) as engine:
        done = engine.contexts.annotate(
            _selected(engine, references, context_name, filter_text),
            retain_match=retain_match or None,
            adds=True,
            **given,
        )
    if as_json:
        print_json(done)
    report_act(done)
    narrate(*done.warnings)


def _text(text: str) -> str:
    return read_text("-", of="a commit", if_empty="A commit needs a text.") if text == "-" else text


def _find(engine: Engine, references: Sequence[str], context_name: str | None = None) -> list[int]:
    """The ids of the named commits. Raises UnknownIdError, also for ambiguous names."""
    context = engine.contexts.find(context_name, engine.project).id if context_name else None
    return [engine.contexts.resolve(each, context, engine.project) for each in references]


def _selected(
    engine: Engine,
    references: Sequence[str],
    context_name: str | None,
    filter_text: str | None,
) -> list[int]:
    """The commits named or selected by the filter. Raises UsageError without either."""
    if filter_text is None:
        if not references:
            raise click.UsageError("name the commits, or select them with --context and --filter")
        return _find(engine, references, context_name)
    if references or context_name is None:
        raise click.UsageError("--filter needs --context, and takes no COMMIT")
    context = engine.contexts.find(context_name, engine.project)
    found = list(engine.contexts.ids(CommitQuery(context.id, filter_text)))
    if not found:
        raise ReviewerError(
            f"No commit of {context.name} matches {filter_text!r}. See: reviewer commit list "
            f"#{context.id} --filter Q"
        )
    return found


def _report(engine: Engine, view: CommitView, verb: str, as_json: bool) -> None:
    if as_json:
        print_json(commit_json(view))
    row = view.row
    narrate(
        f"{verb} #{row.id} {row.hash[:SHORT]}, {count(row.tokens, 'token')}, {row.priority}"
        " - reviewer undo takes it back"
    )
    narrate(*engine.contexts.criteria_warnings([row.id]))


def _cells(row: CommitRow) -> tuple[str, ...]:
    return (
        f"#{row.id}",
        row.hash[:SHORT],
        GLYPHS[row.priority] + ("✎" if row.edited else "") + (str(row.criteria or "")),
        row.role,
        row.type,
        f"{row.tokens:,}",
        row.first_line,
    )


def _shown(engine: Engine, view: CommitView) -> Iterator[str]:
    row = view.row
    whose = f"{row.role}{f' {view.name}' if view.name else ''} ({row.type})"
    yield f"#{row.id} {row.hash}"
    yield f"{GLYPHS[row.priority]} {row.priority}  {whose}  {count(row.tokens, 'token')}"
    if view.at:
        yield f"at          {moment(view.at)}"
    if view.source_line is not None:
        path = engine.contexts.get(view.context).source_path or ""
        yield f"from        {path}:{view.source_line + 1}"
    if view.summary_of:
        yield f"summary of  {', '.join(each[:SHORT] for each in view.summary_of)}"
    if view.written_by:
        yield f"written by  {view.written_by}"
    for order in view.orders:
        yield f'injection   reads like a planted order: "{order}"'
    for each in view.annotations:
        yield f"{each.priority:<11} {moment(each.at)} by {each.actor}  {each.reason}"
    if view.retention.instructions:
        yield "retain"
        yield from wrapped(view.retention.instructions, "  ")
    for check in check_patterns(view.retention.patterns, view.text):
        what = check.pattern.text
        shown = f'"{what}"' if check.pattern.mode == "substring" else f"/{what}/"
        yield f"  {'✓' if check.state == 'matches' else '✗'} {shown}  {check.message}"
    yield "text"
    yield from wrapped(view.text, "  ")
    if view.original is not None:
        yield "original text"
        yield from wrapped(view.original, "  ")
