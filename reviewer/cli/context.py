"""`reviewer context list|show|create|import|export`: chains of commits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reviewer.cli.commits import (
    IMPORT,
    export_json,
    find_context,
    totals_json,
    totals_line,
)
from reviewer.cli.failures import COULD_NOT, complain
from reviewer.cli.output import count, moment, narrate, print_json, print_text, safe, table
from reviewer.cli.session import Session, Verb, pass_session
from reviewer.errors import SourceError

if TYPE_CHECKING:
    from reviewer.engine import ContextView, Engine, Imported

LINE = click.IntRange(0)


@click.group()
def context() -> None:
    """List, import and export contexts.

    A context is a chain of commits: the turns of a conversation, calls of tools and their results.
    What must survive of it is said with `reviewer annotate`; `reviewer compile` hands it out.
    """


@context.command("list", cls=Verb)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@pass_session
def list_contexts(session: Session, as_json: bool) -> None:
    """The contexts, those that changed latest first."""
    with session.listing(filled_by=IMPORT) as engine:
        project = engine.project
        found = engine.contexts.all(project)
        if as_json:
            for each in found:
                print_json(_json(each))
            return
        rows = [
            (
                f"#{each.id}",
                safe(each.name),
                count(each.commits, "commit"),
                count(each.tokens, "token"),
                moment(each.changed_at),
                *(() if project else (safe(each.project),)),
                safe(each.source_path or ""),
            )
            for each in found
        ]
        for line in table(rows, right=frozenset({0, 2, 3})):
            print_text(line)
        if not found:
            narrate("There is no context yet. Make one: reviewer context import FILE")


@context.command("show", cls=Verb)
@click.argument("name", metavar="CONTEXT")
@click.option("--json", "as_json", is_flag=True, help="One JSON object, with the totals.")
@pass_session
def show(session: Session, name: str, as_json: bool) -> None:
    """Where a context came from, and how its tokens divide by priority and role."""
    with session.reading(filled_by=IMPORT) as engine:
        found = find_context(engine, name)
        totals = engine.contexts.totals(found.id)
        if as_json:
            print_json({**_json(found), "totals": totals_json(totals)})
            return
        rows = [
            ("context", f"#{found.id} {safe(found.name)} in project {safe(found.project)}"),
            ("head", found.head or "nothing yet"),
            ("from", safe(found.source_path or "written by hand")),
            ("created", moment(found.created_at)),
            ("changed", moment(found.changed_at)),
            ("holds", totals_line(totals)),
        ]
        for line in table(rows):
            print_text(line)


@context.command("create", cls=Verb)
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@pass_session
def create(session: Session, name: str, as_json: bool) -> None:
    """An empty context, for commits that are written by hand."""
    with session.changing(create=True) as engine:
        made = engine.contexts.create(session.target(engine), name)
    if as_json:
        print_json(_json(made))
    narrate(f"Created #{made.id} {safe(made.name)} - reviewer undo takes it back")


@context.command("import", cls=Verb)
@click.argument(
    "files",
    type=click.Path(path_type=Path, readable=False),
    nargs=-1,
    required=True,
    metavar="FILE...",
)
@click.option("--name", metavar="NAME", help="What to call the context (default: as the file).")
@click.option(
    "--from-line", type=LINE, default=0, metavar="A", help="Only from this line, 0-based."
)
@click.option("--to-line", type=LINE, metavar="B", help="Only up to before this line.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a file.")
@click.pass_context
@pass_session
def import_(
    session: Session,
    ctx: click.Context,
    files: Sequence[Path],
    name: str | None,
    from_line: int,
    to_line: int | None,
    as_json: bool,
) -> None:
    """Turn transcripts into contexts: a commit for each turn, call and result.

    A file that was imported before adds only what is new. What sub-agents said is passed over, and
    so is what was rewound. Secrets are masked.
    """
    if name is not None and len(files) > 1:
        raise click.UsageError("--name goes with one file")
    if to_line is not None and to_line <= from_line:
        raise click.UsageError("--to-line is behind --from-line: no line is between them")
    failed = 0
    with session.changing(create=True, new_outside=True) as engine:
        for path in files:
            try:
                done = engine.contexts.import_file(
                    path,
                    project=session.target(engine),
                    name=name,
                    line_start=from_line,
                    line_end=to_line,
                )
            except SourceError as problem:
                if len(files) == 1:
                    raise
                complain(str(problem))
                failed += 1
                continue
            if as_json:
                print_json(_imported_json(done))
            else:
                _tell(engine, done)
    if failed:
        complain(f"{failed} of {len(files)} files could not be read.")
        ctx.exit(COULD_NOT)


@context.command("export", cls=Verb)
@click.argument("name", metavar="CONTEXT")
@pass_session
def export(session: Session, name: str) -> None:
    """Every commit of a context with all that was said about it, one JSON object a line.

    SKIP is included, edits are applied. Imported again the lines are the same commits, with their
    types, priorities, criteria and what was said when; commits that an edit or a compression took
    out of the chain are not among them.
    """
    from reviewer.engine import CommitQuery

    with session.reading(filled_by=IMPORT) as engine:
        found = find_context(engine, name)
        for number in engine.contexts.ids(CommitQuery(found.id)):
            print_json(export_json(engine.contexts.commit(number)))


def _json(view: ContextView) -> dict[str, Any]:
    return {name: getattr(view, name) for name in view.__struct_fields__}


def _imported_json(done: Imported) -> dict[str, Any]:
    import msgspec

    found: dict[str, Any] = msgspec.to_builtins(done)
    return found


def _tell(engine: Engine, done: Imported) -> None:
    view = done.context
    added = count(done.commits, "new commit" if done.existed else "commit")
    rows = [
        ("context", f"#{view.id} {safe(view.name)} in project {safe(view.project)}"),
        ("added", added if done.commits else "nothing new"),
        ("holds", totals_line(engine.contexts.totals(view.id))),
        *_reasons("masked", done.masked),
        *_reasons("skipped", done.skipped),
    ]
    for line in table(rows):
        print_text(line)
    if done.act:
        narrate(f"reviewer undo {done.act} takes it back")


def _reasons(title: str, counts: dict[str, int]) -> list[tuple[str, str]]:
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return [
        ("" if place else title, f"{times:,} x {safe(reason)}")
        for place, (reason, times) in enumerate(ordered)
    ]
