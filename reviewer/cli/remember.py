"""`reviewer remember`: a memory in a person's own words, with or without lines as proof."""

from __future__ import annotations

import re
from pathlib import Path

import click

from reviewer.cli.inputs import flag, option, read_text
from reviewer.cli.output import report_act
from reviewer.cli.session import Session, Verb, pass_session
from reviewer.extraction.candidates import MemoryType
from reviewer.extraction.rules import sentence_type

MAX_LINES = 1_000

_PLACE = re.compile(r"(?P<file>.+):(?P<lines>\d{1,12}(?:-\d{1,12})?(?:,\d{1,12}(?:-\d{1,12})?)*)")


@click.command(cls=Verb, example='remember "The kiosk tests need port 8099 free."')
@click.argument("statement", required=False)
@option("--content-file FILE", "A file with the statement; - is standard input.")
@option(
    "--at FILE:LINES",
    "The lines that prove it: 12, 12-20 or 12,15-17, as numbered by `reviewer view FILE`.",
    into="place",
)
@option("--type TYPE", "Default: by how the text begins.", into="type_")
@option("--name N", "The name of an entity (default: its text).")
@flag("--promote", "Promote it in the same act.")
@pass_session
def remember(
    session: Session,
    statement: str | None,
    content_file: str | None,
    place: str | None,
    type_: str | None,
    name: str | None,
    promote: bool,
) -> None:
    """It waits in the queue until it is promoted. With --at, lines of a session are its proof, and
    candidates from the same lines are hidden behind it; without, it is marked as written by hand.

    TYPE is that of a memory (identity, preference, project, episodic, knowledge, adaptation), or,
    without --at, of an entity (decision, parameter, ...); `project` is the memory,
    `entity:project` the entity.
    """
    if (statement is None) == (content_file is None):
        raise click.UsageError("give the text, or name a file with --content-file")
    statement = read_text(str(content_file)) if statement is None else statement
    if place is None:
        with session.changing(create=True) as engine:
            kind = type_ or sentence_type(statement)
            project = session.target(engine)
            done = engine.entities.author(project, kind, statement, name=name, promote=promote)
            report_act(done)
        return
    if name is not None or type_ not in (None, *MemoryType):
        raise click.UsageError(f"with --at it is a memory: {', '.join(MemoryType)}, and no --name")
    path, lines = _place(place)
    with session.changing(create=True) as engine:
        done = engine.proposals.word(
            session.target(engine),
            path,
            lines,
            statement,
            MemoryType(type_) if type_ else None,
            promote=promote,
        )
        report_act(done)


@click.command(cls=Verb)
@click.argument("type_", metavar="TYPE")
@click.argument("statement")
@pass_session
def add(session: Session, type_: str, statement: str) -> None:
    with session.changing(create=True) as engine:
        report_act(engine.entities.author(session.target(engine), type_, statement))


def _place(text: str) -> tuple[Path, list[int]]:
    match = _PLACE.fullmatch(text)
    if match is None:
        raise click.UsageError(f"--at wants FILE:LINES, as in talk.jsonl:12-14, not {text!r}")
    lines: list[int] = []
    for part in match["lines"].split(","):
        first, _, last = part.partition("-")
        start, end = int(first), int(last or first)
        if end < start:
            raise click.UsageError(f"--at: {part} ends before it starts")
        if end - start >= MAX_LINES or len(lines) > MAX_LINES:
            raise click.UsageError(f"--at takes at most {MAX_LINES:,} lines")
        lines += range(start, end + 1)
    return Path(match["file"]), lines
