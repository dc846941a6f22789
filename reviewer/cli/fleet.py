"""`reviewer fleet`: read more sessions than one machine holds, and queue the best of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from reviewer.cli.inputs import FILE, flag, option
from reviewer.cli.output import (
    count,
    emit,
    json_option,
    narrate,
    print_json,
    print_table,
    print_text,
)
from reviewer.cli.progress import ProgressLine, working
from reviewer.cli.session import FAILED, INTERRUPTED, Session, VerbSection, leave, pass_session

if TYPE_CHECKING:
    from reviewer.fleet.collapse import CollapseReport
    from reviewer.fleet.run import JobProgress, RunReport


COUNTS = json_option("The counts as one JSON object.")
MANY = click.IntRange(1, 1_000_000_000)


@click.group(cls=VerbSection)
def fleet() -> None:
    """Read the sessions of a whole company, and queue the best.

    Three steps: `run` reads files in parts, on this machine or on a cluster; `collapse` finds what
    was said most often; `import` queues it as one wave. They need the extra `fleet`: see
    docs/fleet.md.
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
@option(
    "--part-files N",
    "Files that are read together at most; a part ends at 32 MB, too.",
    hidden=True,
    least=1,
    default=256,
)
@COUNTS
def run_(
    sources: tuple[str, ...],
    out: str,
    workers: int | None,
    scheduler: str | None,
    part_files: int,
    as_json: bool,
) -> None:
    """Read folders, patterns and URLs, and write what they propose in parts.

    A URL is any that fsspec reaches (s3://, gs://); REVIEWER_FSSPEC has its options as JSON. Parts
    that are there are kept: after an interruption, or with new files, run the same command to
    continue. A file that cannot be read, or that crashes its reader, is named; the rest are read.
    Files may be compressed (.zst, .gz).
    """
    if workers is not None and scheduler is not None:
        raise click.UsageError("--workers is for this machine, and --scheduler for a cluster")
    from reviewer.sources.elsewhere import is_url

    if not all(source.strip() for source in sources):
        raise click.UsageError("one SOURCE is empty: name a folder, a file, a pattern or a URL")
    if not out.strip():
        raise click.UsageError("name the folder for the parts with --out DIR")
    if not is_url(out) and Path(out).exists() and not Path(out).is_dir():
        raise click.UsageError(f"{out} is a file: name a folder for the parts with --out DIR")
    from reviewer.clock import utc_now
    from reviewer.fleet.run import DaskCluster, Processes, run

    cluster = DaskCluster(scheduler) if scheduler is not None else None
    with working() as (line, interruption):

        def show(progress: JobProgress) -> None:
            line.show(
                f"{progress.files_done:,} of {count(progress.files_total, 'file')}  "
                f"{progress.bytes_done / 1e6:,.1f} of {progress.bytes_total / 1e6:,.1f} MB  "
                f"{count(progress.found, 'place')}  {progress.failed:,} failed"
            )

        try:
            report = run(
                sources,
                out,
                cluster or Processes(workers),
                now=utc_now(),
                part_files=part_files,
                progress=show,
                cancelled=interruption,
            )
        finally:
            if cluster is not None:
                cluster.close()
    if as_json:
        print_json(report)
    else:
        _print_run(report)
    for name in report.killers:
        narrate(f"{name} ended the process that read it; it is left out.")
    if report.failed:
        narrate(f"The files that failed: reviewer fleet files {report.folder}")
    if report.state == "interrupted":
        narrate("Interrupted. What was read is kept; run the same command again to go on.")
        leave(INTERRUPTED)
    if report.files == 0:
        narrate("There is nothing to read.")
        leave(FAILED)
    if report.files == report.failed + report.other_kind:
        narrate("None of the files could be read as sessions or notes.")
        leave(FAILED)
    if not as_json:
        narrate(f"Next: reviewer fleet collapse {report.folder} --top 5000")


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


@fleet.command("files", store=False, example="fleet files parts")
@click.argument("folder", metavar="DIR")
@flag("--all", "Also those that were read.", into="everything")
@json_option()
def files(folder: str, everything: bool, as_json: bool) -> None:
    """List the files of a job that could not be read, and why."""
    from reviewer.fleet.collapse import files_of

    emit(
        files_of(folder, everything=everything),
        as_json,
        lambda row: (row["problem"] or f"{row['path']}: {count(row['found'], 'place')}",),
        empty="Every file was read.",
    )


@fleet.command(
    "collapse",
    store=False,
    short_help="Count what the parts say and write the best N.",
    example="fleet collapse parts --top 5000",
)
@click.argument("folder", metavar="DIR")
@option("--top N", "How many candidates.", type=MANY, default=5_000)
@option("--out FILE", "The file to write (default: candidates.parquet in DIR).", type=FILE)
@option("--from-project NAME", "Only what was said in working folders of this name.")
@option("--memory-limit SIZE", "What DuckDB may use; the rest goes to the disk.", default="2GB")
@COUNTS
@pass_session
def collapse_(
    session: Session,
    folder: str,
    top: int,
    out: Path | None,
    from_project: str | None,
    memory_limit: str,
    as_json: bool,
) -> None:
    """Count what the parts of a job say, and write the best N as candidates.

    The same statement is one candidate, however often it was said; a resumed or copied session
    counts once; what sessions are told at the start is left out. Those of most sessions and authors
    come first, then those with the highest score. The same parts give the same bytes.
    """
    from reviewer.fleet.collapse import collapse
    from reviewer.sources.elsewhere import is_url

    if session.project is not None:
        raise click.UsageError(
            "--project names the project of a queue. For what was said in working folders of one"
            f" name: --from-project {session.project}"
        )
    if out is None:
        if is_url(folder):
            raise click.UsageError("name the file with --out FILE: the parts are elsewhere")
        out = Path(folder) / "candidates.parquet"
    line = ProgressLine()
    try:
        with line.going() as step:
            report = collapse(
                folder,
                out.absolute(),
                top=top,
                project=from_project,
                memory_limit=memory_limit,
                progress=step,
            )
    finally:
        line.clear()
    if as_json:
        print_json(report)
        return
    _print_collapse(report)
    narrate(f"Next: reviewer fleet import {report.file}")


def _print_collapse(report: CollapseReport) -> None:
    rows = [
        ("file", report.file),
        ("files", f"{report.files:,} in {count(report.parts, 'part')}, {report.failed:,} failed"),
        ("found", count(report.found, "place")),
        ("facts", f"{report.facts:,}"),
        ("written", f"{count(report.written, 'candidate')}, {report.near:,} behind another"),
        ("seconds", f"{report.seconds:,.1f}"),
    ]
    print_table(rows)


@fleet.command(
    "import",
    short_help="Queue the candidates of a file as one wave.",
    example="fleet import parts/candidates.parquet",
)
@click.argument("file", type=FILE, metavar="FILE")
@option("--top N", "Only the first N.", type=MANY)
@COUNTS
@pass_session
def import_(session: Session, file: Path, top: int | None, as_json: bool) -> None:
    """Queue the candidates of a file as one wave, in the order of the file.

    Each comes with the text around it, the place of the original, and how many sessions and people
    said it. What the project already has counts as seen again. Secrets are masked once more.
    """
    with (
        session.changing(create=True, new_outside=True) as engine,
        working() as (line, interruption),
    ):
        report = engine.fleet.run(
            file,
            project=session.target(engine),
            top=top,
            progress=lambda done, total: line.show(f"{done:,} of {total:,}"),
            cancelled=interruption,
        )
    if as_json:
        print_json(report)
    elif report.state == "done":
        print_text(
            f"wave {report.wave}: {count(report.new, 'new candidate')},"
            f" {report.near:,} of them behind another, {report.repeated:,} seen before,"
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
