"""`reviewer sources|watch`: agents' sessions on this machine."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reviewer.cli.inputs import flag, option
from reviewer.cli.output import (
    count,
    emit,
    json_option,
    narrate,
    print_json,
    print_text,
    report_act,
)
from reviewer.cli.progress import Interruption, ProgressLine, working
from reviewer.cli.session import INTERRUPTED, Session, Verb, leave, pass_session
from reviewer.clock import iso
from reviewer.errors import SourceError
from reviewer.mounts import is_on_local_disk
from reviewer.system import working_folder

if TYPE_CHECKING:
    from reviewer.promotion.waves.found_sessions import AgentSessions, Stamps
    from reviewer.sources.discovery import ChosenFiles, FoundSession

NOTHING_HERE = "There are no sessions of this project on this machine."
EVERY = 20
"""Seconds between two looks of `watch`."""
PAUSE = 0.2
"""Seconds between two checks for an interruption."""


@click.command(cls=Verb)
@flag("--all", "The sessions of all projects.", into="everywhere")
@flag("--files", "List every session instead of counting them.")
@option(
    "--moved-from FOLDER",
    "From now on, treat sessions of FOLDER as this project's.",
    into="former",
)
@json_option()
@pass_session
def sources(
    session: Session, everywhere: bool, files: bool, former: str | None, as_json: bool
) -> None:
    """Without --all, only those of this project: of its folders and linked work trees. Only the
    known session folders of agents are searched. Read them with `reviewer ingest`, without a path.

    --files also shows the id and the folder of each session. If the project used to be in another
    folder, or agents worked in a copy that is gone, name that folder once with --moved-from.
    """
    if former is not None:
        with session.changing(create=True) as engine:
            report_act(engine.take_folder(session.target(engine), former))
    from reviewer.promotion.waves.found_sessions import by_agent, is_read

    found, here = found_sessions(session, everywhere=everywhere)
    shown = found if everywhere else here
    stamps = _stamps(session, everywhere)
    if files:
        emit(
            sorted(shown, key=lambda each: -each.modified_ns),
            as_json,
            lines=lambda each: _lines(each, is_read(each, stamps)),
            to_json=lambda each: _to_json(each, is_read(each, stamps)),
        )
    else:
        emit(by_agent(shown, stamps, datetime.now(UTC)), as_json, _columns)
    if as_json:
        return
    if not shown:
        narrate("There are no sessions of agents on this machine." if everywhere else NOTHING_HERE)
    if everywhere:
        return
    own = [sum(not each.subagent for each in some) for some in (found, here)]
    if more := own[0] - own[1]:
        narrate(
            f"Of other projects: {count(more, 'session')}. List them with: reviewer sources --all"
        )
    if not all(is_read(each, stamps) for each in here):
        narrate("Read them with: reviewer ingest")


def _columns(row: AgentSessions) -> tuple[str, ...]:
    state = "all read" if row.read == row.sessions else f"{row.read:,} read"
    expiring = f"{row.expiring:,} expire within 5 days" if row.expiring else ""
    newest = f"newest {row.newest[:16].replace('T', ' ')}"
    size = f"{row.bytes / 1e6:,.1f} MB"
    apart = f"and {row.subagents:,} of sub-agents" if row.subagents else ""
    return (row.agent, count(row.sessions, "session"), size, newest, state, apart, expiring)


def _lines(each: FoundSession, read: bool) -> Iterator[str]:
    apart = " (sub-agent)" if each.subagent else ""
    yield f"{'read' if read else 'new':4}  {each.agent}{apart}  {each.path}"
    yield f"      {each.id}  in {each.cwd or '?'}{_gone(each.cwd)}"


def _to_json(each: FoundSession, read: bool) -> dict[str, object]:
    return {
        "agent": each.agent,
        "format": each.format,
        "path": str(each.path),
        "session": each.id,
        "cwd": each.cwd,
        "bytes": each.bytes,
        "modified": _written(each.modified_ns),
        "subagent": each.subagent,
        "read": read,
        "expires": _written(each.expires_ns) if each.expires_ns else None,
    }


def _written(nanoseconds: int) -> str:
    return iso(datetime.fromtimestamp(nanoseconds / 1e9, UTC))


def _gone(folder: str) -> str:
    """A note for a deleted folder; only on local disks, where looking mounts nothing."""
    return ", which is gone" if is_on_local_disk(folder) and not Path(folder).is_dir() else ""


def found_sessions(
    session: Session, *, everywhere: bool = False
) -> tuple[list[FoundSession], list[FoundSession]]:
    """All sessions on this machine, and those of this project; with `everywhere`, the project may
    be ambiguous.

    Raises ForeignProjectError.
    """
    from reviewer.sources.discovery import Machine, ProjectFolders, find_sessions

    former: tuple[str, ...] = ()
    if session.store_path().exists() and not everywhere:
        with session.whole_store() as engine:
            former = engine.former_folders(session.project)
    scope = ProjectFolders.of(working_folder(), former)
    found = list(find_sessions(Machine.here(), scope))
    return found, [each for each in found if each.belongs_to(scope)]


def _stamps(session: Session, everywhere: bool) -> Stamps:
    """The stamps of the store; empty without a store."""
    if not session.store_path().exists():
        return {}
    with session.whole_store() as engine:
        if not everywhere:
            session.choose_to_read(engine)
        return engine.sources.stamps(None if everywhere else engine.project)


def project_sessions(session: Session) -> tuple[ChosenFiles, str]:
    """The sessions of this project to read, and a sentence that counts them.

    Raises SourceError if there are none.
    """
    from reviewer.sources.discovery import choose

    _, here = found_sessions(session)
    if not here:
        raise SourceError(f"{NOTHING_HERE} Name a file or folder: reviewer ingest PATH")
    agents = Counter(each.agent for each in here if not each.subagent)
    names = ", ".join(f"{agent} {times:,}" for agent, times in agents.most_common())
    return choose(here), f"Reading {count(agents.total(), 'session')} ({names}) of this project."


def ingested_sessions(session: Session) -> list[Path]:
    """The project's ingested sessions that still exist, latest first; empty without a store."""
    if not session.store_path().exists():
        return []
    with session.reading() as engine:
        found = engine.sources.sessions(engine.project)
    return [path for each in found if (path := Path(each.path)).is_file()]


@click.command(cls=Verb)
@flag("--once", "Read what is new now, and end.")
@json_option("The counts of each wave as a JSON object.")
@pass_session
def watch(session: Session, once: bool, as_json: bool) -> None:
    """Checks the places listed by `reviewer sources` every 20 seconds, and reads the files that
    have changed.
    """
    session.refuse_all_projects()
    with working() as (line, interruption):
        if not once:
            narrate(f"Watching the sessions of this project every {EVERY} s. Ctrl-C ends it.")
        while True:
            _read_changes(session, line, interruption, once=once, as_json=as_json)
            looks_again = time.monotonic() + EVERY
            while not (once or interruption()):
                if time.monotonic() >= looks_again:
                    break
                time.sleep(PAUSE)
            else:
                break
        if interruption() and once:
            leave(INTERRUPTED)


def _read_changes(
    session: Session, line: ProgressLine, interruption: Interruption, *, once: bool, as_json: bool
) -> None:
    """Read this project's sessions that have changed since they were read."""
    from reviewer.promotion.waves.found_sessions import is_read
    from reviewer.sources.discovery import choose

    _, here = found_sessions(session)
    stamps = _stamps(session, everywhere=False) if here else {}
    fresh = {each.path for each in here if not is_read(each, stamps)}
    if not fresh:
        if once and not as_json:
            narrate("Nothing is new." if here else NOTHING_HERE)
        return
    chosen = choose(each for each in here if each.path in fresh)
    with session.changing(create=True, new_outside=True) as engine:
        report = engine.intake.ingest(
            chosen.paths,
            project=session.target(engine),
            progress=line,
            cancelled=interruption,
            breakable=interruption.breakable,
            sessions=chosen.sessions,
        )
    line.clear()
    if as_json:
        print_json(report)
        return
    print_text(
        f"wave {report.wave}: {count(report.files, 'file')}, {count(report.fresh, 'new record')},"
        f" {count(report.new, 'new candidate')}, {report.repeated:,} seen before"
    )
