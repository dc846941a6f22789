"""`reviewer conflict`: settles a conflict between two entities."""

from __future__ import annotations

import click

from reviewer.cli.inputs import ID, flag, option
from reviewer.cli.output import report_act
from reviewer.cli.session import Session, Verb, pass_session


@click.command(cls=Verb, example="conflict 31 --keep 12")
@click.argument("number", type=ID, metavar="ID")
@option("--keep ID", "Keep this side; it supersedes the other.", type=ID)
@flag("--dismiss", "Keep both sides: they do not contradict each other.")
@pass_session
def conflict(session: Session, number: int, keep: int | None, dismiss: bool) -> None:
    """Conflicts are never settled automatically: each waits in the queue for your decision, and
    while both sides are promoted, agents get neither. List them with `reviewer queue list --filter
    kind:conflict`; `reviewer queue show ID` shows both sides with their evidence. Undo brings a
    conflict back.
    """
    if (keep is not None) == dismiss:
        raise click.UsageError("choose one of --keep ID and --dismiss")
    with session.changing() as engine:
        if keep is not None:
            report_act(engine.conflicts.supersede(number, keep))
        else:
            report_act(engine.conflicts.dismiss(number))
