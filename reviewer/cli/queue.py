"""`reviewer queue list|show|more`: the candidates that wait for a decision."""

from __future__ import annotations

import click

from reviewer.cli.candidate import show_candidate, show_candidate_json
from reviewer.cli.inputs import ID, limit_option
from reviewer.cli.output import (
    json_option,
    narrate,
    print_json,
    print_table,
    print_text,
    report_intake,
)
from reviewer.cli.session import Session, Verb, pass_session
from reviewer.text import signs

STATUSES = (
    "waiting", "candidate", "deferred", "active", "invalid", "superseded", "graduated", "all",
)  # fmt: skip
SCREEN_WORDS = {"promoted": "active", "rejected": "invalid", "merged": "superseded"}
"""The screen's word for a status, and the store's."""
SORTS = ("rank", "confidence", "newest", "source", "sessions")
KINDS = ("memory", "entity", "conflict")
BATCH = 200
"""Rows read from the store at a time, so that the first lines come at once."""


@click.group()
def queue() -> None:
    """List, show and extend the queue of candidates."""


@queue.command(
    "list",
    cls=Verb,
    ends_unread=True,
    example='queue list --filter "type:decision conf>0.6" --limit 20',
)
@click.option(
    "--status",
    type=click.Choice((*STATUSES, *SCREEN_WORDS)),
    default="waiting",
    metavar="STATUS",
    help="waiting (default), deferred, promoted, rejected, merged, graduated or all.",
)
@click.option(
    "--filter",
    "filter_text",
    default="",
    metavar="Q",
    help='Words, "a phrase", -word, type:x, rule:x, path:x, status:x, flag:x, proposer:x, '
    "actor:x, is:statement, is:excerpt, conf>0.5, seen>2.",
)
@click.option("--kind", type=click.Choice(KINDS), help="Only memories, entities or conflicts.")
@click.option(
    "--sort",
    type=click.Choice(SORTS),
    default="rank",
    show_default=True,
    help="Order.",
)
@limit_option()
@json_option()
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
    """List the candidates, best first.

    Signs: ✓ promoted, ✗ rejected, ⏸ deferred, → merged, ▲ graduated, ✎ reworded, ≈ with near
    duplicates, ! conflict or outdated, ⌁ suspicious text, ? proof that leaves something open,
    ✐ written by hand, ★ favoured by a policy. `reviewer queue show ID` says what is behind them; a
    policy never promotes anything by itself.
    """
    from reviewer.promotion.filters import field_without_value
    from reviewer.promotion.views import QueueQuery, Sort

    if field := field_without_value(filter_text):
        raise click.UsageError(f"{field}: in --filter has no value")
    with session.listing() as engine:
        everything = status == "waiting" and not filter_text and kind is None
        query = QueueQuery(
            project=engine.project,
            status=SCREEN_WORDS.get(status, status),
            filter=f"{f'kind:{kind} ' if kind else ''}{filter_text}".strip(),
            sort=Sort(sort),
        )
        ids = engine.ids(query, limit=limit)
        for start in range(0, len(ids), BATCH):
            batch = ids[start : start + BATCH]
            hints = engine.insight.hints(batch)
            stale = engine.sources.stale(batch)
            if as_json:
                for memory in batch:
                    row = engine.queue.candidate(memory).to_json()
                    print_json({**row, "stale": memory in stale, "hints": hints.get(memory, [])})
                continue
            rows = [
                (
                    str(row.id),
                    mark(
                        row.status,
                        row.deferred,
                        row.edited,
                        (*row.flags, signs.STALE) if row.id in stale else row.flags,
                        row.id in hints,
                    ),
                    f"{row.confidence:.2f}".removeprefix("0"),
                    row.type,
                    f"{signs.NEAR}{row.members + 1}" if row.members else "",
                    row.content,
                )
                for row in engine.queue.rows(batch)
            ]
            print_table(rows, right=frozenset({0}))
        if as_json:
            return
        if ids:
            total = engine.queue.count(query)
            if total > len(ids) and engine.queue.wants_stale(query) is None:
                narrate(f"{len(ids):,} of {total:,}")
        elif everything:
            narrate("The queue is empty. Ingest something: reviewer ingest PATH")
        else:
            narrate("Nothing matches. To list everything: reviewer queue list --status all")


def mark(
    status: str, deferred: bool, edited: bool, flags: tuple[str, ...], hinted: bool = False
) -> str:
    """The signs of a row: decision, edit, flags, policy hint."""
    decided = signs.STATUS_SIGNS.get(status, signs.DEFERRED if deferred else "·")
    reworded = signs.EDITED if edited else ""
    return decided + reworded + signs.flag_signs(flags) + (signs.HINT if hinted else "")


@queue.command("show", cls=Verb)
@click.argument("ids", type=ID, nargs=-1, required=True, metavar="ID...")
@json_option()
@pass_session
def show(session: Session, ids: tuple[int, ...], as_json: bool) -> None:
    """Show a candidate with its evidence, near duplicates and earlier wordings."""
    with session.reading() as engine:
        for place, memory in enumerate(ids):
            if as_json:
                print_json(show_candidate_json(engine, memory))
                engine.was_looked_at(memory)
                continue
            if place:
                print_text("")
            for line in show_candidate(engine, memory):
                print_text(line)
            engine.was_looked_at(memory)


@queue.command("more", cls=Verb)
@limit_option(50, "How many to add.")
@pass_session
def more(session: Session, limit: int) -> None:
    """Queue the next best candidates of those that the limit of a wave left out."""
    with session.changing() as engine:
        report_intake(engine.intake.more(project=engine.project, limit=limit))
