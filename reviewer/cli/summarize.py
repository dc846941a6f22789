"""`reviewer summarize FILE`: a summary at one or all levels, without a store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from reviewer.cli.compress import logged
from reviewer.cli.output import count, narrate, print_json, print_text, safe, safe_lines

if TYPE_CHECKING:
    from reviewer.compression.file_summary import FileSummary

LEVELS = ("detailed", "brief", "tags")


@click.command()
@click.argument("path", type=click.Path(path_type=Path, readable=False))
@click.option(
    "--level",
    type=click.Choice([*LEVELS, "all"]),
    default="brief",
    show_default=True,
    help="Detailed is about 3:1, brief 10:1, tags 50:1.",
)
@click.option(
    "--from-line", type=click.IntRange(0), default=0, metavar="A", help="First line, from 0."
)
@click.option("--to-line", type=click.IntRange(0), metavar="B", help="Stop before this line.")
@click.option(
    "--max-tokens",
    type=click.IntRange(0),
    metavar="N",
    help="At most N tokens per summary, instead of the level's ratio.",
)
@click.option("--log", is_flag=True, help="Print the log of each compression on stderr.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line.")
def summarize(
    path: Path,
    level: str,
    from_line: int,
    to_line: int | None,
    max_tokens: int | None,
    log: bool,
    as_json: bool,
) -> None:
    """Summarize a file at one or all levels, without a store and without a model.

    A file of several conversations, such as an export, has a part for each. Where --max-tokens
    leaves too little room, small ones have a line, and the earliest are left out and counted.
    """
    if to_line is not None and to_line < from_line:
        raise click.UsageError("--to-line cannot come before --from-line")
    from reviewer.compression.file_summary import summarize_file
    from reviewer.compression.summarizer import locked_level, require_licence
    from reviewer.compression.values import Level
    from reviewer.settings import load_settings

    tier = load_settings().compression.tier
    wanted = [Level[each.upper()] for each in (LEVELS if level == "all" else (level,))]
    for each in wanted:
        locked = locked_level(each, tier)
        if locked is not None and level == "all":
            narrate(locked.message)
        else:
            require_licence(each, tier)
    with logged(log):
        found = summarize_file(
            path,
            levels=[each for each in wanted if locked_level(each, tier) is None],
            line_start=from_line,
            line_end=to_line,
            max_tokens=max_tokens,
        )
    for number, summary in enumerate(found):
        if as_json:
            print_json(summary.to_json())
            continue
        if number:
            print_text("")
        if level == "all":
            print_text(f"== {summary.level.name.lower()}")
        _show(summary)


def _show(summary: FileSummary) -> None:
    """The content on stdout, its figures and missing anchors on stderr."""
    if not summary.original_tokens:
        narrate("There is nothing to summarize.")
        return
    if not summary.tokens:
        level = summary.level.name.capitalize()
        narrate(f"{level}: {summary.segment.note or 'no room'}.")
        return
    narrate(
        f"{summary.level.name.capitalize()}: {count(summary.tokens, 'token')} of "
        f"{summary.original_tokens:,} ({summary.ratio:.1f}:1, {summary.encoding}), fidelity "
        f"{summary.fidelity.overall_score:.2f}."
    )
    if summary.conversations > 1:
        narrate(f"The file has {summary.conversations:,} conversations.")
    for line in safe_lines(summary.content):
        print_text(line)
    if summary.missing:
        narrate(f"Not enough room for {count(len(summary.missing), 'anchor')}:")
        for anchor in summary.missing:
            narrate(f"  {anchor.type.value}: {safe(anchor.content)}")
