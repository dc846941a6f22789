"""`reviewer forget`: erases memories, or a whole project, for good."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from reviewer.agents.connections import Connections
from reviewer.agents.wiring import FileKind
from reviewer.cli.inputs import ID, flag
from reviewer.cli.output import count, narrate, print_text
from reviewer.cli.session import (
    FAILED,
    Session,
    Verb,
    leave,
    pass_session,
    update_agents,
)
from reviewer.engine import Engine
from reviewer.errors import SourceError
from reviewer.promotion.decisions.forgetting import Erasure
from reviewer.promotion.export.file_writer import read_file

SHOWN = 10
UNFINISHED = (
    "Another program is reading the store, so erased bytes are still in its log. Close it: the "
    "next command of reviewer removes them."
)


@click.command(cls=Verb, example="forget 412 413")
@click.argument("ids", type=ID, nargs=-1, metavar="[ID]...")
@flag("--yes", "Do not ask: this cannot be undone.")
@pass_session
def forget(session: Session, ids: Sequence[int], yes: bool) -> None:
    """Nothing is left in tables, history, search indexes, reports, drafts, cached answers and
    prepared packets. Rows merged into a memory go with it; without IDs, --project NAME erases a
    whole project. It asks first, because undo cannot bring anything back, and names copies that it
    cannot reach. `reviewer verify` still succeeds afterwards.
    """
    session.refuse_all_projects()
    with session.whole_store() as engine:
        if not ids and session.project is None:
            raise click.UsageError("give IDs, or --project NAME for a whole project")
        if ids:
            session.choose_to_read(engine)
            erasure = engine.forgetting.memories(ids)
        else:
            erasure = engine.forgetting.project(session.project or "")
        _print_erasure(erasure, session.project or "")
        if not yes:
            if not sys.stdin.isatty():
                raise click.UsageError("this cannot be undone; without a terminal, add --yes")
            if not click.confirm("Erase it for good?", err=True):
                narrate("Nothing was erased.")
                return
        engine.forgetting.erase(erasure)
        update_agents(engine)
        done = engine.forgetting.clean_up(erasure)
        narrate(*_blocks(engine, erasure), *engine.forgetting.out_of_reach(erasure))
        narrate("Erased for good." if done else UNFINISHED)
        if not done:
            leave(FAILED)


def _blocks(engine: Engine, erasure: Erasure) -> Iterator[str]:
    """A sentence for each block in an instruction file that still has a forgotten wording."""
    needles = [each.encode() for each in erasure.wipe.passages]
    for connection in Connections(engine.path.absolute(), clock=engine.clock).all():
        for each in connection.files:
            try:
                data = read_file(Path(each.path)) if each.kind is FileKind.BLOCK else None
            except SourceError as problem:
                yield str(problem)
                continue
            if data and any(needle in data for needle in needles):
                yield (
                    f"Still there: the block in {each.path}. To write it again: reviewer disconnect"
                    f" {connection.agent} --project, then connect it with --block."
                )


def _print_erasure(erasure: Erasure, project: str) -> None:
    if erasure.wipe.project:
        print_text(
            f"Project {project} with "
            f"{count(len(erasure.memories), 'candidate or memory', 'candidates and memories')}"
            ", its sources, contexts, runs and state, and all cached answers of models"
        )
        return
    for number, content in erasure.memories[:SHOWN]:
        print_text(f"#{number}  {content}")
    if len(erasure.memories) > SHOWN:
        print_text(f"... and {len(erasure.memories) - SHOWN:,} more")
