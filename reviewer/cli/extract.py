"""`reviewer extract`: what a file proposes with no store touched, or from records of the store."""

from __future__ import annotations

from pathlib import Path

import click

from reviewer.cli.ids import WAVE
from reviewer.cli.ingest import wave_table
from reviewer.cli.output import narrate, print_json, print_text, safe, table
from reviewer.cli.session import Session, Verb, pass_session


@click.command(cls=Verb)
@click.argument("path", type=click.Path(path_type=Path, readable=False), required=False)
@click.option(
    "--from-line", type=click.IntRange(0), default=0, metavar="A", help="First line, from 0."
)
@click.option(
    "--to-line", type=click.IntRange(0), metavar="B", help="The line before which to stop."
)
@click.option(
    "--top",
    type=click.IntRange(1),
    default=50,
    metavar="N",
    show_default=True,
    help="How many candidates at most.",
)
@click.option("--store", is_flag=True, help="Queue what records of the store propose.")
@click.option("--record", metavar="KEY", help="With --store: that record (`record_id` in --json).")
@click.option(
    "--source",
    type=click.Path(path_type=Path, readable=False),
    metavar="PATH",
    help="With --store: every record of that file, which need not exist any more.",
)
@click.option(
    "--wave", type=WAVE, metavar="N", help="With --store: every record of that ingestion."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@click.pass_context
@pass_session
def extract(
    session: Session,
    ctx: click.Context,
    path: Path | None,
    from_line: int,
    to_line: int | None,
    top: int,
    store: bool,
    record: str | None,
    source: Path | None,
    wave: int | None,
    as_json: bool,
) -> None:
    """Show what a file proposes, or propose from the store.

    With a path nothing is stored. With --store the records of just one of --record, --source and
    --wave are looked at again: what a newer extractor words differently is queued beside the
    older candidate, what is known already counts as seen once more.
    """
    scopes = [each for each in (record, source, wave) if each is not None]
    if store:
        if path is not None or len(scopes) != 1:
            raise click.UsageError("--store wants one of --record KEY, --source PATH and --wave N")
        if {"from_line", "to_line", "top"} & _given(ctx):
            raise click.UsageError("--from-line, --to-line and --top are for a PATH")
        _extract_stored(session, record, source, wave, as_json)
        return
    if scopes:
        raise click.UsageError("--record, --source and --wave go with --store")
    if path is None:
        raise click.UsageError("name a file, or say --store")
    if to_line is not None and to_line < from_line:
        raise click.UsageError("--to-line cannot come before --from-line")
    from reviewer.storeless import extract_file

    found = extract_file(
        path, line_start=from_line, line_end=to_line, top=top, project=session.name_here()
    )
    if as_json:
        for candidate in found:
            print_json(candidate.to_json())
        return
    rows = [
        (
            f"{one.confidence:.2f}",
            one.type,
            f"line {one.source.line_start + 1}" if one.source else "",
            safe(one.content),
        )
        for one in found
    ]
    for line in table(rows):
        print_text(line)
    if not found:
        narrate(f"Nothing in {safe(str(path))} reads like something to remember.")


def _extract_stored(
    session: Session, record: str | None, source: Path | None, wave: int | None, as_json: bool
) -> None:
    with session.changing() as engine:
        report = engine.intake.extract_stored(
            project=session.target(engine), record=record, source=source, wave=wave
        )
    if as_json:
        print_json(report.to_json())
        return
    for line in wave_table(report, reading=False):
        print_text(line)
    narrate("Decide with: reviewer" if report.new else "Nothing new to decide.")


def _given(ctx: click.Context) -> set[str]:
    """The options that were typed."""
    typed = click.core.ParameterSource.COMMANDLINE
    return {name for name in ctx.params if ctx.get_parameter_source(name) is typed}
