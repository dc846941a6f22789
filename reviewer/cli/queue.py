"""`reviewer queue list|show|more`: what waits for a decision, and why each one is there."""

from __future__ import annotations

import click

from reviewer.cli.candidate import show_candidate, show_candidate_json
from reviewer.cli.ids import MEMORY_ID
from reviewer.cli.output import narrate, print_json, print_text, safe, table
from reviewer.cli.session import Session, Verb, pass_session
from reviewer.cli.triage import tell_intake

STATUSES = ("waiting", "candidate", "deferred", "active", "invalid", "superseded", "all")
SORTS = ("rank", "confidence", "newest", "source")
BATCH = 200
"""Rows read from the store at a time, so that the first lines come at once."""


@click.group()
def queue() -> None:
    """List, show and extend the queue of candidates."""


@queue.command("list", cls=Verb)
@click.option(
    "--status",
    type=click.Choice(STATUSES),
    default="waiting",
    show_default=True,
    help="Which ones.",
)
@click.option(
    "--filter",
    "filter_text",
    default="",
    metavar="Q",
    help='Words, "a phrase", -word, type:x, rule:x, path:x, flag:x, conf>0.5, seen>2.',
)
@click.option(
    "--sort", type=click.Choice(SORTS), default="rank", show_default=True, help="What comes first."
)
@click.option("--limit", type=click.IntRange(1), metavar="N", help="How many at most.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@pass_session
def list_queue(
    session: Session, status: str, filter_text: str, sort: str, limit: int | None, as_json: bool
) -> None:
    """The candidates, best first."""
    from reviewer.engine import QueueQuery, Sort

    with session.engine() as engine:
        query = QueueQuery(
            project=session.project_to_read(engine),
            status=status,
            filter=filter_text,
            sort=Sort(sort),
        )
        ids = engine.queue.ids(query, limit=limit)
        for start in range(0, len(ids), BATCH):
            batch = ids[start : start + BATCH]
            if as_json:
                for memory in batch:
                    print_json(engine.queue.candidate(memory).to_json())
                continue
            rows = [
                (
                    str(row.id),
                    mark(row.status, row.deferred, row.edited, row.flags),
                    f"{row.confidence:.2f}".removeprefix("0"),
                    row.type,
                    f"≈{row.members}" if row.members else "",
                    safe(row.content),
                )
                for row in engine.queue.rows(batch)
            ]
            for line in table(rows, right=frozenset({0})):
                print_text(line)
        if as_json:
            return
        if ids:
            _tell_what_is_left(len(ids), engine.queue.count(query))
        elif filter_text or status != "waiting":
            narrate("Nothing matches. All there is: reviewer queue list --status all")
        else:
            narrate("Nothing waits. Ingest something: reviewer ingest PATH")


def mark(status: str, deferred: bool, edited: bool, flags: tuple[str, ...]) -> str:
    """The glyphs of a row: what was decided, edited, flagged."""
    decided = {"active": "✓", "invalid": "✗", "superseded": "≈", "graduated": "▲"}
    glyphs = decided.get(status, "⏸" if deferred else "·")
    return glyphs + ("✎" if edited else "") + ("⌁" if flags else "")


def _tell_what_is_left(shown: int, total: int) -> None:
    if total > shown:
        narrate(f"{shown} of {total:,}")


@queue.command("show", cls=Verb)
@click.argument("ids", type=MEMORY_ID, nargs=-1, required=True, metavar="ID...")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@pass_session
def show(session: Session, ids: tuple[int, ...], as_json: bool) -> None:
    """A candidate with its evidence, its near duplicates and its earlier wordings."""
    with session.engine() as engine:
        for place, memory in enumerate(ids):
            if as_json:
                print_json(show_candidate_json(engine, memory))
                continue
            if place:
                print_text("")
            for line in show_candidate(engine, memory):
                print_text(line)


@queue.command("more", cls=Verb)
@click.option(
    "--limit",
    type=click.IntRange(1),
    default=50,
    metavar="N",
    show_default=True,
    help="How many to add.",
)
@pass_session
def more(session: Session, limit: int) -> None:
    """Queue the best of what the cap kept out."""
    with session.engine() as engine:
        tell_intake(engine.intake.more(project=session.project_to_read(engine), limit=limit))
