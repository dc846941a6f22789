"""`reviewer extract PATH`: what a file proposes, best first, with no store touched."""

from __future__ import annotations

from pathlib import Path

import click

from reviewer.cli.output import narrate, print_json, print_text, safe, table
from reviewer.cli.session import Session, Verb, pass_session


@click.command(cls=Verb)
@click.argument("path", type=click.Path(path_type=Path, readable=False))
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
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@pass_session
def extract(
    session: Session, path: Path, from_line: int, to_line: int | None, top: int, as_json: bool
) -> None:
    """Show what a file proposes; store nothing."""
    if to_line is not None and to_line < from_line:
        raise click.UsageError("--to-line cannot come before --from-line")
    from reviewer.engine import extract_file

    found = extract_file(
        path, line_start=from_line, line_end=to_line, top=top, project=session.project_to_fill()
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
