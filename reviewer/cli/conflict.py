"""`reviewer conflict list|resolve`: entities that contradict each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from reviewer.cli.candidate import conflict_json
from reviewer.cli.inputs import ID, flag, option
from reviewer.cli.output import emit_texts, json_option, report_act, table
from reviewer.cli.session import Session, VerbSection, pass_session

if TYPE_CHECKING:
    from reviewer.promotion.views import ConflictView


@click.group(cls=VerbSection)
def conflict() -> None:
    """List and settle entities that contradict each other.

    Conflicts are never settled automatically: each one waits in the queue for your decision.
    `reviewer queue show ID` shows both sides with their evidence.
    """


@conflict.command("list")
@flag("--all", "Settled ones too.", into="settled")
@json_option()
@pass_session
def list_conflicts(session: Session, settled: bool, as_json: bool) -> None:
    """List the conflicts with both sides."""
    from reviewer.promotion.views import QueueQuery

    with session.listing() as engine:
        status = "all" if settled else "waiting"
        ids = engine.queue.ids(QueueQuery(engine.project, status, "kind:conflict"))
        emit_texts(
            map(engine.conflicts.get, ids),
            as_json,
            _lines,
            to_json=conflict_json,
            apart=False,
            empty="No open conflicts. Settled ones: reviewer conflict list --all",
        )


def _lines(view: ConflictView) -> Iterator[str]:
    state = f"settled: {view.resolution}" if view.resolution else "open"
    yield f"#{view.id}  {view.slot}  {state}"
    sides = (view.left, view.right)
    yield from table((f"    #{each.id}", str(each.status), each.content) for each in sides)


@conflict.command("resolve", example="conflict resolve 31 --keep 12")
@click.argument("number", type=ID, metavar="ID")
@option("--keep ID", "Keep this side; it supersedes the other.", type=ID)
@flag("--both", "Keep both sides as they are.")
@flag("--dismiss", "They do not contradict each other.")
@pass_session
def resolve(session: Session, number: int, keep: int | None, both: bool, dismiss: bool) -> None:
    """Settle a conflict; undo brings it back."""
    if (keep is not None) + both + dismiss != 1:
        raise click.UsageError("choose one of --keep ID, --both and --dismiss")
    with session.changing() as engine:
        if keep is not None:
            report_act(engine.conflicts.supersede(number, keep))
        elif both:
            report_act(engine.conflicts.keep_both(number))
        else:
            report_act(engine.conflicts.dismiss(number))
