"""`reviewer stats`: how much there is of what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from reviewer.cli.output import print_json, print_text, safe, table
from reviewer.cli.session import Session, Verb, pass_session

if TYPE_CHECKING:
    from reviewer.engine import Engine

COLUMNS = ("waiting", "deferred", "promoted", "rejected", "beyond_cap")


@click.command(cls=Verb)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a project.")
@pass_session
def stats(session: Session, as_json: bool) -> None:
    """Counts by project and status."""
    with session.engine() as engine:
        only = session.project_to_read(engine) if session.project else None
        names = [only] if only else engine.queue.projects()
        lines = [_project(engine, name) for name in names]
    if as_json:
        for line in lines:
            print_json(line)
        return
    head = ("project", *(column.replace("_", " ") for column in COLUMNS), "")
    body = [
        (safe(line["project"]), *(f"{line[column]:,}" for column in COLUMNS), "") for line in lines
    ]
    for text in table([head, *body], right=frozenset(range(1, len(COLUMNS) + 1))):
        print_text(text)


def _project(engine: Engine, name: str) -> dict[str, Any]:
    counts = engine.queue.counts(name)
    return {
        "project": name,
        **{column: getattr(counts, column) for column in COLUMNS},
        "promoted_today": counts.promoted_today,
        "rejected_today": counts.rejected_today,
    }
