"""`reviewer view FILE`: a session as a reader needs it, without a store."""

from __future__ import annotations

from pathlib import Path

import click

from reviewer.cli.inputs import FILE, line_range, option
from reviewer.cli.output import count, emit, json_option, narrate, safe_lines
from reviewer.proposing.session_view import read_view
from reviewer.proposing.values import SessionView
from reviewer.proposing.view_pieces import view_text


@click.command()
@click.argument("path", type=FILE)
@line_range
@option("--session ID", "Only this session of the file.")
@json_option()
def view(
    path: Path, from_line: int, to_line: int | None, session: str | None, as_json: bool
) -> None:
    """Errors, refused calls, to-do lists and commits are shown; pasted logs and additions by the
    agent's program are shortened, and secrets are masked. No store is touched. `reviewer sources
    --files` lists the ids of the sessions in a database.
    """
    found = read_view(path, line_start=from_line, line_end=to_line, session=session)
    emit(
        found.lines,
        as_json,
        lines=lambda line: safe_lines(view_text([line])),
        to_json=lambda line: {
            "line": line.line,
            "role": line.role.value,
            "speaker": line.speaker.value,
            "text": line.text,
            "left_out": line.left_out,
        },
    )
    _print_coverage(found)


def _print_coverage(found: SessionView) -> None:
    """Print how much of the file is shown, and what is left out."""
    if not found.lines:
        narrate("There is nothing to show.")
    shown = sum(len(line.text.encode("utf-8", "replace")) for line in found.lines)
    size = found.path.stat().st_size
    share = f" ({100 * shown / size:.1f} %)" if size else ""
    narrate(
        f"{found.format}: {count(len(found.lines), 'line')} shown, {shown:,} of {size:,} bytes"
        f"{share}."
    )
    if found.tally:
        parts = sorted(found.tally.items(), key=lambda part: -part[1])
        narrate("Left out: " + ", ".join(f"{what} {number:,}" for what, number in parts))
