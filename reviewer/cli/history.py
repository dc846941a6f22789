"""`reviewer undo|redo|history|verify`: the ledger of acts."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click
from msgspec.structs import asdict

from reviewer.cli.inputs import ID, flag, limit_option, option
from reviewer.cli.output import count, emit, json_option, moment, narrate
from reviewer.cli.session import FAILED, Session, Verb, VerbGroup, leave, pass_session
from reviewer.promotion.decisions.history import ChangeView


@click.command(cls=Verb, example="undo 14")
@click.argument("act", type=ID, required=False, metavar="[ACT]")
@flag("--anyone", "Even if ACT is another person's decision.")
@pass_session
def undo(session: Session, act: int | None, anyone: bool) -> None:
    """Undoing an ingestion by its number removes its candidates. Connecting an agent is not a
    decision: `reviewer disconnect` reverts it.
    """
    if anyone and act is None:
        raise click.UsageError("--anyone needs the number of the act: see reviewer history")
    with session.changing() as engine:
        if act is None:
            undone = engine.history.undo()
        else:
            undone = engine.history.undo_act(act, anyone=anyone)
        narrate(f"Undone: {undone.title} (act {undone.target}) - reviewer redo brings it back")


@click.command(cls=Verb)
@pass_session
def redo(session: Session) -> None:
    with session.changing() as engine:
        redone = engine.history.redo()
        narrate(f"Done again: {redone.title} - reviewer undo takes it back")


@click.group(cls=VerbGroup, invoke_without_command=True)
@limit_option(says="Only the latest N acts.")
@option("--by NAME", "Only the acts of this person or agent.")
@json_option("One JSON object per line, oldest first.")
@click.pass_context
@pass_session
def history(
    session: Session, ctx: click.Context, limit: int | None, by: str | None, as_json: bool
) -> None:
    """Times are local; --json has them in UTC."""
    if ctx.invoked_subcommand is not None:
        return
    none = "There are no acts yet. Ingest something: reviewer ingest PATH"
    with session.listing() as engine:
        acts = engine.history.acts(limit=limit, actor=by)
        emit(
            reversed(acts) if as_json else acts,
            as_json,
            lambda act: (
                str(act.id),
                moment(act.at),
                act.actor,
                "undone" if act.undone else "",
                act.title,
            ),
            right=[0],
            empty=none if by is None else f"There are no acts of {by} here.",
        )


@history.command("show")
@click.argument("act", type=ID, metavar="ACT")
@limit_option(500, "At most N rows.")
@json_option("One JSON object per line, a row each.")
@pass_session
def show(session: Session, act: int, limit: int, as_json: bool) -> None:
    """Show what one act changed: every row, before and after."""
    with session.reading() as engine:
        emit(
            engine.history.changes(act, limit=limit),
            as_json,
            lines=_shown,
        )


def _shown(change: ChangeView) -> Iterator[str]:
    yield f"{change.table} {change.row}  {change.label}"
    before, after = change.before or {}, change.after or {}
    if not before or not after:
        yield f"    {'added' if after else 'removed'}"
        return
    for column in after:
        if before.get(column) != after[column]:
            yield f"    {column}: {before.get(column)} -> {after[column]}"


def head_hash(_: click.Context, __: click.Parameter, value: str) -> str:
    """A SHA-256 in hex, or enough of its beginning."""
    if value and not re.fullmatch(r"[0-9a-fA-F]{12,64}", value):
        raise click.BadParameter("give a hash that `reviewer verify` printed, at least 12 digits.")
    return value.lower()


@click.command(cls=Verb)
@option(
    "--head HASH",
    "A head printed by an earlier `verify`; it must still be in the chain.",
    default="",
    callback=head_hash,
)
@json_option("The result as one JSON object.")
@pass_session
def verify(session: Session, head: str, as_json: bool) -> None:
    """The head is the hash of the latest act and covers all acts. The chain has no key: to detect a
    ledger that was rewritten as a whole, keep a head elsewhere and pass it with --head.
    """
    with session.whole_store() as engine:
        verdict = engine.history.verify(expected=head)

    def shown(_: object) -> Iterator[str]:
        yield from verdict.problems
        if verdict.head:
            yield f"Head: {verdict.head}"
        if verdict.since is not None:
            yield f"{count(verdict.since, 'act')} since the given head."
        agree = "agree" if verdict.ok else "DO NOT agree"
        acts = count(verdict.acts, "act")
        yield f"{count(verdict.rows, 'row')} {agree} with the ledger of {acts}."

    row = {"ok": verdict.ok, **asdict(verdict), "acts_since_head": verdict.since}
    emit([row], as_json, lines=shown)
    if not verdict.ok:
        leave(FAILED)
