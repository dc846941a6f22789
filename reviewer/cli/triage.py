"""Decisions: `promote|reject|defer|restore|retire|merge|edit|supersede`, and the entities made
from memories: `graduate`. Each call is one act, undone as one.
"""

from __future__ import annotations

import click

from reviewer.cli.inputs import ID, flag, option, read_text
from reviewer.cli.output import narrate, report_act
from reviewer.cli.session import Session, Verb, pass_session
from reviewer.promotion.views import RejectReason
from reviewer.recall.moments import doubts, read_moment

alone = flag("--alone", "Leave near duplicates in the queue.")
ids = click.argument("ids", type=ID, nargs=-1, required=True, metavar="ID...")
one = click.argument("memory", type=ID, metavar="ID")


@click.command(cls=Verb)
@ids
@alone
@pass_session
def promote(session: Session, ids: tuple[int, ...], alone: bool) -> None:
    """Near duplicates of a candidate are merged into it."""
    with session.changing() as engine:
        report_act(engine.triage.promote(ids, alone=ids if alone else ()))


@click.command(cls=Verb)
@ids
@alone
@option(
    "--reason",
    "Why: it narrates one task, the agent knows it, it is wrong, or it is too narrow.",
    choices=[each.value for each in RejectReason],
)
@pass_session
def reject(session: Session, ids: tuple[int, ...], alone: bool, reason: str | None) -> None:
    """Near duplicates of a candidate are rejected with it."""
    with session.changing() as engine:
        why = RejectReason(reason) if reason else None
        report_act(engine.triage.reject(ids, alone=ids if alone else (), reason=why))


@click.command(cls=Verb)
@ids
@pass_session
def defer(session: Session, ids: tuple[int, ...]) -> None:
    with session.changing() as engine:
        report_act(engine.triage.defer(ids))


@click.command(cls=Verb)
@ids
@option("--because TEXT", "The error in a memory; it is shown in the queue.")
@pass_session
def restore(session: Session, ids: tuple[int, ...], because: str | None) -> None:
    """No agent gets a memory from then on, until you promote it again."""
    with session.changing() as engine:
        if because is None:
            report_act(engine.triage.restore(ids))
            return
        for number in ids:
            report_act(engine.triage.dispute(number, because))


@click.command(cls=Verb)
@ids
@pass_session
def retire(session: Session, ids: tuple[int, ...]) -> None:
    """No agent gets a memory from then on, and it is not proposed again."""
    with session.changing() as engine:
        report_act(engine.triage.retire(ids))


@click.command(cls=Verb, example="merge 12 --into 7")
@one
@option("--into ID", "The one to keep.", type=ID, required=True)
@pass_session
def merge(session: Session, memory: int, into: int) -> None:
    """The first one becomes superseded and keeps its evidence. Only a candidate is merged; a memory
    is replaced with `reviewer supersede`.
    """
    with session.changing() as engine:
        report_act(engine.triage.merge([memory], into))


@click.command(cls=Verb, example="edit 7 --type decision --promote")
@one
@option("--content-file FILE", "A file with the new wording; - is standard input.")
@option("--type TYPE", "Another type: preference, decision, ...", into="type_")
@option("--name N", "Another name of an entity.")
@option(
    "--when MOMENT",
    "When it is recalled from now on, several separated by semicolons: 'command git push', 'path"
    " src/pay/' (named in a prompt), 'edit src/pay/' (beside its first edit), 'error nilerr', 'tool"
    " WebFetch' (as it fails), 'words night shift' (of a prompt or failure), pinned (first in"
    " packets), always (there, at no other moment), 'no packet' or only (in none), 'no prompt'"
    " (with none);"
    " 'stop the first git push' or 'guard git push' to deny the first such call of a"
    " session with it;"
    " 'derived' for the moments of its wording and evidence,"
    " alone or beside others.",
    into="moments",
    many=True,
)
@flag("--promote", "Promote it.")
@pass_session
def edit(
    session: Session,
    memory: int,
    content_file: str | None,
    type_: str | None,
    name: str | None,
    moments: tuple[str, ...],
    promote: bool,
) -> None:
    """Wording, type, name and --promote are one act; --when is one of its own, undone by itself.
    `reviewer queue show` still shows an earlier wording. Types are those of `reviewer remember`:
    `project` is the memory, `entity:project` the entity. A candidate that gets the type of an
    entity becomes one.
    """
    worded = content_file is not None or type_ is not None or name is not None
    if not worded and not moments:
        raise click.UsageError("name what to change: --content-file, --type, --name or --when")
    rejects = "To reject a candidate: reviewer reject ID"
    content = None if content_file is None else read_text(content_file, if_empty=rejects)
    moments = tuple(each.strip() for texts in moments for each in texts.split(";") if each.strip())
    with session.changing() as engine:
        if moments:
            roots = engine.recall.roots(memory)
            written = chosen = [read_moment(each, roots) for each in moments if each != "derived"]
            if chosen and "derived" in moments:
                chosen = [*engine.recall.moments(memory, derived=True), *chosen]
            report_act(engine.recall.set_moments(memory, chosen))
            narrate(*(f"{doubt}." for doubt in doubts(written, roots)))
        if worded or promote:
            report_act(engine.triage.edit(memory, content, type_=type_, name=name, promote=promote))


@click.command(cls=Verb, example="supersede 7 --by 12")
@one
@option("--by ID", "The one that is valid now.", type=ID, required=True)
@pass_session
def supersede(session: Session, memory: int, by: int) -> None:
    """The newer one becomes active if it is still a candidate; the older one stays readable."""
    with session.changing() as engine:
        report_act(engine.triage.supersede(memory, by))


@click.command(cls=Verb, example="graduate 7 --as decision")
@one
@option("--as TYPE", "decision, parameter, ...", into="type_", required=True)
@option("--name N", "The entity's name (default: its text).")
@pass_session
def graduate(session: Session, memory: int, type_: str, name: str | None) -> None:
    """The new candidate has the words and the evidence of the memory, which is frozen and points to
    it: agents no longer get it until you promote the candidate. Undo removes the candidate and
    makes the memory active again. Types: project, system, subsystem, component, interface,
    requirement, constraint, decision, material, parameter, analysis_model, result,
    validation_claim, vendor, process.
    """
    with session.changing() as engine:
        done = engine.entities.graduate(memory, type_, name=name)
        report_act(done)
        narrate(f"Agents no longer get #{memory} until you promote #{done.ids[0]}.")
