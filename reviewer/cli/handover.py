"""`reviewer brief [SESSION]` and `reviewer keep [SESSION]`: texts for an agent about a session."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reviewer.cli.inputs import engine_options, option, together
from reviewer.cli.output import Command, count, json_option, narrate, print_json, print_lines
from reviewer.cli.session import Session, Verb, pass_session
from reviewer.cli.sources import found_sessions, ingested_sessions
from reviewer.cli.summarize import say_what_is_wrong, written_by
from reviewer.errors import SourceError

if TYPE_CHECKING:
    from reviewer.agents.transcripts import SessionFile
    from reviewer.compression.engines import EngineName
    from reviewer.compression.handover import Handover

LEAST = 100
NEWEST_NAMED = 5


def _about_a_session(tokens: int) -> Callable[[Command], Command]:
    return together(
        click.argument("name", required=False, metavar="[SESSION]"),
        option("--max-tokens N", "At most N tokens.", least=LEAST, default=tokens),
        json_option("One JSON object."),
    )


@click.command(cls=Verb, example="brief --max-tokens 1500")
@_about_a_session(2_000)
@engine_options("The writer; model sends the session to the model in the settings.")
@pass_session
def brief(
    session: Session,
    name: str | None,
    max_tokens: int,
    engine: EngineName,
    model: str | None,
    as_json: bool,
) -> None:
    """SESSION is a file, or the id of a session of this project that was ingested or that an agent
    has left here (see reviewer sources); by default, the newest of these. Requests, instructions,
    decisions, work done, the current state and the next steps are taken from the dialogue and the
    tool calls. For a file with several conversations it covers the last.

    Nothing is sent anywhere without --engine model, whatever the settings say. If the model fails,
    the offline engine writes, and a line on stderr gives the reason.
    """
    from reviewer.compression.handover import write_brief

    named = find_session(session, name)
    with written_by(engine, model) as writer:
        found = write_brief(named.path, max_tokens=max_tokens, session=named.session, writer=writer)
    _show(found, named, as_json)


@click.command(cls=Verb, example="keep --max-tokens 500")
@_about_a_session(700)
@pass_session
def keep(session: Session, name: str | None, max_tokens: int, as_json: bool) -> None:
    """Paste it after /compact, or let a hook before compaction print it. SESSION is as for reviewer
    brief.
    """
    from reviewer.compression.handover import write_keep

    named = find_session(session, name)
    found = write_keep(named.path, max_tokens=max_tokens, session=named.session)
    _show(found, named, as_json)


def _show(found: Handover, named: SessionFile, as_json: bool) -> None:
    inside = f", {found.conversation}" if found.conversation else f" {named.session or ''}"
    place = f"{named.path}{inside}".rstrip()
    if as_json:
        print_json(found)
        say_what_is_wrong(found.engine, found.note, found.invented)
        return
    if not found.text:
        narrate(f"There is nothing to hand over in {place}.")
        return
    print_lines(found.text)
    tokens = count(found.tokens, "token")
    by = f", written by {found.engine}" if found.engine != "offline" else ""
    narrate(f"{place}: {tokens} of {found.original_tokens:,} ({found.encoding}){by}.")
    if found.tokens > found.original_tokens:
        narrate(f"The session itself is shorter: reviewer view {shlex.quote(str(named.path))}")
    say_what_is_wrong(found.engine, found.note, found.invented)


def find_session(session: Session, name: str | None) -> SessionFile:
    """A session by its path or id; by default, the newest of this project.

    Raises SourceError.
    """
    from reviewer.agents.transcripts import SessionFile, named_after
    from reviewer.sources.discovery import id_of

    if name is not None and (Path(name).exists() or len(Path(name).parts) > 1):
        return SessionFile(Path(name))
    known = {
        **{SessionFile(path): path.stat().st_mtime_ns for path in ingested_sessions(session)},
        **{
            SessionFile(each.path, each.session or None): each.modified_ns
            for each in found_sessions(session)[1]
            if not each.subagent
        },
    }
    if name is None:
        if not known:
            raise SourceError(
                "No session of this project is known. Name the file of one: reviewer brief FILE"
            )
        return max(known, key=lambda each: known[each])
    matches = [
        each
        for each in known
        if name in (each.session, each.path.name)
        or (each.session is None and named_after(each.path, name))
    ]
    if not matches:
        newest = sorted(known, key=lambda each: -known[each])[:NEWEST_NAMED]
        ids = ", ".join(id_of(each.path, each.session or "") for each in newest)
        raise SourceError(
            f"{name} is neither a file nor a known session. {f'Newest: {ids}. ' if ids else ''}"
            "List those of this project: reviewer sources --files"
        )
    return max(matches, key=lambda each: known[each])
