"""`reviewer promote|reject|defer|restore|merge`: one call is one act, undone as one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from reviewer.cli.ids import MEMORY_ID
from reviewer.cli.output import narrate, safe
from reviewer.cli.session import Session, Verb, pass_session

if TYPE_CHECKING:
    from reviewer.engine import Done

alone = click.option("--alone", is_flag=True, help="Leave near duplicates in the queue.")
ids = click.argument("ids", type=MEMORY_ID, nargs=-1, required=True, metavar="ID...")


def tell(done: Done, *, undo: str = "reviewer undo") -> None:
    """Say what an act did, and the command that takes it back."""
    narrate(f"{safe(done.title)} - {undo} takes it back")


def tell_intake(done: Done) -> None:
    """The same for an act that no plain `undo` reaches, because it decided nothing."""
    tell(done, undo=f"reviewer undo {done.act}")


@click.command(cls=Verb)
@ids
@alone
@pass_session
def promote(session: Session, ids: tuple[int, ...], alone: bool) -> None:
    """Accept candidates as memories.

    Near duplicates of a candidate are folded into it.
    """
    with session.changing() as engine:
        tell(engine.triage.promote(ids, alone=alone))


@click.command(cls=Verb)
@ids
@alone
@pass_session
def reject(session: Session, ids: tuple[int, ...], alone: bool) -> None:
    """Refuse candidates; they are not proposed again.

    Near duplicates of a candidate go with it.
    """
    with session.changing() as engine:
        tell(engine.triage.reject(ids, alone=alone))


@click.command(cls=Verb)
@ids
@pass_session
def defer(session: Session, ids: tuple[int, ...]) -> None:
    """Put candidates at the end of the queue."""
    with session.changing() as engine:
        tell(engine.triage.defer(ids))


@click.command(cls=Verb)
@ids
@pass_session
def restore(session: Session, ids: tuple[int, ...]) -> None:
    """Take decided candidates back to the queue."""
    with session.changing() as engine:
        tell(engine.triage.restore(ids))


@click.command(cls=Verb)
@click.argument("memory", type=MEMORY_ID, metavar="ID")
@click.option("--into", type=MEMORY_ID, required=True, metavar="ID", help="The one that stays.")
@pass_session
def merge(session: Session, memory: int, into: int) -> None:
    """Fold one memory into another.

    The first one is superseded; its evidence stays with it.
    """
    with session.changing() as engine:
        tell(engine.triage.merge(memory, into))


@click.command(cls=Verb)
@click.argument("memory", type=MEMORY_ID, metavar="ID")
@click.option("--by", type=MEMORY_ID, required=True, metavar="ID", help="The one that holds now.")
@pass_session
def supersede(session: Session, memory: int, by: int) -> None:
    """Put a newer statement in the place of an active one.

    The newer one becomes active if it still waits; the older one stays readable.
    """
    with session.changing() as engine:
        tell(engine.triage.supersede(memory, by))
