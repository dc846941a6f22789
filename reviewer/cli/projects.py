"""Which project a statement that is typed belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from reviewer.cli.session import PROJECT_WITHOUT_A_NAME, Session

if TYPE_CHECKING:
    from reviewer.engine import Engine


def project_to_change(session: Session, engine: Engine) -> str:
    """The project named, that of the folder, or the only one that the store has.

    Raises UsageError when none of them says which.
    """
    here = session.project_to_fill()
    known = engine.queue.projects()
    if session.project is not None or here in known or not known:
        return here
    if len(known) == 1:
        return known[0]
    if here == PROJECT_WITHOUT_A_NAME:
        raise click.UsageError(f"name the project with --project: {', '.join(known[:10])}")
    return here
