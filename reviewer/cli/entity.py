"""`reviewer graduate|add|relate`: entities out of memories, by hand, and to each other."""

from __future__ import annotations

import click

from reviewer.cli.content import read_content
from reviewer.cli.ids import MEMORY_ID
from reviewer.cli.session import Session, Verb, pass_session
from reviewer.cli.triage import tell

name_option = click.option("--name", metavar="N", help="The entity's name (default: its wording).")


@click.command(cls=Verb)
@click.argument("memory", type=MEMORY_ID, metavar="ID")
@click.option("--as", "type_", required=True, metavar="TYPE", help="decision, parameter, ...")
@name_option
@pass_session
def graduate(session: Session, memory: int, type_: str, name: str | None) -> None:
    """Propose an active memory as an entity.

    The memory stays as a frozen pointer; the new candidate carries its words and its evidence.
    Undo takes the candidate away, and the memory is active again. Types: project, system,
    subsystem, component, interface, requirement, constraint, decision, material, parameter,
    analysis_model, result, validation_claim, vendor, process.
    """
    with session.changing() as engine:
        tell(engine.entities.graduate(memory, type_, name=name))


@click.command(cls=Verb)
@click.argument("type_", metavar="TYPE")
@click.argument("text", required=False)
@click.option("--content-file", metavar="FILE", help="Holds the text (- reads standard input).")
@name_option
@pass_session
def add(
    session: Session, type_: str, text: str | None, content_file: str | None, name: str | None
) -> None:
    """Write a candidate by hand, without a source.

    It waits in the queue like any other and is marked as hand-authored wherever it is shown. TYPE
    is one of a memory (identity, preference, project, episodic, knowledge, adaptation) or of an
    entity (decision, parameter, ...); `entity:project` is the entity, `project` the memory.
    """
    if (text is None) == (content_file is None):
        raise click.UsageError("give the text, or the file that holds it with --content-file")
    content = text if text is not None else read_content(str(content_file))
    with session.changing(create=True) as engine:
        tell(engine.entities.author(session.target(engine), type_, content, name=name))


@click.command(cls=Verb)
@click.argument("entity", type=MEMORY_ID, metavar="ID")
@click.argument("kind", metavar="KIND")
@click.argument("target", type=MEMORY_ID, metavar="TARGET")
@pass_session
def relate(session: Session, entity: int, kind: str, target: int) -> None:
    """State how one entity stands to another.

    KIND is part_of, depends_on, satisfies, supersedes, uses, supplied_by or validates; it is read
    from ID to TARGET.
    """
    with session.changing() as engine:
        tell(engine.entities.relate(entity, kind, target))
