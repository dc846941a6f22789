"""`reviewer ingest PATH...`: one wave, with its counts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reviewer.cli.failures import COULD_NOT, INTERRUPTED
from reviewer.cli.output import narrate, print_json, print_text, safe, table
from reviewer.cli.progress import ProgressLine, interruptible
from reviewer.cli.session import Session, Verb, pass_session

if TYPE_CHECKING:
    from reviewer.engine import WaveReport


@click.command(cls=Verb)
@click.argument(
    "paths",
    type=click.Path(path_type=Path, readable=False),
    nargs=-1,
    required=True,
    metavar="PATH...",
)
@click.option(
    "--extract/--no-extract",
    "proposing",
    default=True,
    show_default=True,
    help="Propose candidates from what was read, or only keep it.",
)
@click.option("--json", "as_json", is_flag=True, help="The wave's counts as one JSON object.")
@click.pass_context
@pass_session
def ingest(
    session: Session, ctx: click.Context, paths: tuple[Path, ...], proposing: bool, as_json: bool
) -> None:
    """Read files and folders; queue what they propose.

    Transcripts of Claude Code, Markdown and text notes, and chat exports are told apart by their
    content. What was read before is not queued again. Ctrl-C ends the wave and keeps what was read.

    An ingestion is a wave: what it read is swept once at its end, so that all of its candidates
    come together, at most 50 of them. With --no-extract nothing is proposed until
    `reviewer extract --store` asks for it.
    """
    line = ProgressLine()
    with session.engine(create=True) as engine, interruptible() as interruption:
        try:
            report = engine.intake.ingest(
                paths,
                project=session.project_to_fill(),
                progress=line,
                cancelled=interruption,
                extract=proposing,
            )
        finally:
            line.clear()
    if as_json:
        print_json(report.to_json())
    else:
        for text in wave_table(report):
            print_text(text)
    if report.state == "interrupted":
        narrate("Interrupted. What was read is kept; the same command goes on from there.")
        ctx.exit(INTERRUPTED)
    if report.files + report.unchanged == 0:
        narrate(_nothing_read(report))
        if any(not path.is_dir() for path in paths):
            ctx.exit(COULD_NOT)
    elif not proposing:
        narrate(f"Kept, not proposed. Propose: reviewer extract --store --wave {report.wave}")
    elif not as_json:
        narrate("Decide with: reviewer" if report.new else "Nothing new to decide.")


def wave_table(report: WaveReport, *, reading: bool = True) -> Iterator[str]:
    """The counts of a wave, as aligned lines. `reading`: files were read, not only the store."""
    records = f"{report.records:,}" + (f", {report.masked:,} secrets masked" if reading else "")
    rows = [
        ("wave", f"{report.wave} in project {safe(report.project)}, {report.seconds:.1f} s"),
        ("files", _files(report) if reading else f"{report.files:,}"),
        ("records", records),
        ("new", f"{report.new:,} candidates"),
        ("repeated", f"{report.repeated:,} seen again"),
        ("near", f"{report.near:,} near duplicates"),
        ("over the cap", _over_cap(report)),
        *_by_reason("kept out", report.kept_out),
        *_by_reason("not proposed", report.dropped),
        *_by_reason("lines skipped", report.skipped_by),
        *_by_reason("files skipped", report.passed_over),
        ("errors", f"{report.errors:,}"),
        ("report", safe(report.report_folder)),
    ]
    yield from table(rows)


def _nothing_read(report: WaveReport) -> str:
    if not report.passed_over:
        return "There is nothing to read there."
    reasons = ", ".join(f"{count:,} {safe(reason)}" for reason, count in report.passed_over.items())
    return f"Nothing could be read: {reasons}."


def _files(report: WaveReport) -> str:
    return f"{report.files:,} ({report.bytes / 1e6:,.1f} MB), {report.unchanged:,} unchanged"


def _over_cap(report: WaveReport) -> str:
    return f"{report.over_cap:,}" + (" (reviewer queue more)" if report.over_cap else "")


def _by_reason(title: str, counts: dict[str, int]) -> Iterator[tuple[str, str]]:
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    for place, (reason, count) in enumerate(ordered):
        yield ("" if place else title, f"{count:,} {safe(reason)}")
