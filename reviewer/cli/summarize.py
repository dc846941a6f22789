"""`reviewer summarize FILE`: a summary at one or all levels, without a store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reviewer.cli.compress import logged, stoppable
from reviewer.cli.inputs import engine_options, line_range
from reviewer.cli.output import (
    count,
    json_option,
    narrate,
    print_json,
    print_text,
    safe,
    safe_lines,
)
from reviewer.cli.progress import ProgressLine

if TYPE_CHECKING:
    from reviewer.compression.engines import EngineName
    from reviewer.compression.file_summary import FileSummary
    from reviewer.compression.summary_writer import SummaryWriter

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
@line_range
@click.option(
    "--max-tokens",
    type=click.IntRange(0),
    metavar="N",
    help="At most N tokens per summary, instead of the level's ratio.",
)
@engine_options("What writes the summary; model sends the text to the model of the settings.")
@click.option("--log", is_flag=True, help="Print the log of each compression on stderr.")
@json_option()
def summarize(
    path: Path,
    level: str,
    from_line: int,
    to_line: int | None,
    max_tokens: int | None,
    engine: EngineName,
    model: str | None,
    log: bool,
    as_json: bool,
) -> None:
    """Summarize a file at one or all levels, without a store.

    Nothing is sent anywhere unless --engine model asks for it, whatever the settings say. A model
    reads the lines in one call for each level and is asked again for what it invents or misses;
    where it fails, the offline engine writes, and a line on stderr says why.

    A file of several conversations, such as an export, has a part for each. Where --max-tokens
    leaves too little room, small ones have a line, and the earliest are left out and counted.
    """
    if model is not None and engine != "model":
        raise click.UsageError("--model needs --engine model")
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
    with logged(log), written_by(engine, model) as writer:
        found = summarize_file(
            path,
            levels=[each for each in wanted if locked_level(each, tier) is None],
            line_start=from_line,
            line_end=to_line,
            max_tokens=max_tokens,
            writer=writer,
        )
    for number, summary in enumerate(found):
        if as_json:
            print_json(summary)
            if engine == "model":
                _say(summary)
            continue
        if number:
            print_text("")
        if level == "all":
            print_text(f"== {summary.level.name.lower()}")
        _show(summary)
        if engine == "model":
            _say(summary)


@contextmanager
def written_by(engine: EngineName, model: str | None) -> Iterator[SummaryWriter | None]:
    """What --engine and --model ask for; None for the offline engine. Ctrl-C stops a model in an
    orderly way.

    Raises ModelError when no model is configured, SettingsError.
    """
    if engine == "offline":
        yield None
        return
    from reviewer.clock import utc_now
    from reviewer.compression.engines import Engines
    from reviewer.compression.summary_writer import SummaryWriter

    summarizer = Engines(utc_now).summarizer("model", model)
    line = ProgressLine()
    line.show(f"Asking {safe(summarizer.engine.name)}  Ctrl-C stops")
    with stoppable() as asked:
        try:
            yield SummaryWriter(summarizer, cancelled=asked)
        finally:
            line.clear()


def say_what_is_wrong(
    engine: str, note: str, invented: Sequence[str], faults: Sequence[str] = ()
) -> None:
    """On stderr, what is wrong with a model's text, or why the offline engine wrote it."""
    if note:
        narrate(f"  note: {safe(note)}")
    if engine != "offline" and faults:
        narrate(f"  wrong: {safe('; '.join(faults))}")
    elif engine != "offline" and invented:
        narrate(f"  not in the source: {safe(', '.join(invented))}")


def _say(summary: FileSummary) -> None:
    found = summary.segment
    say_what_is_wrong(found.engine, found.note, summary.fidelity.invented, summary.fidelity.faults)


def _show(summary: FileSummary) -> None:
    """The content on stdout, its figures and missing anchors on stderr."""
    if not summary.original_tokens:
        narrate("There is nothing to summarize.")
        return
    if not summary.tokens:
        level = summary.level.name.capitalize()
        narrate(f"{level}: {summary.segment.note or 'no room'}.")
        return
    by = f", written by {safe(author)}" if (author := summary.segment.engine) != "offline" else ""
    narrate(
        f"{summary.level.name.capitalize()}: {count(summary.tokens, 'token')} of "
        f"{summary.original_tokens:,} ({summary.ratio:.1f}:1, {summary.encoding}), fidelity "
        f"{summary.fidelity.overall_score:.2f}{by}."
    )
    if summary.conversations > 1:
        narrate(f"The file has {summary.conversations:,} conversations.")
    for line in safe_lines(summary.content):
        print_text(line)
    if summary.missing:
        narrate(f"Not enough room for {count(len(summary.missing), 'anchor')}:")
        for anchor in summary.missing:
            narrate(f"  {anchor.type.value}: {safe(anchor.content)}")
