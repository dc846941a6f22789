"""`reviewer ingest PATH...`: one wave, with its counts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reviewer.cli.failures import COULD_NOT, INTERRUPTED
from reviewer.cli.output import count, narrate, print_json, print_text, safe, table
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
    content. What was read before is not queued again. Ctrl-C ends the wave and keeps what was read;
    a second one ends at once.

    An ingestion is a wave: what it read is swept once at its end, so that all of its candidates
    come together, at most 50 of them. With --no-extract nothing is proposed until
    `reviewer extract --store` asks for it.
    """
    from reviewer.storeless import require_paths

    require_paths(paths)
    line = ProgressLine()
    with (
        session.changing(create=True, new_outside=True) as engine,
        interruptible() as interruption,
    ):
        try:
            report = engine.intake.ingest(
                paths,
                project=session.target(engine),
                progress=line,
                cancelled=interruption,
                breakable=interruption.breakable,
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
        ctx.exit(COULD_NOT)
    if unread := _unread(report):
        narrate(unread)
    if not proposing:
        narrate(f"Kept, not proposed. Propose: reviewer extract --store --wave {report.wave}")
    elif not as_json:
        narrate("Decide with: reviewer" if report.new else "Nothing new to decide.")


def wave_table(report: WaveReport, *, reading: bool = True) -> Iterator[str]:
    """The counts of a wave, as aligned lines. `reading`: files were read, not only the store."""
    masked = f", {count(report.masked, 'secret')} masked" if reading else ""
    rows = [
        ("wave", f"{report.wave} in project {safe(report.project)}, {report.seconds:.1f} s"),
        ("files", _files(report) if reading else f"{report.files:,}"),
        ("records", f"{report.records:,}{masked}"),
        ("new", count(report.new, "candidate")),
        ("repeated", f"{report.repeated:,} seen again"),
        ("near", count(report.near, "near duplicate")),
        ("over the cap", _over_cap(report)),
        *_by_reason("kept out", report.kept_out),
        *_by_reason("not proposed", report.dropped),
        *_by_reason("lines skipped", _without_empty_files(report)),
        *_by_reason("files skipped", _files_skipped(report)),
        ("errors", f"{report.errors:,}" + (" (errors.log in the report)" if report.errors else "")),
        ("report", safe(report.report_folder)),
    ]
    yield from table(rows)


EMPTY_FILE = "empty file"
"""Among the lines that a reader skipped, it stands for the whole file."""


def _nothing_read(report: WaveReport) -> str:
    reasons = ", ".join(_told(reason, times) for reason, times in _files_skipped(report).items())
    return f"Nothing could be read: {reasons}." if reasons else "There is nothing to read there."


def _unread(report: WaveReport) -> str:
    """What a person may have wanted read and was not, and where the names are."""
    folders = sum(n for reason, n in report.passed_over.items() if reason.startswith("folder can"))
    files = -folders + sum(
        n
        for reason, n in report.passed_over.items()
        if "cannot be read" in reason or "no text" in reason
    )
    what = [
        count(number, noun) for number, noun in ((files, "file"), (folders, "folder")) if number
    ]
    if not what:
        return ""
    return f"{' and '.join(what)} could not be read: see {safe(report.report_folder)}/errors.log"


def _files(report: WaveReport) -> str:
    empty = report.skipped_by.get(EMPTY_FILE, 0)
    hollow = f", {empty:,} of them empty" if empty else ""
    size = f"{report.bytes / 1e6:,.1f} MB in all"
    return f"{report.files:,} read{hollow}, {report.unchanged:,} unchanged ({size})"


def _files_skipped(report: WaveReport) -> dict[str, int]:
    """Files by the reason why they were not read, which walking and opening tell differently."""
    told: dict[str, int] = {}
    for reason, times in report.passed_over.items():
        said = reason.removeprefix("it is ")
        told[said] = told.get(said, 0) + times
    return told


def _without_empty_files(report: WaveReport) -> dict[str, int]:
    return {reason: n for reason, n in report.skipped_by.items() if reason != EMPTY_FILE}


def _over_cap(report: WaveReport) -> str:
    return f"{report.over_cap:,}" + (" (reviewer queue more)" if report.over_cap else "")


def _by_reason(title: str, counts: dict[str, int]) -> Iterator[tuple[str, str]]:
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    for place, (reason, times) in enumerate(ordered):
        yield ("" if place else title, _told(reason, times))


def _told(reason: str, times: int) -> str:
    """How often a reason held; reasons are phrases of every kind, so none takes a plural."""
    return f"{times:,} x {safe(reason)}"
