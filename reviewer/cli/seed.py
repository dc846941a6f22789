"""`reviewer dev-seed N`: made-up candidates, to see how the program behaves with many."""

from __future__ import annotations

import click

from reviewer.cli.session import Session, Verb, pass_session
from reviewer.cli.triage import tell_intake


@click.command(cls=Verb, hidden=True)
@click.argument("count", type=click.IntRange(1, 10_000_000), metavar="N")
@pass_session
def dev_seed(session: Session, count: int) -> None:
    """Fill the queue with N made-up rows."""
    session.refuse_all_projects()
    with session.whole_store(create=True) as engine:
        tell_intake(engine.intake.seed(count, project=session.project or "seed"))
