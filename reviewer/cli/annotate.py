"""`reviewer annotate COMMIT...`: what must survive, said of one commit or of many as one act."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from reviewer.cli.commits import (
    IMPORT,
    checks,
    find_commits,
    find_context,
    in_context,
    with_criteria,
)
from reviewer.cli.output import narrate, print_json, print_text, safe
from reviewer.cli.session import Session, Verb, pass_session
from reviewer.errors import ReviewerError

if TYPE_CHECKING:
    from reviewer.engine import Engine


@click.command(cls=Verb)
@click.argument("references", nargs=-1, metavar="COMMIT...")
@in_context
@click.option(
    "--filter",
    "filter_text",
    metavar="Q",
    help="Instead of COMMIT: all of --context that match, as `reviewer commit list --filter`.",
)
@with_criteria
@click.option("--clear", is_flag=True, help="Forget the criteria that hold before adding these.")
@click.option(
    "--check", "only_check", is_flag=True, help="Say how the patterns stand, and no more."
)
@click.option("--json", "as_json", is_flag=True, help="What was written as one JSON object.")
@pass_session
def annotate(
    session: Session,
    references: Sequence[str],
    context_name: str | None,
    filter_text: str | None,
    priority: str | None,
    retain: str | None,
    retain_match: Sequence[str],
    retain_regex: Sequence[str],
    reason: str,
    clear: bool,
    only_check: bool,
    as_json: bool,
) -> None:
    """Say what must survive of a commit.

    The latest annotation holds, and every earlier one stays readable. What is not given stays as
    it is; criteria without a priority make a commit important. A pattern that does not match its
    own commit is kept and said.
    """
    opened = session.reading if only_check else session.changing
    with opened(filled_by=IMPORT) as engine:
        commits = _meant(engine, references, context_name, filter_text)
        if only_check:
            _check(engine, commits, retain_match, retain_regex, as_json=as_json)
            return
        done = engine.contexts.annotate(
            commits,
            priority=priority,
            retain=retain,
            retain_match=retain_match or None,
            retain_regex=retain_regex,
            clear=clear,
            reason=reason,
        )
    if as_json:
        print_json({name: getattr(done, name) for name in done.__struct_fields__})
    narrate(safe(done.title) + (" - reviewer undo takes it back" if done.act else ""))
    for warning in done.warnings:
        narrate(safe(warning))


def _meant(
    engine: Engine,
    references: Sequence[str],
    context_name: str | None,
    filter_text: str | None,
) -> list[int]:
    """The commits that were named or that match. Raises UsageError when neither is given."""
    if filter_text is None:
        if not references:
            raise click.UsageError("name the commits, or match them with --context and --filter")
        return find_commits(engine, references, context_name)
    if references or context_name is None:
        raise click.UsageError("--filter goes with --context, and with no COMMIT")
    from reviewer.engine import CommitQuery

    context = find_context(engine, context_name)
    found = list(engine.contexts.ids(CommitQuery(context.id, filter_text)))
    if not found:
        raise ReviewerError(
            f"Nothing in {context.name} matches {filter_text!r}. See: reviewer commit list "
            f"#{context.id} --filter Q"
        )
    return found


def _check(
    engine: Engine,
    commits: Sequence[int],
    match: Sequence[str],
    regexes: Sequence[str],
    *,
    as_json: bool,
) -> None:
    """How the patterns given stand, or, without any, those that the commits carry."""
    import msgspec

    given = engine.contexts.patterns(match, regexes)
    for number in commits:
        view = engine.contexts.commit(number)
        patterns = given or view.retention.patterns
        if as_json:
            found = engine.contexts.check(patterns, view.text)
            print_json(
                {"commit": number, "hash": view.row.hash, "checks": msgspec.to_builtins(found)}
            )
            continue
        print_text(f"#{number} {view.row.hash[:8]}  {safe(view.row.first_line)}")
        for line in checks(engine, patterns, view.text):
            print_text(f"  {line}")
