"""`reviewer brief [SESSION]` and `reviewer keep [SESSION]`: texts for an agent about a session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from reviewer.cli.context import IMPORT, find_context
from reviewer.cli.inputs import Command, engine_options
from reviewer.cli.output import (
    count,
    json_option,
    narrate,
    print_json,
    print_text,
    safe,
    safe_lines,
)
from reviewer.cli.session import Session, Verb, pass_session
from reviewer.cli.sources import ingested_sessions
from reviewer.cli.summarize import say_what_is_wrong, written_by
from reviewer.errors import SourceError

if TYPE_CHECKING:
    from reviewer.compression.engines import EngineName
    from reviewer.compression.handover import Handover
    from reviewer.compression.values import Turn
    from reviewer.sources.discovery import FoundSession

LEAST = 100


def _about_a_session(tokens: int) -> Callable[[Command], Command]:
    """What a text is about, and how long it may be."""
    options = (
        click.argument("name", required=False, metavar="[SESSION]"),
        click.option(
            "--max-tokens",
            type=click.IntRange(LEAST),
            default=tokens,
            show_default=True,
            metavar="N",
            help="At most N tokens.",
        ),
        click.option(
            "--conversation",
            metavar="N|ID",
            help="Of a file of several: this one, by number or id.  [default: the last]",
        ),
        click.option("--context", metavar="NAME", help="Write about this context instead."),
    )

    def all_of_them(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return all_of_them


@click.command(cls=Verb, example="brief --max-tokens 1500")
@_about_a_session(2_000)
@engine_options("What writes it; model sends the session to the model of the settings.")
@json_option("One JSON object.")
@pass_session
def brief(
    session: Session,
    name: str | None,
    max_tokens: int,
    conversation: str | None,
    context: str | None,
    engine: EngineName,
    model: str | None,
    as_json: bool,
) -> None:
    """Write the hand-over for the next session of an agent, as plain Markdown.

    SESSION is a file or the id of a session that was ingested or that an agent has left of this
    project (see reviewer sources); without it the newest of these. Requests, instructions,
    decisions, what is done, what is true now and what comes next are read from what was said and
    from tool calls. Of a file with several conversations it is about the last.

    Nothing is sent anywhere unless --engine model asks for it, whatever the settings say. Where the
    model fails, the offline engine writes, and a line on stderr says why.
    """
    if model is not None and engine != "model":
        raise click.UsageError("--model needs --engine model")
    from reviewer.compression.handover import brief_of, write_brief

    with written_by(engine, model) as writer:
        if context is not None:
            _print_context(
                session,
                name,
                context,
                lambda title, turns: brief_of(turns, title, max_tokens=max_tokens, writer=writer),
                as_json,
            )
            return
        _print(
            session,
            name,
            lambda each: write_brief(
                each.path, max_tokens=max_tokens, session=each.session or None, writer=writer
            ),
            as_json,
            conversation,
        )


@click.command(cls=Verb, example="keep --max-tokens 500")
@_about_a_session(700)
@json_option("One JSON object.")
@pass_session
def keep(
    session: Session,
    name: str | None,
    max_tokens: int,
    conversation: str | None,
    context: str | None,
    as_json: bool,
) -> None:
    """Write what a compaction must keep, as instructions for /compact.

    Paste it after /compact, or have a hook that runs before a compaction print it. SESSION is as
    for reviewer brief.
    """
    from reviewer.compression.handover import keep_of, write_keep

    if context is not None:
        _print_context(
            session, name, context, lambda _, turns: keep_of(turns, max_tokens=max_tokens), as_json
        )
        return
    _print(
        session,
        name,
        lambda each: write_keep(each.path, max_tokens=max_tokens, session=each.session or None),
        as_json,
        conversation,
    )


class Named(NamedTuple):
    """A session to write about: its file, and its id where the file has several."""

    path: Path
    session: str = ""


def _print(
    session: Session,
    name: str | None,
    write: Callable[[Named], Handover],
    as_json: bool,
    conversation: str | None,
) -> None:
    named = find_session(session, name)
    if conversation is not None:
        named = Named(named.path, conversation)
    found = write(named)
    if conversation is not None and not found.conversation:
        from reviewer.sources.open import recognise

        if recognise(named.path).outlines is None:
            raise SourceError(f"{named.path} has one conversation: leave out --conversation.")
    inside = f" {safe(named.session)}" if named.session and not found.conversation else ""
    inside = f", {safe(found.conversation)}" if found.conversation else inside
    _show(found, f"{safe(str(named.path))}{inside}", as_json)
    if found.conversation and conversation is None and not as_json:
        narrate("The last conversation of the file. Another one: --conversation N")


def _print_context(
    session: Session,
    name: str | None,
    context: str,
    write: Callable[[str, Sequence[Turn]], Handover],
    as_json: bool,
) -> None:
    """The text about a context, from its originals."""
    if name is not None:
        raise click.UsageError("name a session or a --context, not both")
    with session.reading(filled_by=IMPORT) as engine:
        found = find_context(engine, context)
        turns = engine.compression.original_turns(found.id)
    place = f"the context {found.name}"
    _show(write(place, turns), safe(place), as_json)


def _show(found: Handover, place: str, as_json: bool) -> None:
    if as_json:
        print_json(found)
        say_what_is_wrong(found.engine, found.note, found.invented)
        return
    if not found.text:
        narrate(f"There is nothing to hand over in {place}.")
        return
    for line in safe_lines(found.text):
        print_text(line)
    tokens = count(found.tokens, "token")
    by = f", written by {safe(found.engine)}" if found.engine != "offline" else ""
    narrate(f"{place}: {tokens} of {found.original_tokens:,} ({found.encoding}){by}.")
    say_what_is_wrong(found.engine, found.note, found.invented)


def find_session(session: Session, name: str | None) -> Named:
    """A session by its path or id, or without a name the newest of this project.

    Raises SourceError.
    """
    if name is not None and (Path(name).exists() or len(Path(name).parts) > 1):
        return Named(Path(name))
    known = {
        **{Named(path): path.stat().st_mtime_ns for path in ingested_sessions(session)},
        **{Named(each.path, each.session): each.modified_ns for each in _discovered()},
    }
    if name is None:
        if not known:
            raise SourceError(
                "No session of this project is known. Name the file of one: reviewer brief FILE"
            )
        return max(known, key=lambda each: known[each])
    matches = [each for each in known if name in (each.session, each.path.stem, each.path.name)]
    if not matches:
        raise SourceError(
            f"{name} is neither a file nor a session that is known here. "
            "List those of this project: reviewer sources --files"
        )
    return max(matches, key=lambda each: known[each])


def _discovered() -> list[FoundSession]:
    """The sessions that agents have left of this project."""
    from reviewer.sources.discovery import Machine, Scope, find_sessions

    scope = Scope.of(Path.cwd())
    found = find_sessions(Machine.here(), scope)
    return [each for each in found if each.belongs_to(scope) and not each.subagent]
