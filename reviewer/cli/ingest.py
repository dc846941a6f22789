"""`reviewer ingest|extract`: read files; show or queue their candidates."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reviewer.cli.findings import HOW_TO_PROPOSE, there_are
from reviewer.cli.inputs import FILE, flag, line_range, option
from reviewer.cli.output import (
    by_reason,
    count,
    emit,
    json_option,
    narrate,
    print_json,
    print_table,
)
from reviewer.cli.progress import working
from reviewer.cli.session import FAILED, INTERRUPTED, Session, Verb, leave, pass_session
from reviewer.cli.sources import project_sessions
from reviewer.llm.readers import readers
from reviewer.projects import project_here
from reviewer.settings import load_settings

if TYPE_CHECKING:
    from reviewer.engine import Engine
    from reviewer.promotion.rows.finding_rows import FindingView
    from reviewer.promotion.views import Counts
    from reviewer.promotion.waves.report import WaveReport


@click.command(cls=Verb)
@click.argument("paths", type=FILE, nargs=-1, metavar="[PATH]...")
@flag("--again", "Propose from everything again, also from unchanged files.")
@json_option("The wave's counts as one JSON object.")
@pass_session
def ingest(session: Session, paths: tuple[Path, ...], again: bool, as_json: bool) -> None:
    """Without a path, read this project's agent sessions on this machine, as listed by `reviewer
    sources`. Sessions of agents (docs/formats.md), exports of chats, and Markdown and text notes
    are recognised by their content, also in compressed files (.gz, .zst). Files that were read
    before are not queued again. Ctrl-C stops and keeps everything read so far; a second Ctrl-C
    stops at once.

    Each ingestion is a numbered wave. Its best candidates, at most 50, are queued once all files
    are read. --again makes up for an earlier version: known candidates count as seen once more,
    others are queued beside them.
    """
    from reviewer.sources.walk import walk

    if Path("-") in paths:
        raise click.UsageError("standard input is not read: save it in a file, and name that")
    sessions: dict[Path, frozenset[str]] = {}
    named = bool(paths)
    if not named:
        chosen, what = project_sessions(session)
        paths, sessions = chosen.paths, chosen.sessions
        narrate(what)
    walk([path.absolute() for path in paths])  # raises for missing paths before a store is created
    with (
        session.changing(create=True, new_outside=True) as engine,
        working() as (line, interruption),
    ):
        report = engine.intake.ingest(
            paths,
            project=session.target(engine),
            progress=line,
            cancelled=interruption,
            breakable=interruption.breakable,
            again=again,
            sessions=sessions,
            named=named,
        )
        line.clear()
        waiting = engine.queue.counts(report.project)
        offered = _offer(engine, report.project) if report.sessions and not as_json else ""
        found = [] if as_json else engine.findings(report.project)
    if as_json:
        print_json(report)
    else:
        print_wave(report)
    if report.state == "interrupted":
        narrate("Interrupted. Everything read so far is kept; run the same command to continue.")
        leave(INTERRUPTED)
    if report.nothing_read:
        narrate(report.nothing_read)
        if len(paths) != 1 or paths[0].is_dir():
            narrate(*report.problems)
        leave(FAILED)
    if unread := _unread(report):
        narrate(unread, *report.problems)
    if not as_json:
        _say_what_is_next(report, waiting, found, offered)
    if report.unread_named:
        leave(FAILED)


def _say_what_is_next(
    report: WaveReport, waiting: Counts, found: Sequence[FindingView], offered: str
) -> None:
    if report.retiring:
        retiring = count(report.retiring, "memory", "memories")
        narrate(
            f"Proposed for retirement: {retiring}. See: reviewer queue list --filter flag:retire"
        )
    if report.again:  # other sessions have them too
        again = sum(each.sessions > 1 for each in found)
        narrate(f"Came up again: {report.again[0]}. {again:,} in all: reviewer findings --again")
    if report.new:
        narrate(f"Waiting now: {count(waiting.waiting, 'statement')}. Decide with: reviewer")
    elif found and not waiting.waiting:
        narrate("Nothing new to decide on.", there_are(found))
        offered = offered or HOW_TO_PROPOSE
    elif report.fresh and not (report.repeated or report.near or report.dropped):
        narrate(
            "Nothing new to decide on: no record states something in a form that the rules read, "
            "such as `## Decision: ...`, `- [Decision] ...`, `mass = 4.8 kg` or `I prefer ...`."
        )
    else:
        narrate("Nothing new to decide on.")
    if offered:
        narrate(offered)


def _offer(engine: Engine, project: str) -> str:
    """An offer of a reader for the project's sessions, with the estimated cost; empty without a
    reader or unread sessions.
    """
    found = engine.reader_log.offer(readers(load_settings().model)[:1], project)
    return f"Next: {found[0].command}  ({found[0].sentence})" if found else ""


REASONS_SHOWN = 4
EMPTY_FILE = "empty file"
"""The reason under which a reader counts an empty file among the skipped lines."""


def print_wave(report: WaveReport) -> None:
    empty = report.skipped_by.get(EMPTY_FILE, 0)
    empty_files = f", {empty:,} of them empty" if empty else ""
    size = f"{report.bytes / 1e6:,.1f} MB in all"
    read = f"{report.files:,} read{empty_files}, {report.unchanged:,} unchanged ({size})"
    lines_skipped = {why: n for why, n in report.skipped_by.items() if why != EMPTY_FILE}
    more = f"{report.over_cap:,} (reviewer queue more)" if report.over_cap else ""
    errors = f"{report.errors:,} (errors.log in the report)" if report.errors else ""
    rows = [
        ("wave", f"{report.wave} in project {report.project}, {report.seconds:.1f} s"),
        ("files", read),
        ("records", f"{report.records:,}, {count(report.masked, 'secret')} masked"),
        ("new", count(report.new, "candidate")),
        ("repeated", f"{report.repeated:,} seen before"),
        *([("near", count(report.near, "near duplicate"))] if report.near else []),
        *([("not queued yet", more)] if more else []),
        *by_reason("kept out", report.kept_out, REASONS_SHOWN),
        *by_reason("not proposed", report.dropped, REASONS_SHOWN),
        *by_reason("lines skipped", lines_skipped, REASONS_SHOWN),
        *by_reason("files skipped", report.passed_over, REASONS_SHOWN),
        *([("errors", errors)] if errors else []),
        ("report", report.report_folder),
    ]
    print_table(rows)


def _unread(report: WaveReport) -> str:
    """The unreadable files and folders, and where they are listed."""
    counts = ((report.unread_files, "file"), (report.unread_folders, "folder"))
    what = " and ".join(count(number, noun) for number, noun in counts if number)
    return f"{what} could not be read: see {report.report_folder}/errors.log" if what else ""


@click.command(cls=Verb)
@click.argument("path", type=FILE)
@line_range
@option("--top N", "At most N candidates.", least=1, default=50)
@json_option()
@pass_session
def extract(
    session: Session, path: Path, from_line: int, to_line: int | None, top: int, as_json: bool
) -> None:
    from reviewer.promotion.waves.preview import extract_file

    found = extract_file(
        path,
        line_start=from_line,
        line_end=to_line,
        top=top,
        project=session.project or project_here(),
    )
    emit(
        found,
        as_json,
        lambda one: (
            f"{one.confidence:.2f}",
            one.type,
            f"line {one.source.line_start + 1}" if one.source else "",
            one.content,
        ),
        empty=f"No candidates in {path}.",
    )
