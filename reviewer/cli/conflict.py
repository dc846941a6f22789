"""`reviewer conflict list|show|resolve`: entities that say different things about one slot."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from reviewer.cli.candidate import show_evidence
from reviewer.cli.ids import MEMORY_ID
from reviewer.cli.output import narrate, print_json, print_text, safe, table, wrapped
from reviewer.cli.session import Session, Verb, pass_session
from reviewer.cli.triage import tell

if TYPE_CHECKING:
    from reviewer.engine import CandidateView, ConflictView, Engine


@click.group()
def conflict() -> None:
    """List, show and settle entities that contradict each other.

    Nothing is settled by itself: each conflict waits in the queue until a person decides.
    """


@conflict.command("list", cls=Verb)
@click.option("--all", "settled", is_flag=True, help="Those that were settled too.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@pass_session
def list_conflicts(session: Session, settled: bool, as_json: bool) -> None:
    """Both sides of each conflict."""
    from reviewer.engine import QueueQuery

    with session.listing() as engine:
        status = "all" if settled else "waiting"
        ids = engine.queue.ids(QueueQuery(engine.project, status, "kind:conflict"))
        for number in ids:
            view = engine.conflicts.get(number)
            if as_json:
                print_json(conflict_json(view))
                continue
            print_text(f"#{number}  {safe(view.slot)}  {_standing(view)}")
            rows = [
                (f"    #{each.id}", str(each.status), safe(each.content)) for each in _both(view)
            ]
            for line in table(rows):
                print_text(line)
        if not ids and not as_json:
            narrate("Nothing contradicts anything. Settled ones: reviewer conflict list --all")


@conflict.command("show", cls=Verb)
@click.argument("number", type=MEMORY_ID, metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@pass_session
def show(session: Session, number: int, as_json: bool) -> None:
    """Both sides of a conflict with the lines that they come from."""
    with session.reading() as engine:
        view = engine.conflicts.get(number)
        if as_json:
            print_json(conflict_json(view))
            return
        print_text(f"#{number}  conflict  {_standing(view)}  {safe(view.slot)}")
        for line in show_sides(engine, view):
            print_text(line)
        if view.resolution is None:
            narrate(how_to_settle(view))


@conflict.command("resolve", cls=Verb)
@click.argument("number", type=MEMORY_ID, metavar="ID")
@click.option(
    "--keep", type=MEMORY_ID, metavar="ID", help="This side holds, superseding the other."
)
@click.option("--both", is_flag=True, help="Both sides stand as they are.")
@click.option("--dismiss", is_flag=True, help="It is no conflict.")
@pass_session
def resolve(session: Session, number: int, keep: int | None, both: bool, dismiss: bool) -> None:
    """Settle a conflict; undo brings it back."""
    if (keep is not None) + both + dismiss != 1:
        raise click.UsageError("say one of --keep ID, --both and --dismiss")
    with session.changing() as engine:
        if keep is not None:
            tell(engine.conflicts.supersede(number, keep))
        elif both:
            tell(engine.conflicts.keep_both(number))
        else:
            tell(engine.conflicts.dismiss(number))


def how_to_settle(view: ConflictView) -> str:
    """The commands that settle a conflict."""
    return (
        f"Settle it: reviewer conflict resolve {view.id}"
        f" --keep {view.left.id} | --keep {view.right.id} | --both | --dismiss"
    )


def show_sides(engine: Engine, view: ConflictView) -> Iterator[str]:
    """Each side with its evidence."""
    for side in _both(view):
        yield f"side        #{side.id}  {safe(side.type)}  {side.status}"
        yield from wrapped(side.content, "  ")
        yield from show_evidence(engine, side)


def conflict_json(view: ConflictView) -> dict[str, Any]:
    """A conflict as scripts read it: both sides are candidates with all their fields."""
    return {
        "id": view.id,
        "slot": view.slot,
        "resolution": view.resolution and str(view.resolution),
        "left": view.left.to_json(),
        "right": view.right.to_json(),
    }


def _both(view: ConflictView) -> tuple[CandidateView, CandidateView]:
    return view.left, view.right


def _standing(view: ConflictView) -> str:
    return f"settled: {view.resolution}" if view.resolution else "waits"
