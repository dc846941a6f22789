"""`reviewer queue list|show|more`: what waits for a decision, and why each one is there."""

from __future__ import annotations

import click

from reviewer.cli.candidate import show_candidate, show_candidate_json
from reviewer.cli.ids import MEMORY_ID
from reviewer.cli.known import hints_json
from reviewer.cli.output import narrate, print_json, print_text, safe, table
from reviewer.cli.session import Session, Verb, pass_session
from reviewer.cli.triage import tell_intake
from reviewer.text import signs

STATUSES = (
    "waiting", "candidate", "deferred", "active", "invalid", "superseded", "graduated", "all",
)  # fmt: skip
SCREEN_WORDS = {"promoted": "active", "rejected": "invalid", "merged": "superseded"}
"""What the screen calls a status, and what the store does."""
SORTS = ("rank", "confidence", "newest", "source", "learned")
KINDS = ("memory", "entity", "conflict")
BATCH = 200
"""Rows read from the store at a time, so that the first lines come at once."""


@click.group()
def queue() -> None:
    """List, show and extend the queue of candidates."""


@queue.command("list", cls=Verb)
@click.option(
    "--status",
    type=click.Choice((*STATUSES, *SCREEN_WORDS)),
    default="waiting",
    show_default=True,
    help="Which ones, in the store's words or the screen's: promoted is active, rejected invalid, "
    "merged superseded.",
)
@click.option(
    "--filter",
    "filter_text",
    default="",
    metavar="Q",
    help='Words, "a phrase", -word, type:x, rule:x, path:x, status:x, flag:x, conf>0.5, seen>2.',
)
@click.option("--kind", type=click.Choice(KINDS), help="Only memories, entities or conflicts.")
@click.option(
    "--sort",
    type=click.Choice(SORTS),
    default="rank",
    show_default=True,
    help="What comes first; learned: what you are likely to promote, from 30 decisions on.",
)
@click.option("--limit", type=click.IntRange(1), metavar="N", help="How many at most.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@pass_session
def list_queue(
    session: Session,
    status: str,
    filter_text: str,
    kind: str | None,
    sort: str,
    limit: int | None,
    as_json: bool,
) -> None:
    """The candidates, best first.

    Signs: ✓ promoted, ✗ rejected, ⏸ deferred, → merged, ▲ graduated, ✎ reworded, ≈ near
    duplicates behind it, ! conflict or outdated, ⌁ suspicious text, ✐ written by hand, ★ a policy
    speaks for it (`reviewer queue show ID` says which; a policy never promotes anything).
    """
    from reviewer.engine import QueueQuery, Sort

    with session.listing() as engine:
        query = QueueQuery(
            project=engine.project,
            status=SCREEN_WORDS.get(status, status),
            filter=f"kind:{kind} {filter_text}" if kind else filter_text,
            sort=Sort(sort),
        )
        ids = engine.ids(query, limit=limit)
        if sort == "learned" and engine.insight.preference() is None:
            narrate("Too few decisions to learn from (30, 5 of each kind); ordered by rank.")
        for start in range(0, len(ids), BATCH):
            batch = ids[start : start + BATCH]
            hints = hints_json(engine, batch)
            if as_json:
                for memory in batch:
                    row = engine.queue.candidate(memory).to_json()
                    print_json({**row, "hints": hints.get(memory, [])})
                continue
            rows = [
                (
                    str(row.id),
                    mark(row.status, row.deferred, row.edited, row.flags, row.id in hints),
                    f"{row.confidence:.2f}".removeprefix("0"),
                    safe(row.type),
                    f"{signs.NEAR}{row.members + 1}" if row.members else "",
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
        elif filter_text or kind or status != "waiting":
            narrate("Nothing matches. All there is: reviewer queue list --status all")
        else:
            narrate("Nothing waits. Ingest something: reviewer ingest PATH")


def mark(
    status: str, deferred: bool, edited: bool, flags: tuple[str, ...], hinted: bool = False
) -> str:
    """The signs of a row: what was decided, edited, flagged, and whether a policy speaks."""
    decided = signs.STATUS_SIGNS.get(status, signs.DEFERRED if deferred else "·")
    reworded = signs.EDITED if edited else ""
    return decided + reworded + signs.flag_signs(flags) + (signs.HINT if hinted else "")


def _tell_what_is_left(shown: int, total: int) -> None:
    if total > shown:
        narrate(f"{shown} of {total:,}")


@queue.command("show", cls=Verb)
@click.argument("ids", type=MEMORY_ID, nargs=-1, required=True, metavar="ID...")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@pass_session
def show(session: Session, ids: tuple[int, ...], as_json: bool) -> None:
    """A candidate with its evidence, its near duplicates and its earlier wordings."""
    with session.reading() as engine:
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
    with session.changing() as engine:
        tell_intake(engine.intake.more(project=engine.project, limit=limit))
