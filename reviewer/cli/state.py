"""`reviewer state list|show|set|unset`: trusted state, written by a person only."""

from __future__ import annotations

from collections.abc import Iterator

import click
from msgspec.structs import asdict

from reviewer.cli.candidate import why
from reviewer.cli.inputs import flag, option
from reviewer.cli.output import emit, json_option, moment, report_act, wrapped
from reviewer.cli.session import Session, VerbSection, pass_session
from reviewer.engine import Engine
from reviewer.promotion.decisions.trusted_state import StateView

SET = "reviewer ingest PATH, or reviewer state set KEY VALUE"


@click.group(cls=VerbSection)
def state() -> None:
    """Trusted state is typed by you: no command copies a candidate, a memory or an entity into
    it.
    """


@state.command("list")
@flag("--all", "Superseded and unset values too.", into="past")
@json_option()
@pass_session
def list_state(session: Session, past: bool, as_json: bool) -> None:
    """List the current values by key."""
    with session.listing(filled_by=SET) as engine:
        found = engine.state.all(engine.project, past=past)
        several = engine.project is None and len({each.project for each in found}) > 1
        emit(
            found,
            as_json,
            lambda each: (
                *([each.project] if several else []),
                each.key,
                *([_status(each)] if past else []),
                each.value,
            ),
            empty="No state is set. Set it: reviewer state set KEY VALUE",
        )


@state.command("show")
@click.argument("key")
@flag("--all", "Earlier values too, newest first.", into="past")
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
        emit(
            values,
            as_json,
            lines=lambda each: _shown(engine, each),
            to_json=lambda each: {**asdict(each), "provenance": engine.provenance.of_state(each)},
            apart=True,
        )


@state.command("set", example='state set paper "80 mm" --evidence docs/printer.md:12')
@click.argument("key")
@click.argument("value")
@option("--note T", "A remark, such as the reason.", default="")
@option("--evidence FILE:LINE", "The line that confirms it.", default="")
@pass_session
def set_state(session: Session, key: str, value: str, note: str, evidence: str) -> None:
    """Set the value of a key.

    The earlier value becomes superseded and stays readable: `reviewer state list --all`.
    """
    with session.changing(create=True) as engine:
        report_act(
            engine.state.set(session.target(engine), key, value, note=note, evidence=evidence)
        )


@state.command("unset")
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


def _shown(engine: Engine, each: StateView) -> Iterator[str]:
    yield f"{each.key}  {_status(each)}  project {each.project}"
    yield from wrapped(each.value, "  ")
    yield f"set         {moment(each.set_at)}"
    if each.note:
        yield "note"
        yield from wrapped(each.note, "  ")
    yield from why(engine.provenance.of_state(each))
