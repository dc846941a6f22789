"""`reviewer sources|watch`: the sessions that agents have left on this machine."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reviewer.cli.output import (
    count,
    emit,
    json_option,
    narrate,
    nobody_reads,
    print_json,
    print_text,
    report_act,
    safe,
)
from reviewer.cli.progress import ProgressLine, interruptible
from reviewer.cli.session import INTERRUPTED, Session, Verb, pass_session
from reviewer.errors import ReviewerError

if TYPE_CHECKING:
    from reviewer.cli.progress import Interruption
    from reviewer.engine import Engine
    from reviewer.promotion.found_sessions import AgentSessions, Stamps
    from reviewer.sources.discovery import Chosen, FoundSession

NOTHING_HERE = "There are no sessions of this project on this machine."
SHORTEST_PAUSE = 1
PAUSE = 0.2
"""Seconds after which a pause is asked whether it has been interrupted."""


@click.command(cls=Verb)
@click.option("--all", "everywhere", is_flag=True, help="The sessions of all projects.")
@click.option("--files", is_flag=True, help="List every session instead of counting them.")
@click.option(
    "--moved-from",
    "former",
    metavar="FOLDER",
    help="Have the sessions of FOLDER belong to this project, from now on.",
)
@json_option()
@pass_session
def sources(
    session: Session, everywhere: bool, files: bool, former: str | None, as_json: bool
) -> None:
    """List the agent sessions on this machine, and which have been read.

    Without --all only those of this project: held in its folders, or in a linked work tree. Only
    the places where agents are known to keep sessions are looked at. Read them with
    `reviewer ingest`, without a path.

    The folder of each session is listed with --files. If the project was in another folder, or
    agents worked in a copy that is gone, name it once with --moved-from.
    """
    if former is not None:
        with session.changing(create=True) as engine:
            report_act(engine.take_folder(session.target(engine), former))
    from reviewer.promotion.found_sessions import by_agent, is_read

    found, here = _found(session, everywhere=everywhere)
    shown = found if everywhere else here
    stamps = _stamps(session, everywhere)
    rows = by_agent(shown, stamps, datetime.now(UTC))
    if files:
        _print_files(shown, stamps, as_json)
    else:
        emit(rows, as_json, _columns)
    if as_json:
        return
    if not shown:
        narrate("There are no sessions of agents on this machine." if everywhere else NOTHING_HERE)
    elsewhere = [each for each in found if not each.subagent]
    more = len(elsewhere) - sum(not each.subagent for each in here)
    if more and not everywhere:
        narrate(
            f"Of other projects: {count(more, 'session')}. List them with: reviewer sources --all"
        )
    unread = sum(not is_read(each, stamps) for each in here)
    if unread and not everywhere:
        narrate("Read them with: reviewer ingest")


def _columns(row: AgentSessions) -> tuple[str, ...]:
    state = "all read" if row.read == row.sessions else f"{row.read:,} read"
    expiring = f"{row.expiring:,} expire within 5 days" if row.expiring else ""
    newest = f"newest {row.newest[:16].replace('T', ' ')}"
    size = f"{row.bytes / 1e6:,.1f} MB"
    apart = f"and {row.subagents:,} of sub-agents" if row.subagents else ""
    return (row.agent, count(row.sessions, "session"), size, newest, state, apart, expiring)


def _print_files(found: list[FoundSession], stamps: Stamps, as_json: bool) -> None:
    from reviewer.promotion.found_sessions import is_read

    for each in sorted(found, key=lambda each: -each.modified_ns):
        read = is_read(each, stamps)
        if as_json:
            print_json(
                {
                    "agent": each.agent,
                    "format": each.format,
                    "path": str(each.path),
                    "session": each.session,
                    "cwd": each.cwd,
                    "bytes": each.bytes,
                    "modified": _written(each.modified_ns),
                    "subagent": each.subagent,
                    "read": read,
                    "expires": _written(each.expires_ns) if each.expires_ns else None,
                }
            )
        else:
            inside = f" {safe(each.session)}" if each.session else ""
            state = "read" if read else "new"
            apart = " (sub-agent)" if each.subagent else ""
            print_text(f"{state:4}  {safe(each.agent)}{apart}  {safe(str(each.path))}{inside}")
            print_text(f"      in {safe(each.cwd)}{_gone(each.cwd)}" if each.cwd else "      in ?")


def _written(nanoseconds: int) -> str:
    from reviewer.clock import iso

    return iso(datetime.fromtimestamp(nanoseconds / 1e9, UTC))


def _gone(folder: str) -> str:
    """Only said of a folder that can be looked at without mounting anything."""
    from reviewer.mounts import is_on_local_disk

    return ", which is gone" if is_on_local_disk(folder) and not Path(folder).is_dir() else ""


def take_moved(engine: Engine, project: str, path: Path) -> None:
    """Have a session that was read by its name, and whose folder is gone, bring its folder along:
    the next sessions of it are found.
    """
    from reviewer.sources.discovery import (
        Machine,
        Scope,
        cwd_of,
        is_known_place,
        is_within,
    )
    from reviewer.sources.registry import FORMATS

    if not path.is_file() or not is_known_place(path.absolute(), Machine.here(), FORMATS):
        return
    folder, _ = cwd_of(path)
    scope = Scope.of(Path.cwd(), engine.former_folders(project))
    if not folder or not _gone(folder) or is_within(folder, scope):
        return
    try:
        report_act(engine.take_folder(project, folder))
    except ReviewerError as problem:
        narrate(safe(str(problem)))


def _found(
    session: Session, *, everywhere: bool = False
) -> tuple[list[FoundSession], list[FoundSession]]:
    """All sessions on this machine, and those of this project; with `everywhere` it does not matter
    whether it is clear which one that is.

    Raises ForeignProjectError.
    """
    from reviewer.sources.discovery import Machine, Scope, find_sessions

    former: tuple[str, ...] = ()
    if session.store_path().exists() and not everywhere:
        with session.whole_store() as engine:
            former = engine.former_folders(session.project)
    scope = Scope.of(Path.cwd(), former)
    found = list(find_sessions(Machine.here(), scope))
    return found, [each for each in found if each.belongs_to(scope)]


def _stamps(session: Session, everywhere: bool) -> Stamps:
    """What the store has read; nothing where there is no store yet."""
    if not session.store_path().exists():
        return {}
    with session.whole_store() as engine:
        if not everywhere:
            session.choose_to_read(engine)
        return engine.sources.stamps(None if everywhere else engine.project)


def project_sessions(session: Session) -> tuple[Chosen, str]:
    """The sessions of this project to read, and a sentence that counts them.

    Raises SourceError when there are none.
    """
    from reviewer.errors import SourceError
    from reviewer.sources.discovery import choose

    _, here = _found(session)
    if not here:
        raise SourceError(f"{NOTHING_HERE} Name a file or folder: reviewer ingest PATH")
    return choose(here), f"Reading {_counted(here)} of this project."


def ingested_files(session: Session) -> list[Path]:
    """The files that the project was read from, the latest first; none without a store."""
    if not session.store_path().exists():
        return []
    with session.reading() as engine:
        return [Path(each) for each in engine.sources.paths(engine.project)]


def ingested_sessions(session: Session) -> list[Path]:
    """Those of them that are still there and are sessions."""
    from reviewer.sources.open import is_session

    return [path for path in ingested_files(session) if path.is_file() and is_session(path)]


def _counted(found: list[FoundSession]) -> str:
    from collections import Counter

    agents = Counter(each.agent for each in found if not each.subagent)
    listed = ", ".join(f"{agent} {times:,}" for agent, times in agents.most_common())
    return f"{count(agents.total(), 'session')} ({listed})"


@click.command(cls=Verb)
@click.option(
    "--every",
    type=click.IntRange(SHORTEST_PAUSE),
    default=20,
    show_default=True,
    metavar="SECONDS",
    help="How often to look.",
)
@click.option("--once", is_flag=True, help="Read what is new now, and end.")
@json_option("The counts of each wave as a JSON object.")
@click.pass_context
@pass_session
def watch(session: Session, ctx: click.Context, every: int, once: bool, as_json: bool) -> None:
    """Read new turns of sessions as agents write them, until Ctrl-C.

    Looks at the places that `reviewer sources` lists, and reads the files that have changed.
    """
    session.refuse_all_projects()
    with interruptible() as interruption:
        if not once:
            narrate(f"Watching the sessions of this project every {every} s. Ctrl-C ends it.")
        while True:
            _read_changes(session, interruption, once=once, as_json=as_json)
            if once or interruption() or nobody_reads():
                break
            for _ in _pauses(every):
                if interruption() or nobody_reads():
                    break
        if interruption() and once:
            ctx.exit(INTERRUPTED)


def _read_changes(
    session: Session, interruption: Interruption, *, once: bool, as_json: bool
) -> None:
    """Read the sessions of this project that were not read since they changed."""
    from reviewer.promotion.found_sessions import is_read
    from reviewer.sources.discovery import choose

    _, here = _found(session)
    stamps = _stamps(session, everywhere=False) if here else {}
    fresh = {each.path for each in here if not is_read(each, stamps)}
    if not fresh:
        if once and not as_json:
            narrate("Nothing is new." if here else NOTHING_HERE)
        return
    chosen = choose(each for each in here if each.path in fresh)
    line = ProgressLine()
    with session.changing(create=True, new_outside=True) as engine:
        try:
            report = engine.intake.ingest(
                chosen.paths,
                project=session.target(engine),
                progress=line,
                cancelled=interruption,
                breakable=interruption.breakable,
                sessions=chosen.sessions,
            )
        finally:
            line.clear()
    if as_json:
        print_json(report)
        return
    print_text(
        f"wave {report.wave}: {count(report.files, 'file')}, {count(report.fresh, 'new record')},"
        f" {count(report.new, 'new candidate')}, {report.repeated:,} seen before"
    )


def _pauses(seconds: float) -> Iterator[None]:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        yield
        time.sleep(PAUSE)
