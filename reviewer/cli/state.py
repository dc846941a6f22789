"""`reviewer state list|show|set|unset`: trusted state, which only a person writes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from reviewer.cli.candidate import why
from reviewer.cli.output import (
    emit,
    fields,
    json_option,
    moment,
    narrate,
    print_json,
    print_text,
    report_act,
    safe,
    wrapped,
)
from reviewer.cli.session import Session, Verb, pass_session

if TYPE_CHECKING:
    from reviewer.engine import Engine
    from reviewer.promotion.trusted_state import StateView

SET = "reviewer ingest PATH, or reviewer state set KEY VALUE"


@click.group()
def state() -> None:
    """List, show, set and unset trusted state.

    Trusted state is typed by you: no command copies a candidate, a memory or an entity into it.
    """


@state.command("list", cls=Verb)
@click.option("--all", "past", is_flag=True, help="Superseded and unset values too.")
@json_option()
@pass_session
def list_state(session: Session, past: bool, as_json: bool) -> None:
    """List the current values by key."""
    with session.listing(filled_by=SET) as engine:
        project = engine.project
        found = engine.state.all(project, past=past)
        several = project is None and len({each.project for each in found}) > 1

        def columns(each: StateView) -> list[str]:
            project = [each.project] if several else []
            return [*project, each.key, *([_status(each)] if past else []), each.value]

        emit(found, as_json, columns)
        if not found and not as_json:
            narrate("No state is set. Set it: reviewer state set KEY VALUE")


@state.command("show", cls=Verb)
@click.argument("key")
@click.option("--all", "past", is_flag=True, help="Earlier values too, newest first.")
@json_option("One JSON object per value.")
@pass_session
def show(session: Session, key: str, past: bool, as_json: bool) -> None:
    """Show the value of a key, its note and its evidence."""
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


@state.command("set", cls=Verb, example='state set paper "80 mm" --evidence docs/printer.md:12')
@click.argument("key")
@click.argument("value")
@click.option("--note", default="", metavar="T", help="A remark, such as the reason.")
@click.option("--evidence", default="", metavar="FILE:LINE", help="The line that confirms it.")
@pass_session
def set_state(session: Session, key: str, value: str, note: str, evidence: str) -> None:
    """Set the value of a key.

    The earlier value becomes superseded and stays readable: `reviewer state list --all`.
    """
    with session.changing(create=True) as engine:
        done = engine.state.set(session.target(engine), key, value, note=note, evidence=evidence)
        if done.act:
            report_act(done)
        else:
            narrate(f"{safe(done.title)}.")


@state.command("unset", cls=Verb)
@click.argument("key")
@pass_session
def unset(session: Session, key: str) -> None:
    """Unset a key; its values stay readable."""
    with session.changing(filled_by=SET) as engine:
        report_act(engine.state.unset(session.target(engine), key.strip()))


def _status(each: StateView) -> str:
    if each.ended_at is None:
        return "current"
    verb = "unset" if each.superseded_by is None else "superseded"
    return f"{verb} {moment(each.ended_at)[:10]}"


def _as_json(engine: Engine, each: StateView) -> dict[str, Any]:
    return {**fields(each), "provenance": engine.provenance.of_state(each)}


def _shown(engine: Engine, each: StateView) -> Iterator[str]:
    yield f"{safe(each.key)}  {_status(each)}  project {safe(each.project)}"
    yield from wrapped(each.value, "  ")
    yield f"set         {moment(each.set_at)}"
    if each.note:
        yield "note"
        yield from wrapped(each.note, "  ")
    yield from why(engine.provenance.of_state(each))
