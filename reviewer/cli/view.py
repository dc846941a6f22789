"""`reviewer view FILE`: a session as a reader needs it, without a store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from reviewer.cli.inputs import line_range
from reviewer.cli.output import (
    count,
    json_option,
    narrate,
    print_json,
    print_text,
    safe,
    safe_lines,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reviewer.proposing.values import SessionView, ViewLine

SMALLEST_PIECE = 100


@click.command()
@click.argument("path", type=click.Path(path_type=Path, readable=False))
@line_range
@click.option("--session", metavar="ID", help="Only this session of a file that has several.")
@click.option(
    "--pieces",
    "piece_tokens",
    type=click.IntRange(SMALLEST_PIECE),
    metavar="TOKENS",
    help="Cut into pieces of at most TOKENS tokens, each with what it must know of those before.",
)
@json_option()
def view(
    path: Path,
    from_line: int,
    to_line: int | None,
    session: str | None,
    piece_tokens: int | None,
    as_json: bool,
) -> None:
    """Show a session: dialogue in full, each tool call on one line.

    Errors, refused calls, to-do lists and commits are shown; pasted logs and what the agent's
    program added are shortened, and secrets are masked. No store is touched. The ids of the
    sessions in a database are listed by `reviewer sources --files`.
    """
    from reviewer.proposing.session_view import pieces, read_view

    found = read_view(path, line_start=from_line, line_end=to_line, session=session)
    if piece_tokens is None:
        _print(found.lines, as_json)
    else:
        cut = pieces(found, max_tokens=piece_tokens)
        for number, piece in enumerate(cut, 1):
            if not as_json:
                print_text(f"== piece {number} of {len(cut)}")
            _print(piece.before, as_json, {"piece": number, "before": True})
            if piece.before and not as_json:
                print_text("--")
            _print(piece.lines, as_json, {"piece": number, "before": False})
    _account(found)


def _print(lines: Iterable[ViewLine], as_json: bool, more: dict[str, object] | None = None) -> None:
    from reviewer.proposing.session_view import view_text

    for line in lines:
        if as_json:
            print_json(
                {
                    "line": line.line,
                    "role": line.role.value,
                    "speaker": line.speaker.value,
                    "text": line.text,
                    "left_out": line.left_out,
                    **(more or {}),
                }
            )
        else:
            for text in safe_lines(view_text([line])):
                print_text(text)


def _account(found: SessionView) -> None:
    """How much of the file is shown, and what is left out."""
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
        narrate("Left out: " + ", ".join(f"{safe(what)} {number:,}" for what, number in parts))
