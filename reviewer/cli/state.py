"""`reviewer state list|show|set|unset`: trusted state, which only a person writes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from reviewer.cli.output import moment, narrate, print_json, print_text, safe, table, wrapped
from reviewer.cli.session import Session, Verb, pass_session
from reviewer.cli.triage import tell

if TYPE_CHECKING:
    from reviewer.engine import Engine, StateView

SET = "reviewer ingest PATH, or reviewer state set KEY VALUE"


@click.group()
def state() -> None:
    """List, show, set and unset trusted state.

    No command takes a candidate, a memory or an entity and writes it here: a value is typed.
    """


@state.command("list", cls=Verb)
@click.option("--all", "past", is_flag=True, help="Values that were superseded or unset too.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@pass_session
def list_state(session: Session, past: bool, as_json: bool) -> None:
    """What holds, by key."""
    with session.listing(filled_by=SET) as engine:
        project = engine.project
        found = engine.state.all(project, past=past)
        if as_json:
            for each in found:
                print_json(each.to_json())
            return
        several = project is None and len({each.project for each in found}) > 1
        rows = [
            (
                *((safe(each.project),) if several else ()),
                safe(each.key),
                *((_standing(each),) if past else ()),
                safe(each.value),
            )
            for each in found
        ]
        for line in table(rows):
            print_text(line)
        if not found:
            narrate("No state is set. Type it: reviewer state set KEY VALUE")


@state.command("show", cls=Verb)
@click.argument("key")
@click.option("--all", "past", is_flag=True, help="Every value that ever held, newest first.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a value.")
@pass_session
def show(session: Session, key: str, past: bool, as_json: bool) -> None:
    """The value of a key, its note, and the line it can be looked up in."""
    with session.reading(filled_by=SET) as engine:
        projects = engine.state.having(key.strip()) if session.all_projects else []
        values = [
            value
            for project in projects or [session.target(engine)]
            for value in engine.state.get(project, key.strip())[: None if past else 1]
        ]
        for place, each in enumerate(values):
            if as_json:
                print_json(_as_json(engine, each))
                continue
            if place:
                print_text("")
            for line in _shown(engine, each):
                print_text(line)


@state.command("set", cls=Verb)
@click.argument("key")
@click.argument("value")
@click.option("--note", default="", metavar="T", help="Why it is so.")
@click.option("--evidence", default="", metavar="FILE:LINE", help="Where it can be looked up.")
@pass_session
def set_state(session: Session, key: str, value: str, note: str, evidence: str) -> None:
    """Write a value by hand.

    The earlier value is superseded and stays readable: `reviewer state list --all`.
    """
    with session.changing(create=True) as engine:
        done = engine.state.set(session.target(engine), key, value, note=note, evidence=evidence)
        if done.act:
            tell(done)
        else:
            narrate(f"{safe(done.title)}.")


@state.command("unset", cls=Verb)
@click.argument("key")
@pass_session
def unset(session: Session, key: str) -> None:
    """End a key; its values stay readable."""
    with session.changing(filled_by=SET) as engine:
        tell(engine.state.unset(session.target(engine), key.strip()))


def _standing(each: StateView) -> str:
    if each.ended_at is None:
        return "holds"
    verb = "unset" if each.superseded_by is None else "superseded"
    return f"{verb} {moment(each.ended_at)[:10]}"


def _as_json(engine: Engine, each: StateView) -> dict[str, Any]:
    from reviewer.cli.why import step_json

    steps = engine.provenance.of_state(each)
    return {**each.to_json(), "provenance": [step_json(step) for step in steps]}


def _shown(engine: Engine, each: StateView) -> Iterator[str]:
    from reviewer.cli.why import why

    yield f"{safe(each.key)}  {_standing(each)}  project {safe(each.project)}"
    yield from wrapped(each.value, "  ")
    yield f"set         {moment(each.set_at)}"
    if each.note:
        yield "note"
        yield from wrapped(each.note, "  ")
    yield from why(engine.provenance.of_state(each))
