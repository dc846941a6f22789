"""`reviewer queue list|show|more`: the candidates waiting for a decision."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import click

from reviewer.cli.candidate import show_candidate, show_candidate_json
from reviewer.cli.findings import HOW_TO_PROPOSE, there_are
from reviewer.cli.inputs import ID, limit_option, option
from reviewer.cli.output import emit, json_option, narrate, print_json, print_table, report_act
from reviewer.cli.session import Session, VerbSection, pass_session
from reviewer.engine import Engine
from reviewer.promotion.lists.filters import field_without_value
from reviewer.promotion.lists.queue import STATUSES
from reviewer.promotion.views import QueueQuery, QueueRow
from reviewer.text import signs

SCREEN_WORDS = {"promoted": "active", "rejected": "invalid", "merged": "superseded"}
"""The screen's word for a status -> the store's."""
BATCH = 200
"""Rows read from the store at a time, so that the first lines appear at once."""


@click.group(cls=VerbSection)
def queue() -> None:
    pass


@queue.command("list", example='queue list --filter "kind:decision conf>0.6" --limit 20')
@option(
    "--status STATUS",
    "waiting (default), deferred, promoted, rejected, merged, graduated or all.",
    type=click.Choice((*STATUSES, *SCREEN_WORDS)),
    default="waiting",
)
@option(
    "--filter Q",
    'Words, "a phrase", -word, kind:x, type:x, rule:x, path:x, status:x, flag:x, by:me, '
    "proposer:x, actor:x, is:deferred, is:edited, is:unused, is:retired, is:disputed, conf>0.5, "
    "seen>2. A kind is a decision, trap ..., or memory, entity or conflict.",
    into="filter_text",
    default="",
)
@limit_option()
@json_option()
@pass_session
def list_queue(
    session: Session, status: str, filter_text: str, limit: int | None, as_json: bool
) -> None:
    """List the candidates, best first.

    Signs: ✓ promoted, ✗ rejected, ⏸ deferred, → merged, ▲ graduated, ✎ reworded, ≈ with near
    duplicates, ! conflict or outdated, ⌁ suspicious text, ? incomplete proof, ✐ written by hand,
    ★ from what you wrote, or said often. `reviewer queue show ID` explains them; none promotes
    anything by itself.
    """
    if field := field_without_value(filter_text):
        raise click.UsageError(f"{field}: in --filter has no value")
    if filter_text.count('"') % 2:
        raise click.UsageError('a phrase in --filter has no closing "')
    with session.listing() as engine:
        query = QueueQuery(
            project=engine.project,
            status=SCREEN_WORDS.get(status, status),
            filter=filter_text,
        )
        ids = engine.queue.ids(query, limit=limit)
        for start in range(0, len(ids), BATCH):
            _print_batch(engine, ids[start : start + BATCH], as_json)
        if as_json:
            return
        if ids:
            total = engine.queue.count(query)
            if total > len(ids):
                narrate(f"{len(ids):,} of {total:,}")
        elif filter_text or status not in ("waiting", "all"):
            narrate("Nothing matches. To list everything: reviewer queue list --status all")
        elif aside := engine.queue.counts(engine.project).deferred:
            narrate(f"Nothing waits. {aside:,} deferred: reviewer queue list --status deferred")
        elif found := engine.findings(engine.project):
            narrate("The queue is empty.", there_are(found), HOW_TO_PROPOSE)
        else:
            narrate("The queue is empty. Ingest something: reviewer ingest PATH")


def _print_batch(engine: Engine, ids: Sequence[int], as_json: bool) -> None:
    hints = engine.insight.hints(ids)
    stale = engine.sources.stale(ids)
    if as_json:
        for memory in ids:
            row = engine.queue.candidate(memory).to_json()
            print_json({**row, "stale": memory in stale, "hints": hints.get(memory, [])})
        return
    rows = [
        (
            str(row.id),
            _mark(row, is_stale=row.id in stale) + (signs.HINT if row.id in hints else ""),
            f"{row.confidence:.2f}".removeprefix("0"),
            row.type,
            f"{signs.NEAR}{row.members + 1}" if row.members else "",
            row.content,
        )
        for row in engine.queue.rows(ids)
    ]
    print_table(rows, right=[0])


def _mark(row: QueueRow, *, is_stale: bool) -> str:
    """The signs of a row: decision, edit, flags."""
    decided = signs.STATUS_SIGNS.get(row.status, signs.DEFERRED if row.deferred else "·")
    flags = (*row.flags, signs.STALE) if is_stale else row.flags
    return decided + (signs.EDITED if row.edited else "") + signs.flag_signs(flags)


@queue.command("show")
@click.argument("ids", type=ID, nargs=-1, required=True, metavar="ID...")
@json_option()
@pass_session
def show(session: Session, ids: tuple[int, ...], as_json: bool) -> None:
    """Show a candidate with its evidence, near duplicates and earlier wordings."""
    with session.reading() as engine:
        emit(
            ids,
            as_json,
            lines=partial(show_candidate, engine),
            to_json=partial(show_candidate_json, engine),
            apart=True,
        )


@queue.command("more")
@limit_option(50, "How many to add.")
@pass_session
def more(session: Session, limit: int) -> None:
    """Queue the next best candidates beyond the limit of a wave."""
    with session.changing() as engine:
        done = engine.intake.more(project=engine.project, limit=limit)
        report_act(done, undo=f"reviewer undo {done.act}")
