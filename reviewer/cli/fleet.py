"""`reviewer fleet`: read more sessions than fit on one machine, and queue the best candidates."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reviewer.cli.inputs import option
from reviewer.cli.output import count, json_option, narrate, print_json, print_table, print_text
from reviewer.cli.progress import working
from reviewer.cli.session import FAILED, INTERRUPTED, Session, VerbSection, leave, pass_session
from reviewer.clock import utc_now
from reviewer.sources.elsewhere import is_url

if TYPE_CHECKING:
    from reviewer.fleet.run import JobProgress, RunReport


COUNTS = json_option("The counts as one JSON object.")


@click.group(cls=VerbSection)
def fleet() -> None:
    """Two steps: `run` reads files in parts, on this machine or on a cluster; `import` queues the
    most frequent statements as one wave. They need the extra `fleet`: see docs/fleet.md.
    """


@fleet.command(
    "run",
    store=False,
    short_help="Read sessions and write what they propose in parts.",
    example="fleet run ~/sessions 's3://team/logs/*.zst' --out parts",
)
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@option("--out DIR", "The folder or URL for the parts.", required=True)
@option("--workers N", "Processes (default: one for each core).", least=1)
@option("--scheduler ADDRESS", "A Dask scheduler, such as tcp://host:8786.")
@COUNTS
def run_(
    sources: tuple[str, ...], out: str, workers: int | None, scheduler: str | None, as_json: bool
) -> None:
    """Read folders, patterns and URLs, and write what they propose in parts.

    A URL is any that fsspec reaches (s3://); REVIEWER_FSSPEC has its options as JSON. Parts
    that are there are kept: after an interruption, or with new files, run the same command to
    continue. A file that cannot be read, or that crashes its reader, is named; the rest are read.
    Files may be compressed (.zst, .gz).
    """
    if workers is not None and scheduler is not None:
        raise click.UsageError("--workers is for this machine, and --scheduler for a cluster")
    if not all(source.strip() for source in sources):
        raise click.UsageError("one SOURCE is empty: name a folder, a file, a pattern or a URL")
    if not out.strip():
        raise click.UsageError("name the folder for the parts with --out DIR")
    if not is_url(out) and Path(out).exists() and not Path(out).is_dir():
        raise click.UsageError(f"{out} is a file: name a folder for the parts with --out DIR")
    from reviewer.fleet.run import run
    from reviewer.fleet.workers import Opener, cores, dask_cluster, processes

    opener: Opener = partial(processes, workers or cores())
    if scheduler is not None:
        opener = partial(dask_cluster, scheduler)
    with working() as (line, interruption):

        def show(progress: JobProgress) -> None:
            line.show(
                f"{progress.files:,} of {count(progress.files_total, 'file')}  "
                f"{progress.bytes / 1e6:,.1f} of {progress.bytes_total / 1e6:,.1f} MB  "
                f"{count(progress.found, 'place')}  {progress.failed:,} failed"
            )

        report = run(
            sources,
            out,
            opener,
            now=utc_now(),
            progress=show,
            cancelled=interruption,
        )
    if as_json:
        print_json(report)
    else:
        _print_run(report)
    narrate(*report.problems)
    if report.state == "interrupted":
        narrate("Interrupted. What was read so far is kept; run the same command to continue.")
        leave(INTERRUPTED)
    if report.files == 0:
        narrate("There is nothing to read.")
        leave(FAILED)
    if report.files == report.failed + report.other_kind:
        narrate("None of the files could be read as sessions or notes.")
        leave(FAILED)
    if not as_json:
        narrate(f"Next: reviewer fleet import {report.folder}")


def _print_run(report: RunReport) -> None:
    others = f", {report.other_kind:,} of other kinds" if report.other_kind else ""
    before = f", {report.parts_before:,} of them before" if report.parts_before else ""
    left = f", {report.parts_left:,} left" if report.parts_left else ""
    rows = [
        ("folder", report.folder),
        ("parts", f"{report.parts:,}{before}{left}"),
        (
            "files",
            f"{report.files:,} ({report.bytes / 1e6:,.1f} MB), {report.failed:,} failed{others}",
        ),
        ("found", count(report.found, "place")),
        *(("skipped", f"{times:,} x {why}") for why, times in sorted(report.passed_over.items())),
        ("seconds", f"{report.seconds:,.1f}"),
    ]
    print_table(rows)


@fleet.command(
    "import",
    example="fleet import parts --top 5000",
)
@click.argument("folder", metavar="DIR")
@option("--top N", "How many candidates.", type=click.IntRange(1, 1_000_000_000), default=5_000)
@option("--from-project NAME", "Only statements from working folders of this name.")
@COUNTS
@pass_session
def import_(
    session: Session, folder: str, top: int, from_project: str | None, as_json: bool
) -> None:
    """Queue the best N candidates of a job, as one wave.

    DIR is the folder or URL that `run` wrote. The same statement is one candidate, however often it
    was said; a resumed or copied session counts once; instructions loaded at the start of a session
    are left out. Candidates from the most sessions and authors come first, then those with the
    highest score. Those that the project already has count as seen again. Secrets are masked once
    more.
    """
    with (
        session.changing(create=True, new_outside=True) as engine,
        working() as (line, interruption),
    ):
        line.show("counting what the parts say", at_once=True)
        report = engine.fleet.run(
            folder,
            project=session.target(engine),
            top=top,
            from_project=from_project,
            progress=lambda done, total: line.show(f"{done:,} of {total:,}"),
            cancelled=interruption,
        )
    if as_json:
        print_json(report)
    elif report.state == "done":
        print_text(
            f"wave {report.wave}: {count(report.new, 'new candidate')},"
            f" {report.near:,} of them behind another, {report.repeated:,} seen before,"
            f" of {count(report.facts, 'fact')} at {count(report.found, 'place')},"
            f" {report.seconds:,.1f} s"
        )
    if report.state == "interrupted":
        narrate("Interrupted. Nothing was imported.")
        leave(INTERRUPTED)
    if report.masked:
        narrate(f"{count(report.masked, 'secret')} masked that the parts still had")
    if report.acts:
        narrate(f"reviewer undo {report.acts[0]} takes it back")
    else:
        narrate("Nothing was changed: the project has all of this already.")
