"""`reviewer ingest|extract`: read files; show or queue the candidates found in them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reviewer.cli.inputs import ID, line_range
from reviewer.cli.output import count, emit, json_option, narrate, print_json, print_table, safe
from reviewer.cli.progress import ProgressLine, interruptible
from reviewer.cli.session import FAILED, INTERRUPTED, Session, Verb, pass_session

if TYPE_CHECKING:
    from reviewer.engine import Engine
    from reviewer.promotion.report import WaveReport
    from reviewer.promotion.views import CandidateView, Counts


@click.command(cls=Verb)
@click.argument(
    "paths",
    type=click.Path(path_type=Path, readable=False),
    nargs=-1,
    metavar="[PATH]...",
)
@click.option(
    "--extract/--no-extract",
    "proposing",
    default=True,
    show_default=True,
    help="Propose candidates from what is read, or only store it.",
)
@json_option("The wave's counts as one JSON object.")
@click.pass_context
@pass_session
def ingest(
    session: Session, ctx: click.Context, paths: tuple[Path, ...], proposing: bool, as_json: bool
) -> None:
    """Read sessions and notes, and queue what may be worth remembering.

    Without a path, read the sessions of this project that agents have left on this machine: those
    that `reviewer sources` lists. Sessions of agents (docs/formats.md), exports of chats, and
    Markdown and text notes are recognised by their content, also in compressed files (.gz, .zst).
    Files that were read before are not queued again. Ctrl-C stops and keeps what was read; the
    second one stops at once.

    Each ingestion is a numbered wave. Its best candidates, at most 50, are queued when all files
    are read. With --no-extract nothing is queued until you call `reviewer extract --store`.
    """
    from reviewer.cli.sources import project_sessions, take_moved
    from reviewer.sources.walk import walk

    sessions: dict[Path, frozenset[str]] = {}
    if not paths:
        chosen, what = project_sessions(session)
        paths, sessions = chosen.paths, chosen.sessions
        narrate(what)
    walk([path.absolute() for path in paths])  # raises before a store is made for missing paths
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
                sessions=sessions,
            )
        finally:
            line.clear()
        for path in paths if not sessions else ():
            take_moved(engine, report.project, path)
        waiting = engine.queue.counts(report.project)
        offered = _offer(engine, report.project) if report.sessions and not as_json else ""
    if as_json:
        print_json(report)
    else:
        print_wave(report)
    if report.state == "interrupted":
        narrate("Interrupted. What was read is kept; run the same command again to continue.")
        ctx.exit(INTERRUPTED)
    if report.files + report.unchanged == 0:
        narrate(_nothing_read(report))
        if len(paths) != 1 or paths[0].is_dir():
            _name_problems(report)
        ctx.exit(FAILED)
    if unread := _unread(report):
        narrate(unread)
        _name_problems(report)
    if not proposing:
        narrate(
            f"Nothing was queued yet. To queue it: reviewer extract --store --wave {report.wave}"
        )
    elif not as_json:
        if report.retiring:
            retiring = count(report.retiring, "memory", "memories")
            see = "reviewer queue list --filter flag:retire"
            narrate(f"Proposed for retirement: {retiring}. See: {see}")
        if report.again:
            narrate(_came_up_again(report))
        narrate(_to_decide(waiting) if report.new else "Nothing new to decide on.")
        if offered:
            narrate(offered)


def _offer(engine: Engine, project: str) -> str:
    """Who could read the sessions of a project and word what they teach, and about what it costs;
    empty where there is nobody, or nothing to read.
    """
    from reviewer.llm.readers import readers
    from reviewer.settings import load_settings

    found = engine.readings.offer(readers(load_settings().model)[:1], project)
    return safe(f"{found[0].sentence}: {found[0].command}") if found else ""


def _came_up_again(report: WaveReport) -> str:
    """What other sessions have shown, too, and where the rest of it is."""
    more = f" and {len(report.again) - 1:,} more" if len(report.again) > 1 else ""
    return f"Came up again: {safe(report.again[0])}{more}. See: reviewer findings --again"


def _name_problems(report: WaveReport) -> None:
    """The first files that could not be read, with the reasons."""
    for line in report.problems:
        narrate(safe(line))


def _to_decide(counts: Counts) -> str:
    """What waits in the queue now, and how to go on."""
    statements = counts.waiting - counts.excerpts
    places = f" and {count(counts.excerpts, 'place')} to look" if counts.excerpts else ""
    return f"Waiting now: {count(statements, 'statement')}{places}. Decide with: reviewer"


def print_wave(report: WaveReport, *, reading: bool = True) -> None:
    """Print the counts of a wave. `reading`: files were read, not only the store."""
    masked = f", {count(report.masked, 'secret')} masked" if reading else ""
    rows = [
        ("wave", f"{report.wave} in project {report.project}, {report.seconds:.1f} s"),
        ("files", _files(report) if reading else f"{report.files:,}"),
        ("records", f"{report.records:,}{masked}"),
        ("new", count(report.new, "candidate")),
        ("repeated", f"{report.repeated:,} seen before"),
        ("near", count(report.near, "near duplicate")),
        ("over the cap", _over_cap(report)),
        *_by_reason("kept out", report.kept_out),
        *_by_reason("not proposed", report.dropped),
        *_by_reason("lines skipped", _without_empty_files(report)),
        *_by_reason("files skipped", _files_skipped(report)),
        ("errors", f"{report.errors:,}" + (" (errors.log in the report)" if report.errors else "")),
        ("report", report.report_folder),
    ]
    print_table(rows)


REASONS_SHOWN = 4
EMPTY_FILE = "empty file"
"""The reason under which a reader counts a whole file among the skipped lines."""


def _nothing_read(report: WaveReport) -> str:
    reasons = ", ".join(_times(reason, times) for reason, times in _files_skipped(report).items())
    return f"Nothing could be read: {reasons}." if reasons else "There is nothing to read."


def _unread(report: WaveReport) -> str:
    """The files and folders that could not be read, and where they are listed."""
    counts = ((report.unread_files, "file"), (report.unread_folders, "folder"))
    what = [count(number, noun) for number, noun in counts if number]
    if not what:
        return ""
    return f"{' and '.join(what)} could not be read: see {safe(report.report_folder)}/errors.log"


def _files(report: WaveReport) -> str:
    empty = report.skipped_by.get(EMPTY_FILE, 0)
    hollow = f", {empty:,} of them empty" if empty else ""
    size = f"{report.bytes / 1e6:,.1f} MB in all"
    return f"{report.files:,} read{hollow}, {report.unchanged:,} unchanged ({size})"


def _files_skipped(report: WaveReport) -> dict[str, int]:
    """Files by the reason why they were not read; walking and opening word it differently."""
    merged: dict[str, int] = {}
    for reason, times in report.passed_over.items():
        short = reason.removeprefix("it is ")
        merged[short] = merged.get(short, 0) + times
    return merged


def _without_empty_files(report: WaveReport) -> dict[str, int]:
    return {reason: n for reason, n in report.skipped_by.items() if reason != EMPTY_FILE}


def _over_cap(report: WaveReport) -> str:
    return f"{report.over_cap:,}" + (" (reviewer queue more)" if report.over_cap else "")


def _by_reason(title: str, counts: dict[str, int]) -> Iterator[tuple[str, str]]:
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    shown = ordered if len(ordered) <= REASONS_SHOWN + 1 else ordered[:REASONS_SHOWN]
    for place, (reason, times) in enumerate(shown):
        yield ("" if place else title, _times(reason, times))
    if len(shown) < len(ordered):
        left = sum(times for _, times in ordered[REASONS_SHOWN:])
        more = count(len(ordered) - REASONS_SHOWN, "more reason")
        yield "", f"{left:,} for {more}, which are in report.json"


def _times(reason: str, times: int) -> str:
    """`3 x reason`; reasons are phrases of every kind, so none takes a plural."""
    return f"{times:,} x {safe(reason)}"


@click.command(cls=Verb)
@click.argument("path", type=click.Path(path_type=Path, readable=False), required=False)
@line_range
@click.option(
    "--top",
    type=click.IntRange(1),
    default=50,
    metavar="N",
    show_default=True,
    help="How many candidates at most.",
)
@click.option("--store", is_flag=True, help="Queue candidates found in records of the store.")
@click.option(
    "--record", metavar="KEY", help="With --store: only this record (`record_id` in --json)."
)
@click.option(
    "--source",
    type=click.Path(path_type=Path, readable=False),
    metavar="PATH",
    help="With --store: all records of this file, even if it is gone.",
)
@click.option("--wave", type=ID, metavar="N", help="With --store: all records of this ingestion.")
@json_option()
@click.pass_context
@pass_session
def extract(
    session: Session,
    ctx: click.Context,
    path: Path | None,
    from_line: int,
    to_line: int | None,
    top: int,
    store: bool,
    record: str | None,
    source: Path | None,
    wave: int | None,
    as_json: bool,
) -> None:
    """Show the candidates in a file, or queue candidates from stored records.

    With PATH nothing is stored. With --store the records named by one of --record, --source and
    --wave are searched again: candidates that a newer extractor words differently are queued
    beside the older ones, and known candidates count as seen once more.
    """
    scopes = [each for each in (record, source, wave) if each is not None]
    if store:
        if path is not None or len(scopes) != 1:
            raise click.UsageError("--store needs one of --record KEY, --source PATH and --wave N")
        if {"from_line", "to_line", "top"} & _given(ctx):
            raise click.UsageError("--from-line, --to-line and --top are for a PATH")
        _extract_stored(session, record, source, wave, as_json)
        return
    if scopes:
        raise click.UsageError("--record, --source and --wave go with --store")
    if path is None:
        raise click.UsageError("name a file, or use --store")
    from reviewer.promotion.preview import extract_file

    found = extract_file(
        path,
        line_start=from_line,
        line_end=to_line,
        top=top,
        project=session.project_without_store(),
    )
    emit(found, as_json, _columns)
    if not found and not as_json:
        narrate(f"No candidates in {safe(str(path))}.")


def _columns(one: CandidateView) -> tuple[str, ...]:
    line = f"line {one.source.line_start + 1}" if one.source else ""
    return (f"{one.confidence:.2f}", one.type, line, one.content)


def _extract_stored(
    session: Session, record: str | None, source: Path | None, wave: int | None, as_json: bool
) -> None:
    with session.changing() as engine:
        report = engine.intake.extract_stored(
            project=session.target(engine), record=record, source=source, wave=wave
        )
        waiting = engine.queue.counts(report.project)
    if as_json:
        print_json(report)
        return
    print_wave(report, reading=False)
    narrate(_to_decide(waiting) if report.new else "Nothing new to decide on.")


def _given(ctx: click.Context) -> set[str]:
    """The names of the options on the command line."""
    typed = click.core.ParameterSource.COMMANDLINE
    return {name for name in ctx.params if ctx.get_parameter_source(name) is typed}
