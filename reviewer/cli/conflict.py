"""`reviewer conflict list|show|resolve`: entities that contradict each other."""

from __future__ import annotations

import click

from reviewer.cli.candidate import conflict_json, conflict_state, how_to_settle, show_sides
from reviewer.cli.inputs import ID
from reviewer.cli.output import (
    json_option,
    narrate,
    print_json,
    print_table,
    print_text,
    report_act,
    safe,
)
from reviewer.cli.session import Session, Verb, pass_session


@click.group()
def conflict() -> None:
    """List, show and settle entities that contradict each other.

    Conflicts are never settled automatically: each one waits in the queue for your decision.
    """


@conflict.command("list", cls=Verb)
@click.option("--all", "settled", is_flag=True, help="Settled ones too.")
@json_option()
@pass_session
def list_conflicts(session: Session, settled: bool, as_json: bool) -> None:
    """List the conflicts with both sides."""
    from reviewer.promotion.views import QueueQuery

    with session.listing() as engine:
        status = "all" if settled else "waiting"
        ids = engine.queue.ids(QueueQuery(engine.project, status, "kind:conflict"))
        for number in ids:
            view = engine.conflicts.get(number)
            if as_json:
                print_json(conflict_json(view))
                continue
            print_text(f"#{number}  {safe(view.slot)}  {conflict_state(view)}")
            sides = (view.left, view.right)
            print_table((f"    #{each.id}", str(each.status), each.content) for each in sides)
        if not ids and not as_json:
            narrate("No open conflicts. Settled ones: reviewer conflict list --all")


@conflict.command("show", cls=Verb)
@click.argument("number", type=ID, metavar="ID")
@json_option("One JSON object.")
@pass_session
def show(session: Session, number: int, as_json: bool) -> None:
    """Show both sides of a conflict with their evidence."""
    with session.reading() as engine:
        view = engine.conflicts.get(number)
        if as_json:
            print_json(conflict_json(view))
            return
        print_text(f"#{number}  conflict  {conflict_state(view)}  {safe(view.slot)}")
        for line in show_sides(engine, view):
            print_text(line)
        if view.resolution is None:
            narrate(how_to_settle(view))


@conflict.command("resolve", cls=Verb, example="conflict resolve 31 --keep 12")
@click.argument("number", type=ID, metavar="ID")
@click.option("--keep", type=ID, metavar="ID", help="Keep this side; it supersedes the other.")
@click.option("--both", is_flag=True, help="Keep both sides as they are.")
@click.option("--dismiss", is_flag=True, help="They do not contradict each other.")
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
