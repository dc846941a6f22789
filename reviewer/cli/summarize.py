"""`reviewer summarize FILE`: a summary at one or all levels, without a store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reviewer.cli.inputs import FILE, engine_options, line_range, option
from reviewer.cli.output import count, json_option, narrate, print_json, print_lines, print_text
from reviewer.cli.progress import working
from reviewer.compression.values import UNCHECKED, Level
from reviewer.settings import load_settings

if TYPE_CHECKING:
    from reviewer.compression.engines import EngineName
    from reviewer.compression.file_summary import FileSummary
    from reviewer.compression.summary_writer import SummaryWriter

LEVELS = tuple(each.name.lower() for each in Level if each is not Level.FULL)


@click.command()
@click.argument("path", type=FILE)
@option(
    "--level",
    "Detailed is at least about 3:1, brief 10:1, tags 50:1.",
    choices=[*LEVELS, "all"],
    default="brief",
)
@line_range
@option("--max-tokens N", "At most N tokens per summary, instead of the level's ratio.", least=0)
@engine_options("The writer; model sends the text to the model in the settings.")
@json_option()
def summarize(
    path: Path,
    level: str,
    from_line: int,
    to_line: int | None,
    max_tokens: int | None,
    engine: EngineName,
    model: str | None,
    as_json: bool,
) -> None:
    """Nothing is sent anywhere without --engine model, whatever the settings say. A model reads the
    lines in one call per level; if it fails, the offline engine writes, and a line on stderr gives
    the reason.

    For a file with several conversations, such as an export, it covers the last.
    """
    from reviewer.compression.file_summary import summarize_file
    from reviewer.compression.summarizer import locked_level, require_licence

    tier = load_settings().compression.tier
    wanted = [Level[each.upper()] for each in (LEVELS if level == "all" else (level,))]
    for each in wanted:
        locked = locked_level(each, tier)
        if locked is not None and level == "all":
            narrate(str(locked))
        else:
            require_licence(each, tier)
    with written_by(engine, model) as writer:
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
        else:
            if number:
                print_text("")
            if level == "all":
                print_text(f"== {summary.segment.level.name.lower()}")
            _show(summary)
        if engine == "model":
            done, graded = summary.segment, summary.fidelity
            say_what_is_wrong(done.engine, done.note, graded.invented, graded.faults)


@contextmanager
def written_by(engine: EngineName, model: str | None) -> Iterator[SummaryWriter | None]:
    """The writer for --engine and --model; None for the offline engine. Ctrl-C stops a model in an
    orderly way.

    Raises UsageError for --model without its engine, ModelError if no model is configured,
    SettingsError.
    """
    if engine == "offline":
        if model is not None:
            raise click.UsageError("--model needs --engine model")
        yield None
        return
    from reviewer.compression.engines import Engines
    from reviewer.compression.summary_writer import SummaryWriter

    summarizer = Engines().summarizer("model", model)
    with working() as (line, asked):
        line.show(f"Asking {summarizer.engine.name}  Ctrl-C stops")
        yield SummaryWriter(summarizer, cancelled=asked)


def say_what_is_wrong(
    engine: str, note: str, invented: Sequence[str], faults: Sequence[str] = ()
) -> None:
    """Print to stderr the faults of a model's text, or why the offline engine wrote it."""
    if note:
        narrate(f"  note: {note}")
    if engine != "offline" and faults:
        narrate(f"  wrong: {'; '.join(faults)}")
    elif engine != "offline" and invented:
        narrate(f"  not in the source: {', '.join(invented)}")


def _show(summary: FileSummary) -> None:
    """The content on stdout, its figures and missing anchors on stderr."""
    done = summary.segment
    if not done.original_token_count:
        narrate("There is nothing to summarize.")
        return
    if not done.token_count:
        level = done.level.name.capitalize()
        narrate(f"{level}: {done.note or 'no room'}.")
        return
    graded = f"fidelity {summary.fidelity.overall_score:.2f}"
    by = f", written by {author}" if (author := done.engine) != "offline" else ""
    narrate(
        f"{done.level.name.capitalize()}: {count(done.token_count, 'token')} of "
        f"{done.original_token_count:,} ({done.compression_ratio:.1f}:1, {summary.encoding}), "
        f"{graded if summary.fidelity.checked else UNCHECKED}{by}."
    )
    if summary.conversations > 1:
        narrate(f"The last of the {summary.conversations:,} conversations in the file.")
    print_lines(done.content)
    if done.anchors_missing:
        narrate(f"Not enough room for {count(len(done.anchors_missing), 'anchor')}:")
        for anchor in done.anchors_missing:
            narrate(f"  {anchor.type.value}: {anchor.content}")
